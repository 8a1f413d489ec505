/** Adapts a node's indices to the target: the data type, negative indices, and indices out of range. */

import { TensorError } from "../../core/errors.ts";
import { quote } from "../model/graph.ts";
import { readConstant } from "../model/model.ts";
import type { Scope } from "../model/values.ts";
import { roleOf, type OperatorVersion } from "../../core/operators/operator.ts";
import { typesIn } from "../../core/operators/signature.ts";
import {
  allocate,
  integerRange,
  isDType,
  isUnsigned,
  type DType,
} from "../../core/tensor/dtype.ts";
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

/** An index data type that every operator version accepts. */
const INDEX_TYPE: DType = "int64";

/** Changes to a node's indices that a stricter target version requires. */
interface Change {
  readonly dtype: DType;
  /** True if the target rejects the data type of the indices. */
  readonly needsCast: boolean;
  /** True if the target rejects negative indices. */
  readonly noNegative: boolean;
  /** True if the target rejects indices out of range for which the node's version returns zeros. */
  readonly noOutside: boolean;
}

/**
 * Returns the name of indices with which the target version gives the node's result: the original indices, a new
 * constant, or the output of a cast. Throws `unsupported-model` if no such indices exist, or if the indices are
 * unknown; `dtype` if they are not integers.
 */
export function adaptIndices(
  row: OperatorVersion,
  meaning: Meaning,
  context: GraphContext,
): string | undefined {
  const { indices: name } = meaning.inputs;
  if (name === undefined) return undefined;
  checkType(name, meaning.version, context.scope);
  const change = changeOf(name, row, meaning, context.scope);
  const isLess = change.noNegative || change.noOutside;
  const source = context.scope.constantOf(name);
  if (row.domain !== meaning.version.domain && source !== null && source.dtype !== null)
    checkRange(readConstant(source), meaning, context.scope);
  if (!change.needsCast && !isLess) return name;
  if (source !== null && source.dtype !== null) {
    return adaptConstant(name, readConstant(source), change, row, meaning, context);
  }
  if (!isLess) return context.additions.cast(name, INDEX_TYPE);
  throw refuseUnknown(name, change, row, meaning, context);
}

/**
 * Checks that the indices are integers, because text and fractions would silently be read as integers. Every integer
 * type is accepted, because the conversion is exact.
 */
function checkType(name: string, version: OperatorVersion, scope: Scope): void {
  const types = indexTypes(version);
  const dtype = scope.typeOf(name)?.dtype;
  if (dtype === undefined || types.includes(dtype)) return;
  if (isDType(dtype) && integerRange(dtype) !== null) return;
  const sentence = `indices must be one of ${types.join(", ")}, got ${dtype}`;
  throw new TensorError("dtype", sentence, {
    op: version.name,
    opset: version.sinceVersion,
    input: "indices",
  });
}

/**
 * Checks constant indices before a translation, because the other format may accept a bad index: OpenVINO's Gather
 * returns zeros for an index out of range. Throws `index-out-of-range` for a node that is invalid in its own version.
 */
function checkRange(indices: Tensor, meaning: Meaning, scope: Scope): void {
  const { version, settings, inputs } = meaning;
  const { dims } = dimsOf(meaning, scope);
  if (version.outOfRange !== undefined || dims === null) return;
  const read = reader(indices.dtype, indices.data);
  const isSlice = hasAxis(version);
  const k = isSlice ? 1 : (indices.shape.at(-1) ?? 1);
  for (let position = 0; position < indices.size; position++) {
    const dim = dims[position % k] ?? null;
    const index = read(position) as number | bigint;
    if (typeof dim !== "number" || (index >= -dim && index < dim)) continue;
    const at = coordinatesOf(position, indices.shape);
    const got = Number.isSafeInteger(Number(index)) ? Number(index) : index;
    const data = scope.typeOf(inputs.data ?? "")?.shape ?? null;
    const { axis, batchDims } = settings;
    const counted = (axis ?? 0) < 0 ? (axis ?? 0) + (data?.length ?? 0) : (axis ?? 0);
    const where = isSlice ? counted : batchDims + (position % k);
    const range = dim === 0 ? "has no elements" : `takes ${0 - dim} to ${dim - 1}`;
    const sentence = `indices${printShape(at)} is ${got}, but axis ${where} of ${quote(inputs.data ?? "")} ${range}`;
    const fields = { op: version.name, opset: version.sinceVersion, input: "indices", axis: where };
    throw new TensorError("index-out-of-range", sentence, {
      ...{ ...fields, at, got, size: dim, expected: [0 - dim, dim - 1] },
    });
  }
}

function changeOf(name: string, row: OperatorVersion, { version }: Meaning, scope: Scope): Change {
  const known = scope.typeOf(name)?.dtype;
  const types = known === undefined ? indexTypes(version) : [known];
  const areUnsigned = types.every((dtype) => isDType(dtype) && isUnsigned(dtype));
  const isTaken = types.every((dtype) => indexTypes(row).includes(dtype));
  return {
    dtype: isTaken && known !== undefined && isDType(known) ? known : INDEX_TYPE,
    needsCast: !isTaken,
    noNegative: version.negativeIndices && !takesNegative(row, version) && !areUnsigned,
    noOutside:
      version.outOfRange !== undefined &&
      version.promisesRange !== true &&
      version.outOfRange !== row.outOfRange,
  };
}

const takesNegative = (row: OperatorVersion, version: OperatorVersion): boolean =>
  row.negativeIndices && (row.promisesRange !== true || version.promisesRange === true);

/** Returns the name of constant indices in the target's form, or the old name if no index changes. */
function adaptConstant(
  name: string,
  before: Tensor,
  change: Change,
  row: OperatorVersion,
  meaning: Meaning,
  { scope, additions }: GraphContext,
): string {
  const { noNegative, noOutside } = change;
  const { dims, isCertain } = dimsOf(meaning, scope);
  const after = rewrite(before, change, dims, name, row);
  if (!isCertain && (noOutside || (noNegative && hasNegative(before)))) {
    const use = noOutside
      ? "are in range according to this shape"
      : "were counted from the front according to this shape";
    const reason = onlyDeclared("shape", meaning.inputs.data ?? "", `${quote(name)} ${use}`);
    meaning.trusted.add(reason);
  }
  if (after === before) return name;
  const suffix = noNegative ? "nonnegative" : INDEX_TYPE;
  return additions.constant(name, suffix, () => after, [change, dims]);
}

/** Returns the error for indices that must be constant but are computed. */
function refuseUnknown(
  name: string,
  { noNegative, noOutside }: Change,
  row: OperatorVersion,
  meaning: Meaning,
  { target }: GraphContext,
): TensorError {
  const { version } = meaning;
  const needs = noNegative
    ? "does not accept negative indices"
    : `rejects indices out of range, for which ${versionTitle(version)} returns zeros`;
  const isAble = (other: OperatorVersion): boolean =>
    (!noNegative || takesNegative(other, version)) &&
    (!noOutside || other.outOfRange === version.outOfRange);
  const advice = adviceFor(meaning, target, isAble);
  return refusal(
    `${versionTitle(row)} ${needs}, and the values of ${quote(name)} are unknown because it is not a constant${advice}`,
  );
}

function indexTypes(version: OperatorVersion): readonly string[] {
  const schema = version.inputs.find((input) => roleOf(input) === "indices");
  return typesIn(version, schema?.type ?? "");
}

/**
 * Returns the size of the axis that each tuple component addresses; null if the size is unknown. `isCertain` is false
 * if a size is only declared.
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

function rewrite(
  indices: Tensor,
  change: Change,
  dims: readonly Dim[] | null,
  name: string,
  row: OperatorVersion,
): Tensor {
  const { dtype } = change;
  const { shape, size, data } = indices;
  const read = reader(indices.dtype, data);
  const storage = allocate(dtype, size);
  const write = writer(dtype, storage);
  const isLong = dtype === "int64" || dtype === "uint64";
  const k = dims !== null && dims.length > 1 ? shape[shape.length - 1] : 1;
  let isSame = dtype === indices.dtype;
  for (let position = 0; position < size; position++) {
    const index = BigInt(read(position) as number | bigint);
    const fail = (what: string): never => {
      const at = printShape(coordinatesOf(position, shape));
      throw refusal(`${quote(name)}${at} is ${index}, ${what}`);
    };
    const taken = takenIndex(index, dims?.[position % k], change, row, fail);
    if (!write(position, isLong ? taken : Number(taken))) fail(`which ${dtype} cannot hold`);
    if (taken !== index) isSame = false;
  }
  return isSame ? indices : new Tensor(dtype, shape, size, storage);
}

/** Counts an index from the front if the target rejects negative indices. */
function takenIndex(
  index: bigint,
  dim: Dim | undefined,
  { noNegative, noOutside }: Change,
  row: OperatorVersion,
  fail: (what: string) => never,
): bigint {
  const countsFromEnd = noNegative && index < 0n;
  if (!countsFromEnd && !noOutside) return index;
  if (typeof dim !== "number")
    return fail("and the size of its axis is unknown; declare the shape of data");
  if (index < BigInt(-dim) || index >= BigInt(dim))
    return fail(`which is out of range and which ${versionTitle(row)} rejects`);
  return countsFromEnd ? index + BigInt(dim) : index;
}
