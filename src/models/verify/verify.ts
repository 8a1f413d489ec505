/**
 * Compares the results of a model's scatters and gathers in the user's runtime with the exact results. `capture.ts`
 * captures inputs and outputs, using parts of the model that `place-values.ts` runs. `node-state.ts` compares results,
 * `rerun.ts` tests for races, and `whole.ts` runs the whole model. Reasons for a wrong result are searched once, after
 * all runs.
 */

import { namesOf, objectOf, optionsOf, wrongOption } from "../../core/foreign.ts";
import type { Bytes } from "../../core/tensor/bytes.ts";
import { diagnoseOptions } from "../../insight/diagnose/diagnose.ts";
import type { DialectId } from "../../insight/diagnose/dialects.ts";
import type { Model } from "../model/model.ts";
import { modelNotes } from "../model/model-notes.ts";
import { bodiesIn } from "../model/uses.ts";
import { modelBytes } from "../onnx/read-model.ts";
import {
  CAPTURE_OPTIONS,
  captures,
  capturingFrom,
  type Capture,
  type CapturedCall,
  type CaptureOptions,
  type Feeds,
} from "./capture.ts";
import { compareExpected, expectedFrom, findChanges, type ExpectedReport } from "./expected.ts";
import {
  again,
  capturedState,
  finish,
  firstState,
  judge,
  titleOf,
  type How,
  type State,
  type VerifiedNode,
} from "./node-state.ts";
import { createSessionFrom, type CreateSession } from "./session.ts";
import { locateFailure, runWhole, unoptimized, type Loads, type Whole } from "./whole.ts";

/** Options of {@link verifyModel}. */
export interface VerifyOptions extends CaptureOptions {
  /** The number of model runs in each runtime, as a test of reproducibility. The default is 1. */
  readonly runs?: number | undefined;
  /** Additional session makers by name, for example with more threads. Their results must have the same bits. */
  readonly others?: Readonly<Record<string, CreateSession>> | undefined;
  /** The maximum difference between near floats, relative to the larger magnitude. The default is 0. */
  readonly tolerance?: number | undefined;
  /**
   * Expected outputs by name, such as the outputs of the original PyTorch model. If the model's outputs differ, the
   * report contains changes of single scatters and gathers that give the expected outputs. Floats may differ by
   * `tolerance`, relative to their own magnitude plus the tensor's mean magnitude. Without `tolerance`, the limit is
   * 1e-5, and 2^-7 for float16 and bfloat16.
   */
  readonly expected?: Feeds | undefined;
  /** Makes single-threaded sessions, which show whether threads cause a wrong result. */
  readonly oneThread?: CreateSession | undefined;
  /**
   * The runtime's id in `dialects()`. The default is `onnxruntime-cpu`. Known faults of this runtime are listed first.
   */
  readonly dialect?: DialectId | undefined;
  /** Called after each compared node, and after each run of a single node. */
  readonly onProgress?: ((progress: VerifyProgress) => void) | undefined;
}

export const VERIFY_OPTIONS = [
  ...CAPTURE_OPTIONS,
  .../* @__PURE__ */ namesOf<Omit<VerifyOptions, keyof CaptureOptions>>({
    runs: true,
    others: true,
    tolerance: true,
    expected: true,
    oneThread: true,
    dialect: true,
    onProgress: true,
  }),
];

/** The progress of {@link verifyModel}. */
export interface VerifyProgress {
  /** The number of the run, beginning with 1. Runs of other sessions continue the count. */
  readonly run: number;
  readonly runs: number;
  /** The number of nodes compared so far in this run. */
  readonly nodes: number;
  /** The number of sessions that searched for a failing node in this run; 0 without a search. */
  readonly searches: number;
  /** The node that is running alone, with its number of runs so far; null before the model runs have ended. */
  readonly alone: { readonly path: string; readonly count: number } | null;
}

/** A node at which the runtime failed, so that later nodes could not be compared. */
export interface FailedNode {
  /** The operator with the node's name, or with its first output if the node has no name. */
  readonly title: string;
  /** The runtime's message. */
  readonly message: string;
  /** True if the failing node is itself compared, so that it has its own verdict. */
  readonly isCompared: boolean;
  /** Paths of nodes with the verdict `behind` because of this failure. */
  readonly behind: readonly string[];
}

/** The result of {@link verifyModel}. */
export interface VerifyReport {
  readonly nodes: readonly VerifiedNode[];
  /** Notes about the model's opset versions, as {@link modelNotes} returns them. */
  readonly notes: readonly string[];
  /** Nodes at which the runtime failed in the first run, if other nodes depend on them. Each node is listed once. */
  readonly failures: readonly FailedNode[];
  /**
   * Whether the runtime loads the whole model: unchanged, only without graph optimization, or never. Nodes are compared
   * in parts of the model, so nodes may be equal even if the runtime cannot load the model.
   */
  readonly loads: Loads;
  /**
   * The runtime's message if it cannot load the unchanged model or cannot run the model; null if the model runs. If the
   * model loads and all compared nodes are right, `verifyModel` searches for a failing loop iteration or function call.
   * If one is found, the sentence begins with the iteration or call, and wrong nodes get their verdicts from it.
   */
  readonly problem: string | null;
  /** The comparison with the option `expected`; null without this option. */
  readonly expected: ExpectedReport | null;
  /**
   * True if the model loads and runs, all nodes that ran are equal or near and reproducible, and the outputs match the
   * option `expected`, if given.
   */
  readonly agrees: boolean;
}

/**
 * Runs an ONNX model in the user's runtime, and compares each scatter and gather with the exact result for its actual
 * inputs.
 *
 * Later runs are compared with the first run: a node with the same inputs must give the same result. If an earlier node
 * is not reproducible, later nodes have other inputs, and are compared with the exact result for these inputs.
 *
 * @param file the bytes of the ONNX file, as for `captureCalls`
 * @param feeds one tensor per model input, as for `captureCalls`
 * @param options `createSession` is required; `runs` tests reproducibility
 * @throws TensorError the errors of {@link captureCalls}; `attribute` unless `runs` is a whole number from 1 to 10,000,
 * and for a negative tolerance
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
  file: Bytes,
  feeds: Feeds,
  options: VerifyOptions,
): Promise<VerifyReport> {
  const { own, expected, ...asked } = optionsFrom(options);
  const bytes = modelBytes(file);
  const whole = { ...capturingFrom(bytes, feeds, own), bytes };
  const { model, index } = whole;
  const outputs = expectedFrom(model, expected);
  const { loads, problem } = await runWhole(whole);
  const loaded = loads === "unoptimized" ? withoutOptimization(asked) : asked;
  // A model that fails to load is tried only once, because further attempts say nothing about reproducibility.
  const how = loads === "never" ? { ...loaded, runs: 1 } : loaded;
  const tolerance = asked.likeness;
  const [{ createSession }] = how.runtimes;
  const expecting = outputs && { ...whole, expected: outputs, tolerance, createSession };
  const compared = expecting && (await compareExpected(expecting));
  const isOther = compared !== null && compared.some(({ isExpected }) => !isExpected);
  const states = await compareRuns(whole, how, isOther);
  const nodes = await finishAll(states, how, states.length);
  const isRight = nodes.every((node) => node.isReproducible && isFine(node));
  const isLocated = isRight && problem !== null && loads === "as-is" && hasBodies(model);
  const failure = isLocated
    ? await locateFailure(whole, (captured) => isFine(judge(captured, how.tolerance)))
    : null;
  const elsewhere = failure?.captured ?? [];
  const wrong = elsewhere.map((captured) => firstState(captured, how.tolerance));
  for (const node of await finishAll(wrong, how, states.length)) {
    const at = nodes.findIndex(({ path }) => path === node.path);
    nodes[at] = { ...node, where: failure?.where ?? null };
  }
  const captured = states.map(({ first }) => first);
  const changes = isOther && expecting ? await findChanges(expecting, index, captured) : [];
  return {
    nodes,
    notes: modelNotes(model),
    expected: compared && { outputs: compared, changes },
    failures: failuresOf([...captured, ...elsewhere]),
    loads,
    problem: failure === null ? problem : `${failure.where}: ${failure.message}`,
    agrees: isRight && problem === null && !isOther,
  };
}

/**
 * Compares the nodes in all runs of all runtimes. If `isKept` is true, the tensors of all nodes are needed after the
 * runs.
 */
async function compareRuns(
  whole: Whole,
  { runtimes, runs, report, tolerance }: Checked,
  isKept: boolean,
): Promise<readonly State[]> {
  const states: State[] = [];
  const all = runtimes.length * runs;
  let run = 0;
  for (const { prefix, createSession } of runtimes) {
    for (let nth = 1; nth <= runs; nth++) {
      run++;
      let at = 0;
      const said = { run, runs: all, alone: null };
      const onSearch = (searches: number): void =>
        report({ ...said, nodes: states.length, searches });
      // Runs are sequential, so that each run has the whole machine.
      for await (const capture of captures({ ...whole, createSession, onSearch })) {
        const own: Capture = isKept ? () => capture(true) : capture;
        if (run === 1) states.push(capturedState(own, tolerance, isKept || all > 1));
        else states[at] = again(states[at], own, `${prefix}run ${nth}`, tolerance);
        at++;
        report({ ...said, nodes: at, searches: 0 });
      }
    }
  }
  return states;
}

/** Returns the reports on nodes after all runs, and reports progress while a node runs alone. */
async function finishAll(
  states: readonly State[],
  how: Checked,
  compared: number,
): Promise<VerifiedNode[]> {
  const all = how.runtimes.length * how.runs;
  const said = { run: all, runs: all, nodes: compared, searches: 0 };
  const nodes: VerifiedNode[] = [];
  for (const state of states) {
    const { path } = state.first;
    const onRun = (count: number): void => how.report({ ...said, alone: { path, count } });
    nodes.push(await finish(state, how, onRun));
  }
  return nodes;
}

const hasBodies = ({ graph, functions = [] }: Model): boolean =>
  functions.length > 0 || graph.nodes.some((node) => bodiesIn(node).length > 0);

const withoutOptimization = (asked: Checked): Checked => ({
  ...asked,
  runtimes: asked.runtimes.map((one) => ({
    ...one,
    createSession: unoptimized(one.createSession),
  })),
  oneThread: asked.oneThread && unoptimized(asked.oneThread),
});

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

/** The maximum number of runs. Each run takes at least several milliseconds. */
const MOST_RUNS = 10_000;

interface Checked extends How {
  readonly runs: number;
  /** The user's tolerance for expected outputs; null if the user chose none. */
  readonly likeness: number | null;
  readonly report: (progress: VerifyProgress) => void;
}

function optionsFrom(
  options: VerifyOptions,
): Checked & { readonly own: Partial<CaptureOptions>; readonly expected: unknown } {
  const own = optionsOf(options, VERIFY_OPTIONS, {}, "the options of verifyModel");
  const { runs = 1, tolerance, others = {}, oneThread, onProgress = () => {} } = own;
  if (!Number.isSafeInteger(runs) || Number(runs) < 1 || Number(runs) > MOST_RUNS) {
    const must = `a whole number from 1 to ${MOST_RUNS}`;
    throw wrongOption("runs", must, runs, { expected: [1, MOST_RUNS] });
  }
  if (tolerance !== undefined && !(typeof tolerance === "number" && tolerance >= 0))
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
    expected: own["expected"],
    runtimes,
    runs: Number(runs),
    tolerance: tolerance ?? 0,
    likeness: tolerance ?? null,
    report: onProgress as (progress: VerifyProgress) => void,
    oneThread: oneThread === undefined ? null : createSessionFrom({ createSession: oneThread }),
    dialect: dialect ?? "onnxruntime-cpu",
  };
}
