/** Adapts a node's indices to the target: the data type, negative indices, and indices out of range. */

import { TensorError } from "../../core/errors.ts";
import { quote } from "../model/graph.ts";
import { readConstant } from "../model/model.ts";
import type { OperatorVersion } from "../../core/operators/operator.ts";
import { signatureOf, typesIn } from "../../core/operators/signature.ts";
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
import type { Scope } from "../model/values.ts";
import type { GraphContext } from "./context.ts";
import {
  adviceFor,
  certainShape,
  constantAt,
  hasAxis,
  onlyDeclared,
  refusal,
  versionTitle,
  type Meaning,
} from "./meaning.ts";

/** An index data type that every operator version accepts. */
const INDEX_TYPE: DType = "int64";

/** The form of indices that a target version accepts. */
interface Wanted {
  readonly name: string;
  readonly row: OperatorVersion;
  readonly dtype: DType;
  /** True if the target rejects negative indices. */
  readonly noNegative: boolean;
  /** True if the target rejects indices out of range for which the node's version returns zeros. */
  readonly noOutside: boolean;
}

/**
 * Returns the name of indices with which the target version gives the node's result: the original indices, a new
 * constant, or the output of a cast. Throws `unsupported-model` if no such indices exist, or if the indices are
 * unknown; `dtype` if they are not integers; `index-out-of-range` for constant indices that are invalid in the node's
 * own version.
 */
export function adaptIndices(
  row: OperatorVersion,
  meaning: Meaning,
  context: GraphContext,
): string | undefined {
  const { inputs, version } = meaning;
  const { scope, additions } = context;
  const { indices: name } = inputs;
  if (name === undefined) return undefined;
  const known = scope.typeOf(name)?.dtype;
  checkType(known, version);
  const types = known === undefined ? indexTypes(version) : [known];
  const areUnsigned = types.every((dtype) => isDType(dtype) && isUnsigned(dtype));
  const needsCast = !types.every((dtype) => indexTypes(row).includes(dtype));
  const dtype = needsCast || known === undefined ? INDEX_TYPE : known;
  const noNegative = version.negativeIndices && !areUnsigned && !takesNegative(row, version);
  const promisesRange = version.outOfRange === undefined || version.promisesRange === true;
  const noOutside = !promisesRange && version.outOfRange !== row.outOfRange;
  const given = constantAt(name, scope);
  if (row.domain !== version.domain && given !== null)
    checkRange(readConstant(given), meaning, scope);
  if (!needsCast && !noNegative && !noOutside) return name;
  const wanted = { name, row, dtype, noNegative, noOutside };
  if (given !== null) return adaptConstant(readConstant(given), wanted, meaning, context);
  if (noNegative || noOutside) throw unknownIndices(wanted, meaning, context);
  return additions.cast(name, INDEX_TYPE);
}

function takesNegative(row: OperatorVersion, version: OperatorVersion): boolean {
  return row.negativeIndices && (row.promisesRange !== true || version.promisesRange === true);
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
    const { data = "" } = inputs;
    const at = coordinatesOf(position, indices.shape);
    const got = Number.isSafeInteger(Number(index)) ? Number(index) : index;
    const rank = scope.typeOf(data)?.shape?.length ?? 0;
    const own = settings.axis ?? 0;
    const axis = isSlice ? (own < 0 ? own + rank : own) : settings.batchDims + (position % k);
    const range = dim === 0 ? "has no elements" : `takes ${0 - dim} to ${dim - 1}`;
    const sentence = `indices${printShape(at)} is ${got}, but axis ${axis} of ${quote(data)} ${range}`;
    const fields = { op: version.name, opset: version.sinceVersion, input: "indices", axis };
    throw new TensorError("index-out-of-range", sentence, {
      ...{ ...fields, at, got, size: dim, expected: [0 - dim, dim - 1] },
    });
  }
}

/** Returns the name of constant indices in the target's form, or the old name if no index changes. */
function adaptConstant(
  before: Tensor,
  wanted: Wanted,
  meaning: Meaning,
  { scope, additions }: GraphContext,
): string {
  const { name, dtype, noNegative, noOutside } = wanted;
  const { dims, isCertain } = dimsOf(meaning, scope);
  const after = rewritten(before, dims, wanted);
  if (!isCertain && (noOutside || (noNegative && hasNegative(before)))) {
    const use = noOutside
      ? "are in range according to this shape"
      : "were counted from the front according to this shape";
    meaning.trusted.add(onlyDeclared("shape", meaning.inputs.data ?? "", `${quote(name)} ${use}`));
  }
  if (after === before) return name;
  const suffix = noNegative ? "nonnegative" : INDEX_TYPE;
  return additions.constant(name, suffix, () => after, [dtype, noNegative, noOutside, dims]);
}

function unknownIndices(
  { name, row, noNegative, noOutside }: Wanted,
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

/**
 * Returns the size of the axis that each tuple component addresses; null if the size is unknown. `isCertain` is false
 * if a size is only declared.
 */
function dimsOf(
  { version, settings, inputs: { data = "" } }: Meaning,
  scope: Scope,
): { dims: readonly Dim[] | null; isCertain: boolean } {
  const counted = (shape: PartialShape): readonly Dim[] | null => {
    if (shape === null) return null;
    if (!hasAxis(version)) return shape.slice(settings.batchDims);
    return settings.axis === null ? null : shape.slice(settings.axis).slice(0, 1);
  };
  const certain = counted(certainShape(data, scope));
  const dims = counted(scope.typeOf(data)?.shape ?? null);
  return { dims, isCertain: dims?.every((dim, place) => dim === certain?.[place]) ?? true };
}

function rewritten(indices: Tensor, dims: readonly Dim[] | null, wanted: Wanted): Tensor {
  const { name, dtype } = wanted;
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
    const taken = takenIndex(index, dims?.[position % k], wanted, fail);
    if (!write(position, isLong ? taken : Number(taken))) fail(`which ${dtype} cannot hold`);
    if (taken !== index) isSame = false;
  }
  return isSame ? indices : new Tensor(dtype, shape, size, storage);
}

/** Counts an index from the front if the target rejects negative indices. */
function takenIndex(
  index: bigint,
  dim: Dim | undefined,
  { row, noNegative, noOutside }: Wanted,
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

/**
 * Checks that the indices are integers, because text and fractions would silently be read as integers. Every integer
 * type is accepted, because the conversion is exact.
 */
function checkType(dtype: DType | undefined, version: OperatorVersion): void {
  const types = indexTypes(version);
  if (dtype === undefined || types.includes(dtype) || integerRange(dtype) !== null) return;
  const sentence = `indices must be one of ${types.join(", ")}, got ${dtype}`;
  const { name: op, sinceVersion: opset } = version;
  throw new TensorError("dtype", sentence, { op, opset, input: "indices" });
}

function indexTypes(version: OperatorVersion): readonly string[] {
  const { [signatureOf(version).positions.indices]: schema } = version.inputs;
  return typesIn(version, schema.type);
}

const hasNegative = ({ data }: Tensor): boolean =>
  Array.from(data as Iterable<number | bigint>).some((index) => index < 0);
