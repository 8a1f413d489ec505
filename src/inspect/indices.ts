/**
 * Constant indices, held against what is known of the shape of data: outside of their axis, negative where none may be,
 * repeated. It is the operator's own Plan that tells.
 */

import { isTensorError, TensorError } from "../errors.ts";
import { readIndices } from "../kernels/read-indices.ts";
import type { Bounds } from "../plan/index-job.ts";
import {
  roleOf,
  type InputShapes,
  type Operator,
  type OperatorCall,
  type PlanInputs,
  type Role,
} from "../operators/operator.ts";
import type { Plan } from "../plan/plan.ts";
import { split } from "../plan/repeats.ts";
import {
  coordinatesOf,
  isKnown,
  MAX_RANK,
  MAX_SIZE,
  printShape,
  product,
  type Dim,
  type PartialShape,
} from "../tensor/shape.ts";
import type { Tensor } from "../tensor/tensor.ts";
import { finding, findingOf, type Finding } from "./findings.ts";

/** Plans of more offsets are not made: a few indices may stand for any number of them, of 4 bytes each. */
const MAX_OFFSETS = 2 ** 24;

/** A scatter or gather whose attributes, data types and shapes were found to fit, as far as they are known. */
export interface IndexedCall extends OperatorCall {
  readonly operator: Operator;
  readonly shapes: InputShapes;
  /** Whether the reduction is what the settings say. */
  readonly isReductionKnown: boolean;
}

export const inspectIndices = (call: IndexedCall, indices: Tensor): Finding[] => [
  ...negativeFindings(call, indices),
  ...planFindings(call, indices),
];

/** What the version calls the input with a role. */
const inputName = ({ version }: OperatorCall, role: Role): string =>
  version.inputs.find((input) => roleOf(input) === role)?.name ?? role;

/** The first negative index, where the version takes none. */
function negativeFindings(call: IndexedCall, { data, shape }: Tensor): Finding[] {
  const { negativeIndices, sinceVersion } = call.version;
  if (negativeIndices) return [];
  const values = data as ArrayLike<number | bigint>;
  for (let position = 0; position < values.length; position++) {
    const index = values[position];
    if (index >= 0) continue;
    const at = coordinatesOf(position, shape);
    const got = Number.isSafeInteger(Number(index)) ? Number(index) : index;
    const input = inputName(call, "indices");
    const sentence = `${input}${printShape(at)} is ${got}, but version ${sinceVersion} takes no negative indices`;
    const code = "index-out-of-range";
    return [finding("negative-index-not-taken", sentence, { code, input, at, got })];
  }
  return [];
}

function planFindings(call: IndexedCall, indices: Tensor): Finding[] {
  const { operator, settings, shapes } = call;
  const data = standIn(call, indices);
  if (data === null || settings.axis === null) return [];
  const updates = shapes.updates?.map((dim) => (typeof dim === "number" ? dim : 0));
  const made = { data, indices, updates };
  const isScatter = operator.kind === "scatter";
  const { positions } = operator.layout(made, call);
  // Of a gather without batches, indices give one offset each.
  if ((isScatter || settings.batchDims !== 0) && product(positions) > MAX_OFFSETS) {
    return [notChecked(call, `${product(positions)} places in data are too many`)];
  }
  let plan: Plan;
  try {
    plan = planOf(call, made, "error");
  } catch (error) {
    return [outOfRange(call, error)];
  }
  if (!isScatter || !call.isReductionKnown) return [];
  if (product(data) > MAX_SIZE) {
    return [notChecked(call, "data may have more than 2^32 - 1 elements")];
  }
  return repeatFindings(call, plan, made);
}

const notChecked = (call: IndexedCall, why: string): Finding => {
  const input = inputName(call, "indices");
  return finding("indices-not-checked", `not all was looked at of the constant ${input}: ${why}`, {
    input,
  });
};

function planOf(call: IndexedCall, made: PlanInputs, bounds: Bounds): Plan {
  // Those of which the version takes none are told already.
  const rules = { negative: true, bounds, merge: false, read: readIndices };
  return call.operator.plan(made, call, rules);
}

function repeatFindings(call: IndexedCall, plan: Plan, made: PlanInputs): Finding[] {
  const { positions, indexAt } = call.operator.layout(made, call);
  const { first, later } = split(plan);
  if (later.count === 0 || later.source === undefined || first.source === undefined) return [];
  const at = indexAt(coordinatesOf(later.source[0], positions));
  const before = first.source[first.offsets.indexOf(later.offsets[0])];
  const earlier = indexAt(coordinatesOf(before, positions));
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
  const data = call.shapes.data ?? smallestShape(call, indices);
  if (data === null) return null;
  const { batchDims } = call.settings;
  const batches = batchDims < 0 ? batchDims + indices.shape.length : batchDims;
  const known = data.map((dim, axis) =>
    typeof dim !== "number" && axis < batches ? indices.shape[axis] : dim,
  );
  if (isKnown(known)) return [...known];
  const sizes = (call.shapes.updates ?? []).map((dim) => (typeof dim === "number" ? dim : 0));
  const room = 2 * largest(indices) + Math.max(1, ...indices.shape, ...sizes);
  // The first axis may be a batch, of which each sample has an index.
  const candidates = [room, indices.shape[0] ?? room].map((first) =>
    known.map((dim, axis) => (typeof dim === "number" ? dim : axis === 0 ? first : room)),
  );
  return candidates.find((shape) => fits(call, shape, indices)) ?? null;
}

/** Data of unknown rank: the least that the other shapes leave room for. What lies behind changes no target. */
function smallestShape(call: IndexedCall, indices: Tensor): PartialShape {
  for (let rank = 1; rank <= MAX_RANK; rank++) {
    const shape: Dim[] = Array.from({ length: rank }, () => null);
    if (fits(call, shape, indices)) return shape;
  }
  return null;
}

function fits(call: IndexedCall, data: PartialShape, { shape: indices }: Tensor): boolean {
  try {
    call.operator.inferShape({ data, indices, updates: null }, call);
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
  const isFilled = call.version.outOfRange === "fill";
  const id = isFilled ? "index-filled" : "index-out-of-range";
  const { code, input, at = [], axis = 0, got = 0, expected = [] } = error;
  const shape = call.shapes.data;
  const dim = shape === null ? null : shape[axis];
  if (shape === null || isKnown(shape)) return findingOf(id, error);
  const of = `axis ${axis} of ${inputName(call, "data")} ${printShape(shape)}`;
  const range = dim === 0 ? "has no elements" : `takes ${expected.join("..")}`;
  const sentence = `${input}${printShape(at)} is ${got}, but ${of} ${range}`;
  return findingOf(id, new TensorError(code, sentence, { input, at, axis, got, expected }));
}
