/** Adapts a node's indices to the target: the data type, negative indices, and indices out of range. */

import { TensorError } from "../../core/errors.ts";
import { quote } from "../model/graph.ts";
import { readConstant } from "../model/model.ts";
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
  const { indices: name } = meaning.inputs;
  return name === undefined ? undefined : new Indices(name, row, meaning, context).adapted();
}

/** The indices of one node, and the changes that a stricter target version requires. */
class Indices {
  readonly #name: string;
  readonly #row: OperatorVersion;
  readonly #meaning: Meaning;
  readonly #context: GraphContext;
  /** The data type of the adapted indices. */
  readonly #dtype: DType;
  /** True if the target rejects the data type of the indices. */
  readonly #needsCast: boolean;
  /** True if the target rejects negative indices. */
  readonly #noNegative: boolean;
  /** True if the target rejects indices out of range for which the node's version returns zeros. */
  readonly #noOutside: boolean;

  constructor(name: string, row: OperatorVersion, meaning: Meaning, context: GraphContext) {
    this.#name = name;
    this.#row = row;
    this.#meaning = meaning;
    this.#context = context;
    const { version } = meaning;
    const known = context.scope.typeOf(name)?.dtype;
    const types = known === undefined ? indexTypes(version) : [known];
    checkType(known, version);
    const areUnsigned = types.every((dtype) => isDType(dtype) && isUnsigned(dtype));
    this.#needsCast = !types.every((dtype) => indexTypes(row).includes(dtype));
    this.#dtype = this.#needsCast || known === undefined ? INDEX_TYPE : known;
    this.#noNegative = version.negativeIndices && !this.#takesNegative(row) && !areUnsigned;
    this.#noOutside =
      version.outOfRange !== undefined &&
      version.promisesRange !== true &&
      version.outOfRange !== row.outOfRange;
  }

  adapted(): string {
    const { scope, additions } = this.#context;
    const source = scope.constantOf(this.#name);
    const given = source === null || source.dtype === null ? null : source;
    if (this.#row.domain !== this.#meaning.version.domain && given !== null)
      this.#checkRange(readConstant(given));
    const isLess = this.#noNegative || this.#noOutside;
    if (!this.#needsCast && !isLess) return this.#name;
    if (given !== null) return this.#adaptConstant(readConstant(given));
    if (!isLess) return additions.cast(this.#name, INDEX_TYPE);
    throw this.#refuseUnknown();
  }

  /**
   * Checks constant indices before a translation, because the other format may accept a bad index: OpenVINO's Gather
   * returns zeros for an index out of range. Throws `index-out-of-range` for a node that is invalid in its own version.
   */
  #checkRange(indices: Tensor): void {
    const { version, settings, inputs } = this.#meaning;
    const { dims } = this.#dims();
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
      const { batchDims } = settings;
      const rank = this.#context.scope.typeOf(data)?.shape?.length ?? 0;
      const own = settings.axis ?? 0;
      const axis = isSlice ? (own < 0 ? own + rank : own) : batchDims + (position % k);
      const range = dim === 0 ? "has no elements" : `takes ${0 - dim} to ${dim - 1}`;
      const sentence = `indices${printShape(at)} is ${got}, but axis ${axis} of ${quote(data)} ${range}`;
      const fields = { op: version.name, opset: version.sinceVersion, input: "indices", axis };
      throw new TensorError("index-out-of-range", sentence, {
        ...{ ...fields, at, got, size: dim, expected: [0 - dim, dim - 1] },
      });
    }
  }

  /** Returns the name of constant indices in the target's form, or the old name if no index changes. */
  #adaptConstant(before: Tensor): string {
    const { trusted, inputs } = this.#meaning;
    const { dims, isCertain } = this.#dims();
    const after = this.#rewrite(before, dims);
    if (!isCertain && (this.#noOutside || (this.#noNegative && hasNegative(before)))) {
      const use = this.#noOutside
        ? "are in range according to this shape"
        : "were counted from the front according to this shape";
      trusted.add(onlyDeclared("shape", inputs.data ?? "", `${quote(this.#name)} ${use}`));
    }
    if (after === before) return this.#name;
    const suffix = this.#noNegative ? "nonnegative" : INDEX_TYPE;
    const details = [this.#dtype, this.#needsCast, this.#noNegative, this.#noOutside, dims];
    return this.#context.additions.constant(this.#name, suffix, () => after, details);
  }

  /** Returns the error for indices that must be constant but are computed. */
  #refuseUnknown(): TensorError {
    const { version } = this.#meaning;
    const needs = this.#noNegative
      ? "does not accept negative indices"
      : `rejects indices out of range, for which ${versionTitle(version)} returns zeros`;
    const isAble = (other: OperatorVersion): boolean =>
      (!this.#noNegative || this.#takesNegative(other)) &&
      (!this.#noOutside || other.outOfRange === version.outOfRange);
    const advice = adviceFor(this.#meaning, this.#context.target, isAble);
    return refusal(
      `${versionTitle(this.#row)} ${needs}, and the values of ${quote(this.#name)} are unknown because it is not a constant${advice}`,
    );
  }

  #takesNegative(row: OperatorVersion): boolean {
    const promises = row.promisesRange !== true || this.#meaning.version.promisesRange === true;
    return row.negativeIndices && promises;
  }

  /**
   * Returns the size of the axis that each tuple component addresses; null if the size is unknown. `isCertain` is false
   * if a size is only declared.
   */
  #dims(): { dims: readonly Dim[] | null; isCertain: boolean } {
    const { version, settings, inputs } = this.#meaning;
    const { scope } = this.#context;
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

  #rewrite(indices: Tensor, dims: readonly Dim[] | null): Tensor {
    const dtype = this.#dtype;
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
        throw refusal(`${quote(this.#name)}${at} is ${index}, ${what}`);
      };
      const taken = this.#taken(index, dims?.[position % k], fail);
      if (!write(position, isLong ? taken : Number(taken))) fail(`which ${dtype} cannot hold`);
      if (taken !== index) isSame = false;
    }
    return isSame ? indices : new Tensor(dtype, shape, size, storage);
  }

  /** Counts an index from the front if the target rejects negative indices. */
  #taken(index: bigint, dim: Dim | undefined, fail: (what: string) => never): bigint {
    const countsFromEnd = this.#noNegative && index < 0n;
    if (!countsFromEnd && !this.#noOutside) return index;
    if (typeof dim !== "number")
      return fail("and the size of its axis is unknown; declare the shape of data");
    if (index < BigInt(-dim) || index >= BigInt(dim))
      return fail(`which is out of range and which ${versionTitle(this.#row)} rejects`);
    return countsFromEnd ? index + BigInt(dim) : index;
  }
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
  const schema = version.inputs.find((input) => roleOf(input) === "indices");
  return typesIn(version, schema?.type ?? "");
}

const hasNegative = ({ data }: Tensor): boolean =>
  Array.from(data as Iterable<number | bigint>).some((index) => index < 0);
