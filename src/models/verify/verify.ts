/**
 * Compares the results of a model's scatters and gathers in the user's runtime with the exact results. `capture.ts`
 * gets the nodes' real inputs and outputs, from models that `cut.ts` makes and `places.ts` runs; `judge.ts` compares,
 * `rerun.ts` tests for races, and `whole.ts` runs the whole model. The reason for a wrong result is searched once,
 * after all runs.
 */

import { wrongOption } from "../../core/errors.ts";
import { diagnoseOptions } from "../../insight/diagnose/diagnose.ts";
import type { Diagnosis } from "../../insight/diagnose/diagnosis.ts";
import type { DialectId } from "../../insight/diagnose/dialects.ts";
import type { NodeCall } from "../model/run-model.ts";
import { namesOf, objectOf, optionsOf } from "../../core/tensor/options.ts";
import { readModel } from "../onnx/read-model.ts";
import { equals, type Tensor } from "../../core/tensor/tensor.ts";
import {
  CAPTURE_OPTIONS,
  captureCalls,
  feedsFrom,
  type CapturedCall,
  type CaptureOptions,
  type Feeds,
} from "./capture.ts";
import { judge, reasonsOf, titleOf, type Judgement } from "./judge.ts";
import { isExactInOneThread, isSuspect, rerun, type Reruns, type Runtime } from "./rerun.ts";
import { createSessionFrom, type CreateSession } from "./session.ts";
import { isWorse, type Verdict } from "./verdicts.ts";
import { runWhole } from "./whole.ts";

/** Options of {@link verifyModel}. */
export interface VerifyOptions extends CaptureOptions {
  /** The number of runs of the model in each runtime, to test reproducibility; 1 by default. */
  readonly runs?: number;
  /** Makers of further sessions by name, for example with more threads. Their results must have the same bits. */
  readonly others?: Readonly<Record<string, CreateSession>>;
  /** The greatest difference of two near floats, relative to the larger one; 0 by default. */
  readonly tolerance?: number;
  /** Makes sessions with one thread, to find out if threads cause a wrong result. */
  readonly oneThread?: CreateSession;
  /** The runtime's id in `dialects()`, by default `onnxruntime-cpu`. Known faults of this runtime are listed first. */
  readonly dialect?: DialectId;
  /** Called after each compared node, and after each run of a node alone. */
  readonly onProgress?: (progress: VerifyProgress) => void;
}

export const VERIFY_OPTIONS = [
  ...CAPTURE_OPTIONS,
  .../* @__PURE__ */ namesOf<Omit<VerifyOptions, keyof CaptureOptions>>({
    runs: true,
    others: true,
    tolerance: true,
    oneThread: true,
    dialect: true,
    onProgress: true,
  }),
];

/** The progress of {@link verifyModel}. */
export interface VerifyProgress {
  /** The number of the run, from 1 to `runs`; runs of other sessions continue the count. */
  readonly run: number;
  readonly runs: number;
  /** The number of nodes compared in this run. */
  readonly nodes: number;
  /** After all runs of the model: the node that is being run alone, and its number of runs so far. Null before. */
  readonly alone: { readonly path: string; readonly count: number } | null;
}

/** A node with its verdict, its first difference, and the reasons for the difference. */
export interface VerifiedNode {
  readonly path: string;
  readonly op: string;
  /** The version of the operator, such as 18. */
  readonly version: number | null;
  readonly verdict: Verdict;
  /** A sentence about the node; empty for a node that is equal. */
  readonly sentence: string;
  /** The first element that differs, and its output; null if none differs. */
  readonly difference: { readonly output: string; readonly at: readonly number[] } | null;
  /**
   * Candidate reasons, most likely first, as {@link diagnose} returns them; empty if no known fault explains the
   * result.
   */
  readonly diagnoses: readonly Diagnosis[];
  /**
   * The node with its inputs, as arguments of `explain`; null for a node that is equal, and if its inputs are unknown.
   */
  readonly call: NodeCall | null;
  /**
   * The iteration or call in which the node is wrong, such as `iteration 4 of node "loop"` or `call 1 of its function`,
   * if it was right in the selected iteration and call; null otherwise.
   */
  readonly where: string | null;
  /** False if another run gave a different result for the same inputs. */
  readonly isReproducible: boolean;
  /** The runs with a different result, such as `run 2`, `8 threads, run 1` or `run 3 of the node alone`. */
  readonly otherRuns: readonly string[];
  /**
   * The results of running the node alone, at most 200 times or 2 seconds in each runtime. Null unless two updates have
   * the same target: threads may race for such a target and still give the exact result in most runs. If the node's
   * result already changed between runs of the model, it is not run alone, and `count` is 0.
   */
  readonly reruns: Reruns | null;
}

/** A node at which the runtime failed, so that nodes after it could not be compared. */
export interface FailedNode {
  /** Its operator, and its name or else its first output, such as `Reshape flat`. */
  readonly title: string;
  /** The runtime's message. */
  readonly message: string;
  /** True if the node is one of the compared nodes, so that it has its own verdict. */
  readonly isCompared: boolean;
  /** The paths of the nodes with the verdict `behind` because of this failure. */
  readonly behind: readonly string[];
}

/** The result of {@link verifyModel}. */
export interface VerifyReport {
  readonly nodes: readonly VerifiedNode[];
  /** Nodes at which the runtime failed in the first run and on which other nodes depend, each listed once. */
  readonly failures: readonly FailedNode[];
  /**
   * The runtime's message if it cannot run the whole model, although every node was right in the selected iteration and
   * call; null if the model runs. In this case `verifyModel` searches for the failing iteration of a loop or call of a
   * function. If the failing iteration or call is found, the sentence begins with it, and nodes that are wrong there
   * get the verdicts of that iteration or call.
   */
  readonly problem: string | null;
  /** True if the model runs, and all nodes that ran are equal or near, and reproducible. */
  readonly agrees: boolean;
}

/**
 * Runs an ONNX model in the user's runtime and compares each scatter and gather, on its real inputs, with the exact
 * result. Later runs are compared with the first: a node with the same inputs must have the same result. A node with
 * other inputs, because an earlier node is not reproducible, is compared with the exact result for those inputs.
 *
 * @param bytes the ONNX file, as for {@link captureCalls}
 * @param feeds a tensor per input of the model, as for {@link captureCalls}
 * @param options `createSession` is required; `runs` tests reproducibility
 * @throws TensorError as {@link captureCalls}, and `attribute` unless runs are a whole number from 1 to 10,000, and for
 *   a negative tolerance
 *
 * @example
 * ```ts
 * import { readFileSync } from "node:fs";
 * import { InferenceSession } from "onnxruntime-node";
 *
 * const bytes = readFileSync("model.onnx");
 * const createSession = (model: Uint8Array) => InferenceSession.create(model);
 * const feeds = {
 *   table: tensor("float32", [4, 2], new Float32Array(8)),
 *   ids: tensor("int64", [2, 1], [1, 1]),
 *   rows: tensor("float32", [2, 2], [1, 2, 3, 4]),
 * };
 * const { nodes } = await verifyModel(bytes, feeds, { createSession, runs: 20 });
 * for (const { path, verdict, sentence } of nodes) console.log(path, verdict, sentence);
 * ```
 */
export async function verifyModel(
  bytes: Uint8Array,
  feeds: Feeds,
  options: VerifyOptions,
): Promise<VerifyReport> {
  const { own, runtimes, runs, report, ...how } = optionsFrom(options);
  const model = readModel(bytes);
  const given = feedsFrom(model, feeds);
  const states: State[] = [];
  const all = runtimes.length * runs;
  let run = 0;
  for (const { prefix, createSession } of runtimes) {
    for (let nth = 1; nth <= runs; nth++) {
      run++;
      let at = 0;
      // Runs must not overlap, so that each has the machine to itself.
      // oxlint-disable-next-line no-await-in-loop
      for await (const captured of captureCalls(bytes, Object.fromEntries(given), {
        ...own,
        createSession,
      })) {
        if (run === 1) states.push(firstState(captured, how.tolerance));
        else states[at] = again(states[at], captured, `${prefix}run ${nth}`, how.tolerance);
        at++;
        report({ run, runs: all, nodes: at, alone: null });
      }
    }
  }
  const finished = (state: State): Promise<VerifiedNode> => {
    const { path } = state.first;
    const onRun = (count: number): void =>
      report({ run, runs: all, nodes: states.length, alone: { path, count } });
    return finish(state, { ...how, runtimes, onRun });
  };
  const nodes: VerifiedNode[] = [];
  // oxlint-disable-next-line no-await-in-loop
  for (const state of states) nodes.push(await finished(state));
  const isRight = nodes.every((node) => node.isReproducible && isFine(node));
  const failure = isRight
    ? await runWhole({
        ...{ bytes, model, feeds: given },
        options: { ...own, createSession: runtimes[0].createSession },
        isFine: (captured) => isFine(judge(captured, how.tolerance)),
      })
    : null;
  const elsewhere = failure?.captured ?? [];
  for (const captured of elsewhere) {
    const at = nodes.findIndex(({ path }) => path === captured.path);
    // oxlint-disable-next-line no-await-in-loop
    const node = await finished(firstState(captured, how.tolerance));
    nodes[at] = { ...node, where: failure?.where ?? null };
  }
  return {
    nodes,
    failures: failuresOf([...states.map(({ first }) => first), ...elsewhere]),
    problem: failure && [failure.where, failure.message].filter(Boolean).join(": "),
    agrees: isRight && failure === null,
  };
}

function failuresOf(captured: readonly CapturedCall[]): readonly FailedNode[] {
  const culprits = new Set(captured.flatMap(({ behind }) => behind ?? []));
  return [...culprits].map((culprit) => {
    const after = captured.filter(({ behind }) => behind === culprit);
    return {
      title: titleOf(culprit),
      message: after[0].problem ?? "",
      isCompared: captured.some(({ node }) => node === culprit),
      behind: after.map(({ path }) => path),
    };
  });
}

const isFine = ({ verdict }: Pick<VerifiedNode, "verdict">): boolean =>
  verdict === "equal" || verdict === "near" || verdict === "not-run";

/** Maximum number of runs, each of which takes at least some milliseconds. */
const MOST_RUNS = 10_000;

/** Settings for judging and explaining a node. */
interface How {
  readonly tolerance: number;
  readonly oneThread: CreateSession | null;
  readonly dialect: DialectId;
}

/** Returns the checked options. */
function optionsFrom(options: VerifyOptions): How & {
  readonly own: Partial<CaptureOptions>;
  readonly runtimes: readonly Runtime[];
  readonly runs: number;
  readonly report: (progress: VerifyProgress) => void;
} {
  const own = optionsOf(options, VERIFY_OPTIONS, {}, "the options of verifyModel");
  const { runs = 1, tolerance = 0, others = {}, oneThread, onProgress = () => {} } = own;
  if (!Number.isSafeInteger(runs) || Number(runs) < 1 || Number(runs) > MOST_RUNS) {
    const must = `a whole number from 1 to ${MOST_RUNS}`;
    throw wrongOption("runs", must, runs, { expected: [1, MOST_RUNS] });
  }
  if (typeof tolerance !== "number" || !(tolerance >= 0))
    throw wrongOption("tolerance", "0 or more", tolerance);
  if (typeof onProgress !== "function") throw wrongOption("onProgress", "a function", onProgress);
  const { dialect } = diagnoseOptions({ dialect: own["dialect"] }, {});
  const runtimes = [
    { prefix: "", createSession: createSessionFrom(own) },
    ...Object.entries(objectOf("others", others, {})).map(([name, createSession]) => ({
      prefix: `${name}, `,
      createSession: createSessionFrom({ createSession }),
    })),
  ];
  return {
    own: Object.fromEntries(Object.entries(own).filter(([name]) => CAPTURE_OPTIONS.includes(name))),
    runtimes,
    runs: Number(runs),
    tolerance,
    report: onProgress as (progress: VerifyProgress) => void,
    oneThread: oneThread === undefined ? null : createSessionFrom({ createSession: oneThread }),
    dialect: dialect ?? "onnxruntime-cpu",
  };
}

/** The state of a node between two runs. */
interface State {
  /** The node in the first run. */
  readonly first: CapturedCall;
  /** True if the first run gave a result that was compared with the exact one. */
  readonly isCompared: boolean;
  /** The worst judgement of all runs. */
  readonly judgement: Judgement;
  readonly isReproducible: boolean;
  readonly otherRuns: readonly string[];
}

function firstState(first: CapturedCall, tolerance: number): State {
  const judgement = judge(first, tolerance);
  const isCompared = COMPARED.has(judgement.verdict);
  return { first, isCompared, judgement, isReproducible: true, otherRuns: [] };
}

/** Returns a node after another run. Inputs that differ from the first run are the fault of an earlier node. */
function again(state: State, captured: CapturedCall, run: string, tolerance: number): State {
  const { first, otherRuns } = state;
  const isSameInput = captured.isRun === first.isRun && isSame(captured.inputs, first.inputs);
  const isSameResult =
    captured.outputs === null || first.outputs === null
      ? captured.problem === first.problem
      : isSame(captured.outputs, first.outputs);
  if (isSameInput && isSameResult) return state;
  const worst = { ...state, judgement: worse(state.judgement, judge(captured, tolerance)) };
  return isSameInput ? { ...worst, isReproducible: false, otherRuns: [...otherRuns, run] } : worst;
}

/** Returns the worse of two judgements, or the earlier of two equally bad ones. */
const worse = (known: Judgement, now: Judgement): Judgement =>
  isWorse(now.verdict, known.verdict) ? now : known;

/** Returns true if two records have the same names with the same bits. */
function isSame(a: Readonly<Record<string, Tensor>>, b: Readonly<Record<string, Tensor>>): boolean {
  const names = Object.keys(a);
  return (
    names.length === Object.keys(b).length &&
    names.every((name) => Object.hasOwn(b, name) && equals(a[name], b[name]))
  );
}

/** Settings for the report on a node after all runs. */
interface Finish extends How {
  readonly runtimes: readonly Runtime[];
  readonly onRun: (count: number) => void;
}

/**
 * Returns the report on a node after all runs. A suspect is first run alone. The reason is searched once, in the first
 * of the worst results.
 */
async function finish(state: State, how: Finish): Promise<VerifiedNode> {
  const { first } = state;
  let { judgement, isReproducible, otherRuns } = state;
  let reruns: Reruns | null = null;
  if (state.isCompared && isSuspect(first)) {
    // A node whose result already changed between runs need not be run alone.
    const found = await rerun(first, isReproducible ? how.runtimes : [], how.onRun);
    ({ reruns } = found);
    if (found.other !== null) {
      const { outputs, run } = found.other;
      judgement = worse(judgement, judge({ ...first, outputs }, how.tolerance));
      [isReproducible, otherRuns] = [false, [...otherRuns, run]];
    }
    if (judgement.result !== null && how.oneThread !== null) {
      const isExact = await isExactInOneThread(first, how.oneThread);
      reruns = { ...reruns, isExactInOneThread: isExact };
    }
  }
  const isRace = raceShown(reruns, isReproducible);
  const { result: _, call, ...facts } = judgement;
  const diagnoses = reasonsOf(judgement, { dialect: how.dialect, isRace });
  // A runtime gives the same signs of zeros and the same NaN in every run, so a changing sign of a zero reveals a lost
  // update.
  const isLost = isRace === true && facts.verdict === "nan-or-zero" && diagnoses.length > 0;
  return {
    path: first.path,
    op: first.node.op,
    ...facts,
    verdict: isLost ? "differs" : facts.verdict,
    diagnoses,
    call: facts.verdict === "equal" ? null : call,
    where: null,
    isReproducible,
    otherRuns,
    reruns,
  };
}

/**
 * Returns true if threads decide the result of a node, or false if they do not, or undefined if its runs prove neither.
 */
function raceShown(reruns: Reruns | null, isReproducible: boolean): boolean | undefined {
  if (reruns === null) return undefined;
  if (!isReproducible) return reruns.isExactInOneThread ?? true;
  return reruns.problem === null ? false : undefined;
}

const COMPARED: ReadonlySet<Verdict> = new Set(["equal", "near", "nan-or-zero", "differs"]);
