/** Compares what the user's runtime makes of a model's scatters and gathers with the exact results. */

import { isTensorError, printValue, TensorError } from "../errors.ts";
import { run } from "../call/run.ts";
import { resolve } from "../operators/registry.ts";
import { objectOf } from "../tensor/options.ts";
import { printScalar } from "../tensor/print.ts";
import { reader } from "../tensor/scalar.ts";
import { coordinatesOf, printShape, sameShape } from "../tensor/shape.ts";
import { equals, firstDifference, type Tensor } from "../tensor/tensor.ts";
import { captureCalls, type CapturedCall, type CaptureOptions, type Feeds } from "./capture.ts";

export interface VerifyOptions extends CaptureOptions {
  /** How often the model runs, to see whether the runtime agrees with itself; once by default. */
  readonly runs?: number;
  /** How far apart two floats may be, as a part of the larger one; 0 by default. */
  readonly tolerance?: number;
}

/**
 * How a node did. `equal`: every bit. `near`: all elements within the tolerance. `nan-or-zero`: it differs only in which
 * NaN, or in the sign of a zero, in which runtimes are known to differ. `differs`: in more. `wrong`: by the operator's own
 * document the call is an error. `failed`: the runtime has no result. `not-run`: the node does not run with these inputs.
 */
export type Verdict = "equal" | "near" | "nan-or-zero" | "differs" | "wrong" | "failed" | "not-run";

export interface VerifiedNode {
  readonly path: string;
  readonly op: string;
  /** The version of the operator, such as 18. */
  readonly version: number | null;
  readonly verdict: Verdict;
  /** What is to be said of it, in one sentence; empty for a node that is equal. */
  readonly sentence: string;
  /** The first element that differs, in the output that it is in; null where none does. */
  readonly difference: { readonly output: string; readonly at: readonly number[] } | null;
  /** False where the runtime made another result of the same inputs in another run. */
  readonly isReproducible: boolean;
}

export interface VerifyReport {
  readonly nodes: readonly VerifiedNode[];
  /** Whether all nodes that ran are equal or near, and reproducible. */
  readonly agrees: boolean;
}

/**
 * Runs an ONNX model in the user's runtime and compares each scatter and gather, on its real inputs, with the exact
 * result.
 *
 * @param bytes, feeds as {@link captureCalls} takes them
 * @throws TensorError as {@link captureCalls}, and `attribute` for runs that are no positive integer and for a negative
 * tolerance
 */
export async function verifyModel(
  bytes: Uint8Array,
  feeds: Feeds,
  options: VerifyOptions,
): Promise<VerifyReport> {
  const { runs = 1, tolerance = 0 } = objectOf("the options of verifyModel", options, {});
  if (!Number.isSafeInteger(runs) || Number(runs) < 1)
    throw new TensorError("attribute", `runs must be a positive integer, got ${printValue(runs)}`);
  if (typeof tolerance !== "number" || !(tolerance >= 0))
    throw new TensorError("attribute", `tolerance must be 0 or more, got ${printValue(tolerance)}`);
  const nodes: VerifiedNode[] = [];
  const before: CapturedCall[] = [];
  for await (const captured of captureCalls(bytes, feeds, options)) {
    before.push(captured);
    nodes.push(verified(captured, tolerance));
  }
  for (let count = 1; count < Number(runs); count++) {
    let at = 0;
    // Runs must not overlap: each is to have the machine for itself.
    // oxlint-disable-next-line no-await-in-loop
    for await (const captured of captureCalls(bytes, feeds, options)) {
      if (!isSameResult(captured, before[at])) nodes[at] = { ...nodes[at], isReproducible: false };
      at++;
    }
  }
  const agrees = nodes.every(
    ({ verdict, isReproducible }) =>
      isReproducible && (verdict === "equal" || verdict === "near" || verdict === "not-run"),
  );
  return { nodes, agrees };
}

function verified(
  { node, path, call, outputs, isRun, problem }: CapturedCall,
  tolerance: number,
): VerifiedNode {
  const { op } = node;
  const common = { path, op, difference: null, isReproducible: true };
  if (!isRun) return { ...common, version: null, verdict: "not-run", sentence: problem ?? "" };
  if (call === null) {
    const sentence = `its inputs are not known, because the runtime says: ${problem}`;
    return { ...common, version: null, verdict: "failed", sentence };
  }
  const { sinceVersion: version } = resolve(call.node);
  let exact: readonly Tensor[];
  try {
    exact = run(call.node, call.inputs);
  } catch (error) {
    if (!isTensorError(error)) throw error;
    const said = problem === null ? "the runtime has a result" : `the runtime says: ${problem}`;
    return { ...common, version, verdict: "wrong", sentence: `${error.message}; ${said}` };
  }
  if (outputs === null) {
    return { ...common, version, verdict: "failed", sentence: `the runtime says: ${problem}` };
  }
  let worst: VerifiedNode = { ...common, version, verdict: "equal", sentence: "" };
  for (const [position, name] of node.outputs.entries()) {
    if (name === "") continue;
    const { verdict, at, sentence } = compare(outputs[name], exact[position], tolerance);
    if (RANKS.indexOf(verdict) <= RANKS.indexOf(worst.verdict)) continue;
    const difference = at && { output: name, at };
    worst = { ...common, version, verdict, sentence: `${name}${sentence}`, difference };
  }
  return worst;
}

/** Whether two runs of a node had one result, or none for one reason. */
function isSameResult(a: CapturedCall, b: CapturedCall): boolean {
  if (a.outputs === null || b.outputs === null) return a.problem === b.problem;
  const { outputs } = b;
  return Object.entries(a.outputs).every(([name, value]) => equals(value, outputs[name]));
}

/** From best to worst. */
const RANKS: readonly Verdict[] = ["equal", "near", "nan-or-zero", "differs"];

interface Comparison {
  readonly verdict: "equal" | "near" | "nan-or-zero" | "differs";
  readonly at: readonly number[] | null;
  readonly sentence: string;
}

/** How a result of a runtime stands to the exact one. */
function compare(actual: Tensor, exact: Tensor, tolerance: number): Comparison {
  if (actual.dtype !== exact.dtype || !sameShape(actual.shape, exact.shape)) {
    const [is, not] = [actual, exact].map(({ dtype, shape }) => `${dtype}${printShape(shape)}`);
    return { verdict: "differs", at: null, sentence: ` is ${is}, and not ${not}` };
  }
  const first = firstDifference(actual, exact);
  if (first === null) return { verdict: "equal", at: null, sentence: "" };
  const [a, b] = [reader(actual.dtype, actual.data), reader(exact.dtype, exact.data)];
  // What differs in bits alone is another NaN.
  let [verdict, at]: [Comparison["verdict"], readonly number[]] = ["nan-or-zero", first];
  let isWorse = false;
  for (let position = 0; position < exact.size && verdict !== "differs"; position++) {
    const kind = compareElements(a(position), b(position), tolerance);
    if (kind === "equal" || (isWorse && RANKS.indexOf(kind) <= RANKS.indexOf(verdict))) continue;
    [verdict, at, isWorse] = [kind, coordinatesOf(position, exact.shape), true];
  }
  const place = offsetOf(at, exact.shape);
  const [is, not] = [a, b].map((read) => printScalar(exact.dtype, read(place)));
  return { verdict, at, sentence: `${printShape(at)} is ${is}, and not ${not}` };
}

const offsetOf = (at: readonly number[], shape: readonly number[]): number =>
  at.reduce((offset, coordinate, axis) => offset * shape[axis] + coordinate, 0);

function compareElements(a: unknown, b: unknown, tolerance: number): Comparison["verdict"] {
  if (Object.is(a, b)) return "equal";
  if (typeof a !== "number" || typeof b !== "number") return a === b ? "equal" : "differs";
  // Only the sign of a zero is another: 0 and -0.
  if (a === b) return "nan-or-zero";
  const isNear = Math.abs(a - b) <= tolerance * Math.max(Math.abs(a), Math.abs(b));
  return isNear ? "near" : "differs";
}
