/** Adapts the indices of a node to the target: their data type, negative indices, and indices out of range. */

import type { TensorError } from "../../core/errors.ts";
import { quote } from "../model/graph.ts";
import { readConstant } from "../model/model.ts";
import type { Scope } from "../model/values.ts";
import { roleOf, type OperatorVersion } from "../../core/operators/operator.ts";
import { typesIn } from "../../core/operators/signature.ts";
import { allocate, isDType, isUnsigned, type DType } from "../../core/tensor/dtype.ts";
import { reader, writer } from "../../core/tensor/scalar.ts";
import { coordinatesOf, printShape, type Dim, type PartialShape } from "../../core/tensor/shape.ts";
import { Tensor } from "../../core/tensor/tensor.ts";
import type { GraphContext } from "./context.ts";
import {
  adviceFor,
  certainShape,
  hasAxis,
  onlyDeclared,
  refusal,
  versionTitle,
  type Meaning,
} from "./meaning.ts";

/** Every version takes it. */
const INDEX_TYPE: DType = "int64";

/**
 * The name of indices with which `row` does what the node does: the node's own indices, a constant made of them, or
 * the output of a cast.
 * @throws TensorError `unsupported-model` where there are no such indices, or where they cannot be known
 */
export function adaptIndices(
  row: OperatorVersion,
  meaning: Meaning,
  { target, scope, additions }: GraphContext,
): string | undefined {
  const { version, inputs } = meaning;
  const { indices: name } = inputs;
  if (name === undefined) return undefined;
  const known = scope.typeOf(name)?.dtype;
  const types = known === undefined ? indexTypes(version) : [known];
  const isTaken = types.every((dtype) => indexTypes(row).includes(dtype));
  const rules: Rules = {
    noNegative:
      version.negativeIndices &&
      !row.negativeIndices &&
      !types.every((dtype) => isDType(dtype) && isUnsigned(dtype)),
    noOutside: version.outOfRange !== undefined && version.outOfRange !== row.outOfRange,
  };
  if (isTaken && !rules.noNegative && !rules.noOutside) return name;
  const source = scope.constantOf(name);
  if (source !== null && source.dtype !== null) {
    const { dims, isCertain } = dimsOf(meaning, scope);
    const before = readConstant(source);
    const type = isTaken ? before.dtype : INDEX_TYPE;
    const after = rewrite(before, type, dims, rules, name, row);
    if (!isCertain && (rules.noOutside || (rules.noNegative && hasNegative(before)))) {
      const use = rules.noOutside ? "are in range by it" : "were counted from the front by it";
      meaning.trusted.add(onlyDeclared("shape", inputs.data ?? "", `${quote(name)} ${use}`));
    }
    if (after === before) return name;
    const suffix = rules.noNegative ? "nonnegative" : INDEX_TYPE;
    return additions.constant(name, suffix, () => after, [type, rules, dims]);
  }
  const needs = rules.noNegative
    ? "takes no negative indices"
    : rules.noOutside
      ? `has an error for indices out of range, for which ${versionTitle(version)} gives zeros`
      : null;
  if (needs === null) return additions.cast(name, INDEX_TYPE);
  const isAble = (other: OperatorVersion): boolean =>
    (!rules.noNegative || other.negativeIndices) &&
    (!rules.noOutside || other.outOfRange === version.outOfRange);
  const advice = adviceFor(meaning, target, isAble);
  throw refusal(
    `${versionTitle(row)} ${needs}, and ${quote(name)} is no constant that could be looked at${advice}`,
  );
}

/** What the target's version forbids, although the node's allows it. */
interface Rules {
  readonly noNegative: boolean;
  readonly noOutside: boolean;
}

function indexTypes(version: OperatorVersion): readonly string[] {
  const schema = version.inputs.find((input) => roleOf(input) === "indices");
  return typesIn(version, schema?.type ?? "");
}

/**
 * The sizes of the axes that indices count along, one for each place of a tuple; null where they are not known.
 * `isCertain` is false where a size is only declared.
 */
function dimsOf(
  { version, settings, inputs }: Meaning,
  scope: Scope,
): { dims: readonly Dim[] | null; isCertain: boolean } {
  const { data: name = "" } = inputs;
  const counted = (shape: PartialShape): readonly Dim[] | null => {
    if (shape === null) return null;
    if (!hasAxis(version)) return shape.slice(settings.batchDims);
    return settings.axis === null ? null : shape.slice(settings.axis).slice(0, 1);
  };
  const certain = counted(certainShape(name, scope));
  const dims = counted(scope.typeOf(name)?.shape ?? null);
  return { dims, isCertain: dims?.every((dim, place) => dim === certain?.[place]) ?? true };
}

const hasNegative = ({ data }: Tensor): boolean =>
  Array.from(data as Iterable<number | bigint>).some((index) => index < 0);

/** The same tensor where nothing in it has to change. */
function rewrite(
  indices: Tensor,
  dtype: DType,
  dims: readonly Dim[] | null,
  { noNegative, noOutside }: Rules,
  name: string,
  row: OperatorVersion,
): Tensor {
  const { shape, size, data } = indices;
  const read = reader(indices.dtype, data);
  const storage = allocate(dtype, size);
  const write = writer(dtype, storage);
  const k = dims !== null && dims.length > 1 ? shape[shape.length - 1] : 1;
  let isSame = dtype === indices.dtype;
  for (let position = 0; position < size; position++) {
    const index = BigInt(read(position) as number | bigint);
    const dim = dims?.[position % k];
    const found = (what: string): TensorError =>
      refusal(`${quote(name)}${printShape(coordinatesOf(position, shape))} is ${index}, ${what}`);
    const isNegative = index < 0n;
    if (typeof dim !== "number" && ((noNegative && isNegative) || noOutside)) {
      throw found("and the size of its axis is not known; declare the shape of data");
    }
    const isOutside = typeof dim === "number" && (index < BigInt(-dim) || index >= BigInt(dim));
    const counted = noNegative && isNegative && !isOutside ? index + BigInt(Number(dim)) : index;
    if (((noNegative && isNegative) || noOutside) && isOutside) {
      throw found(`which is out of range, and ${versionTitle(row)} has an error for that`);
    }
    if (!write(position, dtype === "int64" || dtype === "uint64" ? counted : Number(counted))) {
      throw found(`which ${dtype} cannot hold`);
    }
    if (counted !== index) isSame = false;
  }
  return isSame ? indices : new Tensor(dtype, shape, size, storage);
}
