/**
 * Checks constant indices against the known shape of data. The checks find indices out of range, unsupported negative
 * indices, and repeated indices. The operator's own Plan runs the checks, with substitutes for unknown sizes.
 */

import { printCount } from "../../core/foreign.ts";
import { isTensorError, recovering } from "../../core/errors.ts";
import { readIndices } from "../../core/kernels/read-indices.ts";
import type { KnownCall } from "../model/family.ts";
import { readConstant, type Constant } from "../model/model.ts";
import {
  planIndices,
  roleOf,
  type InputShapes,
  type OperatorCall,
  type PlanInputs,
} from "../../core/operators/operator.ts";
import type { Plan } from "../../core/plan/plan.ts";
import { firstRepeat, split, type Repeat } from "../../core/plan/targets.ts";
import {
  coordinatesOf,
  isKnown,
  MAX_RANK,
  MAX_SIZE,
  printShape,
  product,
  type Dim,
  type PartialShape,
} from "../../core/tensor/shape.ts";
import type { Tensor } from "../../core/tensor/tensor.ts";
import { finding, findingOf, type Finding } from "./findings.ts";

/**
 * The maximum number of offsets in a Plan. An offset takes 4 bytes, and a few indices may expand to any number of
 * offsets.
 */
const MAX_OFFSETS = 2 ** 24;

/** The maximum number of indices that are read. This many int64 indices take 8 MB, and planning them takes 45 ms. */
const MAX_INDICES = 2 ** 20;

/** Returns constant indices as a tensor, or a finding that explains why the indices were not read. */
export function readIndexConstant(constant: Constant): Tensor | Finding {
  const count = product(constant.shape);
  if (count > MAX_INDICES) {
    const sentence = `the ${count} constant indices were not checked, because the limit is ${MAX_INDICES}`;
    return finding("indices-not-checked", sentence, { input: "indices" });
  }
  return recovering(() => readConstant(constant), unreadable);
}

/** Converts an error of reading a constant to a finding. */
export function unreadable(error: unknown): Finding {
  const isOutOfReach = isTensorError(error, "unsupported-model", "too-large");
  return findingOf(isOutOfReach ? "indices-not-checked" : "constant-unreadable", error);
}

/** A call whose known shapes are valid. */
export interface IndexedCall extends KnownCall {
  /** True if the settings contain the node's actual reduction. */
  readonly isReductionKnown: boolean;
}

export const inspectIndices = (call: IndexedCall, indices: Tensor): Finding[] => [
  ...negativeFindings(call, indices),
  ...planFindings(call, indices),
];

const indicesName = ({ version }: OperatorCall): string =>
  version.inputs.find((input) => roleOf(input) === "indices")?.name ?? "indices";

/** Returns a finding for the first negative index if the version rejects negative indices. */
function negativeFindings(call: IndexedCall, { data, shape }: Tensor): Finding[] {
  const { negativeIndices, sinceVersion } = call.version;
  if (negativeIndices) return [];
  const values = data as ArrayLike<number | bigint>;
  for (let position = 0; position < values.length; position++) {
    const index = values[position];
    if (index >= 0) continue;
    const at = coordinatesOf(position, shape);
    const got = Number.isSafeInteger(Number(index)) ? Number(index) : index;
    const input = indicesName(call);
    const sentence = `${input}${printShape(at)} is ${got}, but version ${sinceVersion} does not accept negative indices`;
    const code = "index-out-of-range";
    return [finding("negative-index-not-taken", sentence, { code, input, at, got })];
  }
  return [];
}

function planFindings(call: IndexedCall, indices: Tensor): Finding[] {
  const { operator, settings, shapes } = call;
  const data = standIn(call, indices);
  if (data === null) return [];
  const updates = shapes.updates?.map((dim) => (typeof dim === "number" ? dim : 0));
  const made = { data: data.shape, indices, updates };
  const isScatter = operator.kind === "scatter";
  const places = product(operator.layout(made, call).positions);
  const isCounted =
    places === product(operator.layout({ ...made, data: data.larger }, call).positions);
  // A gather without batches has one offset per index.
  if ((isScatter || settings.batchDims !== 0) && places > MAX_OFFSETS) {
    return [notChecked(call, `${isCounted ? `${places} ` : ""}offsets in data exceed the limit`)];
  }
  let plan: Plan;
  try {
    plan = planOf(call, made);
  } catch (error) {
    if (!isTensorError(error, "index-out-of-range")) throw error;
    const isFilled = call.version.outOfRange === "fill";
    return [findingOf(isFilled ? "index-filled" : "index-out-of-range", error)];
  }
  if (!isScatter || !call.isReductionKnown) return [];
  if (product(data.shape) > MAX_SIZE) {
    return [notChecked(call, "data may have more than 2^32 - 1 elements")];
  }
  const repeat = firstRepeat(plan);
  if (repeat === null) return [];
  const count = isCounted
    ? `${split(plan).later.count} of ${printCount(places, "update")}`
    : "updates";
  return [repeatFinding(call, made, repeat, count)];
}

function notChecked(call: IndexedCall, why: string): Finding {
  const input = indicesName(call);
  const sentence = `the constant ${input} was checked only in part: ${why}`;
  return finding("indices-not-checked", sentence, { input });
}

function planOf(call: IndexedCall, made: PlanInputs): Plan {
  const { data, updates } = call.shapes;
  const rules = {
    // Unsupported negative indices have their own finding.
    negative: true,
    bounds: "error",
    merge: false,
    shown: { data, updates, negative: call.version.negativeIndices },
  } as const;
  return planIndices(made, call, rules, readIndices);
}

function repeatFinding(
  call: IndexedCall,
  made: PlanInputs,
  repeat: Repeat,
  count: string,
): Finding {
  const { positions, indexAt } = call.operator.layout(made, call);
  const [at, earlier] = [repeat.position, repeat.earlier].map((position) =>
    indexAt(coordinatesOf(position, positions)),
  );
  const input = indicesName(call);
  const where = `the first is ${input}${printShape(at)}, which repeats ${input}${printShape(earlier)}`;
  const sentence = `${count} repeat the target of an earlier update; ${where}`;
  return call.settings.reduction === "none"
    ? finding("repeated-target", sentence, { code: "duplicate-index", input, at })
    : finding("repeated-target-reduced", sentence, { input, at });
}

/** A shape of data with substitutes for unknown sizes. */
interface StandIn {
  readonly shape: readonly number[];
  /** The same shape with larger substitutes. A result that differs between the two shapes is unknown. */
  readonly larger: readonly number[];
}

/**
 * Chooses substitutes for unknown sizes; null if too little is known. Unknown indexed axes get a size so large that
 * every index is in range and negative indices repeat no other target, because neither fault is certain. All other axes
 * get the smallest size that the shapes allow.
 */
function standIn(call: IndexedCall, indices: Tensor): StandIn | null {
  const { updates } = call.shapes;
  const data = call.shapes.data ?? smallestShape(call, indices.shape);
  if (data === null || call.settings.axis === null) return null;
  const known = withBatches(data, call, indices.shape);
  if (isKnown(known)) return { shape: known, larger: known };
  const longest = Math.max(1, ...indices.shape);
  const sizes = (updates ?? []).map((dim) => (typeof dim === "number" ? dim : 0));
  const room = 2 * largest(indices) + Math.max(longest, ...sizes);
  const { axes } = call.operator.layout({ data: known.map(() => room), indices }, call);
  // The first axis may be a batch axis with one index per sample.
  const [batch = 1] = indices.shape;
  const shapes = [1, longest].flatMap((least) => [least, batch].map((first) => ({ least, first })));
  for (const { least, first } of shapes) {
    const sized = (more: number): readonly number[] =>
      known.map((dim, axis) => {
        if (typeof dim === "number") return dim;
        if (axes.includes(axis)) return room + more;
        return (axis === 0 ? first : least) + more;
      });
    const shape = sized(0);
    if (fits(call, { data: shape, indices: indices.shape, updates: null })) {
      return { shape, larger: sized(1) };
    }
  }
  return null;
}

/** Copies the batch sizes from the indices to data, because the sizes must be equal. */
function withBatches(
  data: readonly Dim[],
  { settings: { batchDims } }: IndexedCall,
  indices: readonly number[],
): readonly Dim[] {
  const batches = batchDims < 0 ? batchDims + indices.length : batchDims;
  return data.map((dim, axis) => (typeof dim !== "number" && axis < batches ? indices[axis] : dim));
}

/**
 * Returns a shape for data of unknown rank. The shape has the lowest rank that the other shapes allow, because further
 * axes do not change targets.
 */
function smallestShape(call: IndexedCall, indices: readonly number[]): PartialShape {
  const { updates } = call.shapes;
  for (let rank = 1; rank <= MAX_RANK; rank++) {
    const data: readonly Dim[] = Array.from({ length: rank }, () => null);
    if (fits(call, { data, indices, updates })) return data;
  }
  return null;
}

function fits(call: IndexedCall, shapes: InputShapes): boolean {
  const infer = (): boolean => {
    call.operator.inferShape(shapes, call);
    return true;
  };
  return recovering(infer, () => false);
}

function largest({ data }: Tensor): number {
  let most = 0;
  for (const index of data as Iterable<number | bigint>) {
    most = Math.max(most, Math.abs(Number(index)));
  }
  return most;
}
