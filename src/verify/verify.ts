/** Compares what the user's runtime makes of a model's scatters and gathers with the exact results. */

import { run } from "../call/run.ts";
import { diagnose } from "../diagnose/diagnose.ts";
import type { Diagnosis } from "../diagnose/diagnosis.ts";
import { isTensorError, printValue, sentenceOf, TensorError } from "../errors.ts";
import type { Model } from "../model/model.ts";
import type { NodeCall } from "../model/run-model.ts";
import { resolve } from "../operators/registry.ts";
import { objectOf } from "../tensor/options.ts";
import { readModel } from "../onnx/read-model.ts";
import { equals, type Tensor } from "../tensor/tensor.ts";
import {
  captureCalls,
  feedsFrom,
  type CapturedCall,
  type CaptureOptions,
  type Feeds,
} from "./capture.ts";
import { compare } from "./compare.ts";
import { createSessionFrom, openSession, RuntimeFailure, type CreateSession } from "./session.ts";
import { isWorse, type Verdict } from "./verdicts.ts";

export interface VerifyOptions extends CaptureOptions {
  /** How often the model runs in each runtime, to see whether the runtime agrees with itself; once by default. */
  readonly runs?: number;
  /** Makers of other sessions, such as with more threads, by what they are called. Their results must be the same bits. */
  readonly others?: Readonly<Record<string, CreateSession>>;
  /** How far apart two floats may be, as a part of the larger one; 0 by default. */
  readonly tolerance?: number;
  /** Is told of each node after it was compared. */
  readonly onProgress?: (progress: VerifyProgress) => void;
}

export interface VerifyProgress {
  /** Which run of `runs` it is, from 1; those of other sessions count on. */
  readonly run: number;
  readonly runs: number;
  /** How many nodes of this run were compared. */
  readonly nodes: number;
}

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
  /** What may be the reason, best first, as {@link diagnose} has it; empty where nothing known explains the result. */
  readonly diagnoses: readonly Diagnosis[];
  /** The node with its inputs, as `explain` takes them; null for a node that is equal, and where they are not known. */
  readonly call: NodeCall | null;
  /** False where the runtime made another result of the same inputs in another run. */
  readonly isReproducible: boolean;
  /** The runs that did, such as `run 2` or `8 threads, run 1`. */
  readonly otherRuns: readonly string[];
}

export interface VerifyReport {
  readonly nodes: readonly VerifiedNode[];
  /**
   * What the runtime says of the model as a whole, where it cannot run it although every node that was looked at is
   * right, such as in a later iteration; null where it runs.
   */
  readonly problem: string | null;
  /** Whether the model runs, and all nodes that ran are equal or near, and reproducible. */
  readonly agrees: boolean;
}

/**
 * Runs an ONNX model in the user's runtime and compares each scatter and gather, on its real inputs, with the exact
 * result. Later runs are held against the first: where a node has the same inputs it must have the same result, and
 * where an earlier node that is not reproducible gave it others, its result is compared with the exact one again.
 *
 * @param bytes, feeds as {@link captureCalls} takes them
 * @throws TensorError as {@link captureCalls}, and `attribute` for runs that are no whole number from 1 to 10,000, and for a
 * negative tolerance
 */
export async function verifyModel(
  bytes: Uint8Array,
  feeds: Feeds,
  options: VerifyOptions,
): Promise<VerifyReport> {
  const { own, makers, runs, tolerance, report } = optionsFrom(options);
  const model = readModel(bytes);
  const given = feedsFrom(model, feeds);
  const nodes: VerifiedNode[] = [];
  const first: CapturedCall[] = [];
  for (const [nth, { name, createSession }] of makers.entries()) {
    let at = 0;
    // Runs must not overlap: each is to have the machine for itself.
    // oxlint-disable-next-line no-await-in-loop
    for await (const captured of captureCalls(bytes, Object.fromEntries(given), {
      ...own,
      createSession,
    })) {
      if (nth === 0) {
        first.push(captured);
        nodes.push(verified(captured, tolerance));
      } else {
        nodes[at] = again(nodes[at], first[at], captured, name, tolerance);
      }
      at++;
      report({ run: nth + 1, runs, nodes: at });
    }
  }
  const isRight = nodes.every((node) => node.isReproducible && isFine(node));
  const problem = isRight ? await problemOf(bytes, model, given, makers[0].createSession) : null;
  return { nodes, problem, agrees: isRight && problem === null };
}

const isFine = ({ verdict }: VerifiedNode): boolean =>
  verdict === "equal" || verdict === "near" || verdict === "not-run";

/**
 * What the runtime says where it cannot run the whole model, although the nodes that were looked at are right: of a loop
 * that is one iteration, of a function one call. A model without bodies and functions has run as a whole by then.
 */
async function problemOf(
  bytes: Uint8Array,
  { graph, functions = [] }: Model,
  feeds: ReadonlyMap<string, Tensor>,
  createSession: CreateSession,
): Promise<string | null> {
  const hasBodies = graph.nodes.some(({ attributes }) =>
    Object.values(attributes).some((one) => one.type === "other" && one.graphs !== undefined),
  );
  if (functions.length === 0 && !hasBodies) return null;
  try {
    const session = await openSession(createSession, bytes);
    await session.run(feeds, []);
    await session.release();
    return null;
  } catch (error) {
    if (error instanceof RuntimeFailure) return error.message;
    throw error;
  }
}

interface Run {
  readonly name: string;
  readonly createSession: CreateSession;
}

/** A run takes at least some milliseconds. */
const MOST_RUNS = 10_000;

/** The runs in order, and the options as they were checked. */
function optionsFrom(options: VerifyOptions): {
  readonly own: Partial<CaptureOptions>;
  readonly makers: readonly Run[];
  readonly runs: number;
  readonly tolerance: number;
  readonly report: (progress: VerifyProgress) => void;
} {
  const own = objectOf("the options of verifyModel", options, {});
  const { runs = 1, tolerance = 0, others = {}, onProgress = () => {} } = own;
  if (!Number.isSafeInteger(runs) || Number(runs) < 1 || Number(runs) > MOST_RUNS) {
    const must = `runs must be a whole number from 1 to ${MOST_RUNS}`;
    throw new TensorError("attribute", `${must}, got ${printValue(runs)}`);
  }
  if (typeof tolerance !== "number" || !(tolerance >= 0))
    throw new TensorError("attribute", `tolerance must be 0 or more, got ${printValue(tolerance)}`);
  if (typeof onProgress !== "function")
    throw new TensorError(
      "attribute",
      `onProgress must be a function, got ${printValue(onProgress)}`,
    );
  const runtimes = [
    ["", createSessionFrom(own)] as const,
    ...Object.entries(objectOf("others", others, {})).map(
      ([name, createSession]) => [`${name}, `, createSessionFrom({ createSession })] as const,
    ),
  ];
  const makers = runtimes.flatMap(([name, createSession]) =>
    Array.from({ length: Number(runs) }, (_, at) => ({
      name: `${name}run ${at + 1}`,
      createSession,
    })),
  );
  const report = onProgress as (progress: VerifyProgress) => void;
  return { own, makers, runs: makers.length, tolerance, report };
}

/** A node after one more run. Other inputs than in the first run are an earlier node's fault. */
function again(
  known: VerifiedNode,
  first: CapturedCall,
  captured: CapturedCall,
  run: string,
  tolerance: number,
): VerifiedNode {
  const { isReproducible, otherRuns } = known;
  const isSameInput = captured.isRun === first.isRun && isSame(captured.inputs, first.inputs);
  const isSameResult =
    captured.outputs === null || first.outputs === null
      ? captured.problem === first.problem
      : isSame(captured.outputs, first.outputs);
  if (isSameInput && isSameResult) return known;
  const now = verified(captured, tolerance);
  const worst = isWorse(now.verdict, known.verdict) ? now : known;
  return isSameInput
    ? { ...worst, isReproducible: false, otherRuns: [...otherRuns, run] }
    : { ...worst, isReproducible, otherRuns };
}

/** Whether two records have the same names with the same bits. */
function isSame(a: Readonly<Record<string, Tensor>>, b: Readonly<Record<string, Tensor>>): boolean {
  const names = Object.keys(a);
  return (
    names.length === Object.keys(b).length &&
    names.every((name) => Object.hasOwn(b, name) && equals(a[name], b[name]))
  );
}

function verified(
  { node, path, call, error, outputs, isRun, problem }: CapturedCall,
  tolerance: number,
): VerifiedNode {
  const { op } = node;
  const none = { difference: null, diagnoses: [], call: null, isReproducible: true, otherRuns: [] };
  const common = { path, op, version: null, ...none };
  if (!isRun) return { ...common, verdict: "not-run", sentence: problem ?? "" };
  const said = problem === null ? "the runtime has a result" : `the runtime says: ${problem}`;
  if (error !== null)
    return { ...common, verdict: "wrong", sentence: `${sentenceOf(error)}; ${said}` };
  if (call === null) {
    const sentence = `its inputs are not known, because the runtime says: ${problem}`;
    return { ...common, verdict: "failed", sentence };
  }
  const known = { ...common, version: resolve(call.node).sinceVersion, call };
  let exact: readonly Tensor[];
  try {
    exact = run(call.node, call.inputs);
  } catch (error) {
    if (!isTensorError(error)) throw error;
    // Only where an index is out of range can a result be explained.
    const result = error.code === "index-out-of-range" ? outputs?.[node.outputs[0]] : undefined;
    const diagnoses = result === undefined ? [] : diagnosesOf(call, result);
    return { ...known, verdict: "wrong", sentence: `${sentenceOf(error)}; ${said}`, diagnoses };
  }
  if (outputs === null) {
    return { ...known, verdict: "failed", sentence: `the runtime says: ${problem}` };
  }
  return compared(node.outputs, outputs, exact, { ...known, tolerance });
}

/** The verdict on the outputs of a node: that of the worst. */
function compared(
  names: readonly string[],
  outputs: Readonly<Record<string, Tensor>>,
  exact: readonly Tensor[],
  { tolerance, ...known }: Omit<VerifiedNode, "verdict" | "sentence"> & { tolerance: number },
): VerifiedNode {
  let worst: VerifiedNode = { ...known, call: null, verdict: "equal", sentence: "" };
  for (const [position, name] of names.entries()) {
    if (name === "") continue;
    const { verdict, at, sentence } = compare(outputs[name], exact[position], tolerance);
    if (!isWorse(verdict, worst.verdict)) continue;
    const difference = at && { output: name, at };
    const diagnoses =
      known.call === null || verdict === "near" ? [] : diagnosesOf(known.call, outputs[name]);
    worst = { ...known, verdict, sentence: `${name}${sentence}`, difference, diagnoses };
  }
  return worst;
}

/** What explains a result; nothing does where it has another type or shape than the exact one. */
function diagnosesOf({ node, inputs }: NodeCall, result: Tensor): readonly Diagnosis[] {
  try {
    return diagnose(node, inputs, result);
  } catch (error) {
    if (isTensorError(error)) return [];
    throw error;
  }
}
