/**
 * Constant indices, held against what is known of the shape of data: outside of their axis, negative where none may be,
 * repeated. It is the operator's own Plan that tells.
 */

import { isTensorError, TensorError, type ErrorFields } from "../errors.ts";
import type { Constant } from "../model/model.ts";
import { readIndices } from "../offsets.ts";
import type { Operator, OperatorVersion, Settings } from "../operators/operator.ts";
import { split, type Plan } from "../plan.ts";
import {
  coordinatesOf,
  isKnown,
  MAX_RANK,
  MAX_SIZE,
  printShape,
  product,
  type Dim,
  type PartialShape,
} from "../shape.ts";
import type { Tensor } from "../tensor.ts";
import { finding, findingOf, type Finding } from "./findings.ts";
import { positionOf } from "./roles.ts";

/** More indices than this are not looked at; as int64 they take 8 MB. Reading and planning them takes 30 ms. */
export const MAX_INDICES = 2 ** 20;

/** A scatter or gather whose attributes, data types and shapes were found to fit, as far as they are known. */
export interface IndexedCall {
  readonly operator: Operator;
  readonly version: OperatorVersion;
  readonly settings: Settings;
  readonly fields: ErrorFields;
  /** The shapes of the version's inputs. */
  readonly shapes: readonly PartialShape[];
  /** Whether the reduction is what the settings say. */
  readonly isReductionKnown: boolean;
}

export function inspectIndices(call: IndexedCall, constant: Constant): Finding[] {
  const input = inputName(call, "indices");
  const count = product(constant.shape);
  if (count > MAX_INDICES) {
    const sentence = `the ${count} constant ${input} were not looked at: ${MAX_INDICES} are at most`;
    return [finding("indices-not-checked", sentence, { input })];
  }
  let indices: Tensor;
  try {
    indices = constant.read();
  } catch (error) {
    const isOutOfReach = isTensorError(error, "unsupported-model", "too-large");
    return [findingOf(isOutOfReach ? "indices-not-checked" : "constant-unreadable", error)];
  }
  return [...negativeFindings(call, indices), ...planFindings(call, indices)];
}

const inputName = ({ version }: IndexedCall, role: string): string =>
  version.inputs[positionOf(version, role)]?.name ?? role;

/** The first negative index, where the version takes none. */
function negativeFindings(call: IndexedCall, { data, shape }: Tensor): Finding[] {
  const { negativeIndices, sinceVersion } = call.version;
  if (negativeIndices) return [];
  const values = data as ArrayLike<number | bigint>;
  for (let position = 0; position < values.length; position++) {
    if (values[position] >= 0) continue;
    const [at, got] = [coordinatesOf(position, shape), safe(values[position])];
    const input = inputName(call, "indices");
    const sentence = `${input}${printShape(at)} is ${got}, but version ${sinceVersion} takes no negative indices`;
    const code = "index-out-of-range";
    return [finding("negative-index-not-taken", sentence, { code, input, at, got })];
  }
  return [];
}

const safe = (value: number | bigint): number | bigint =>
  Number.isSafeInteger(Number(value)) ? Number(value) : value;

function planFindings(call: IndexedCall, indices: Tensor): Finding[] {
  const shape = standIn(call, indices);
  if (shape === null) return [];
  let plan: Plan;
  try {
    plan = planOf(call, shape, indices);
  } catch (error) {
    return [outOfRange(call, error)];
  }
  if (call.operator.kind === "gather" || !call.isReductionKnown) return [];
  if (product(shape) > MAX_SIZE) {
    const input = inputName(call, "indices");
    const sentence = `whether ${input} repeat was not looked at: data may have more than 2^32 - 1 elements`;
    return [finding("indices-not-checked", sentence, { input })];
  }
  return repeatFindings(call, plan, indices);
}

function planOf(
  { operator, settings, fields }: IndexedCall,
  shape: readonly number[],
  indices: Tensor,
): Plan {
  // Those of which the version takes none are told already.
  const rules = { negative: true, merge: false, read: readIndices };
  return operator.plan(shape, indices, settings, rules, fields);
}

function repeatFindings(call: IndexedCall, plan: Plan, { shape }: Tensor): Finding[] {
  const positions = call.operator.indexing === "tuples" ? shape.slice(0, -1) : shape;
  const { first, later } = split(plan);
  if (later.count === 0 || later.source === undefined || first.source === undefined) return [];
  const at = coordinatesOf(later.source[0], positions);
  const before = first.source[first.offsets.indexOf(later.offsets[0])];
  const earlier = coordinatesOf(before, positions);
  const input = inputName(call, "indices");
  const what = `${later.count} of ${product(positions)} updates go where another one went`;
  const where = `the first is that of ${input}${printShape(at)}, after ${input}${printShape(earlier)}`;
  const sentence = `${what}; ${where}`;
  return [
    call.settings.reduction === "none"
      ? finding("repeated-target", sentence, { code: "duplicate-index", input, at })
      : finding("repeated-target-reduced", sentence, { input, at }),
  ];
}

/**
 * The shape of data with sizes where none are known: so large that no index is outside and that -1 is no other's
 * target. Null where too little is known.
 */
function standIn(call: IndexedCall, indices: Tensor): number[] | null {
  const data = call.shapes[positionOf(call.version, "data")] ?? smallestShape(call, indices);
  if (data === null) return null;
  const { batchDims } = call.settings;
  const known = data.map((dim, axis) =>
    typeof dim !== "number" && axis < batchDims ? indices.shape[axis] : dim,
  );
  if (isKnown(known)) return [...known];
  const room = 2 * largest(indices) + Math.max(1, ...indices.shape);
  const shape = known.map((dim) => (typeof dim === "number" ? dim : room));
  return fits(call, shape, indices) ? shape : null;
}

/** Data of unknown rank: where index tuples or an axis end does not depend on what comes behind. */
function smallestShape(call: IndexedCall, indices: Tensor): PartialShape {
  for (let rank = 1; rank <= MAX_RANK; rank++) {
    const shape: Dim[] = Array.from({ length: rank }, () => null);
    if (fits(call, shape, indices)) return shape;
  }
  return null;
}

function fits(call: IndexedCall, data: PartialShape, { shape }: Tensor): boolean {
  const { operator, version, settings, fields } = call;
  const shapes = version.inputs.map((_, position) =>
    position === positionOf(version, "data")
      ? data
      : position === positionOf(version, "indices")
        ? shape
        : null,
  );
  try {
    operator.inferShape(shapes, settings, fields);
    return true;
  } catch (error) {
    if (isTensorError(error)) return false;
    throw error;
  }
}

/** The largest distance of an index from 0. */
function largest({ data }: Tensor): number {
  let most = 0;
  for (const index of data as Iterable<number | bigint>) {
    most = Math.max(most, Math.abs(Number(index)));
  }
  return most;
}

/** The error of a Plan, told of the shape that is known and not of the one that stood in for it. */
function outOfRange(call: IndexedCall, error: unknown): Finding {
  if (!isTensorError(error, "index-out-of-range")) throw error;
  const { code, input, at = [], axis = 0, got = 0, expected = [] } = error;
  const shape = call.shapes[positionOf(call.version, "data")] ?? null;
  const dim = shape === null ? null : shape[axis];
  if (typeof dim !== "number" || shape === null || isKnown(shape)) {
    return findingOf("index-out-of-range", error);
  }
  const range = dim === 0 ? "has no elements" : `takes ${expected.join("..")}`;
  const of = `axis ${axis} of ${inputName(call, "data")} ${printShape(shape)}`;
  const sentence = `${input}${printShape(at)} is ${got}, but ${of} ${range}`;
  return findingOf(
    "index-out-of-range",
    new TensorError(code, sentence, { input, at, axis, got, expected }),
  );
}
