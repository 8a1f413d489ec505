/**
 * A node's verdict, which compares the runtime's result with the exact result for the same inputs; the node's state
 * between model runs, and the report on the node after all runs.
 */

import { recovering, sentenceOf } from "../../core/errors.ts";
import { runNode as run } from "../../core/functions.ts";
import { resolve } from "../../core/operators/registry.ts";
import { diagnose, type DiagnoseOptions } from "../../insight/diagnose/diagnose.ts";
import type { Diagnosis } from "../../insight/diagnose/diagnosis.ts";
import type { DialectId } from "../../insight/diagnose/dialects.ts";
import type { ModelNode } from "../model/model.ts";
import type { NodeCall } from "../model/run-model.ts";
import { equals } from "../../core/tensor/compare.ts";
import type { Tensor } from "../../core/tensor/tensor.ts";
import { maybeSliced, type Capture, type CapturedCall } from "./capture.ts";
import { isExactInOneThread, isSuspect, rerun, type Reruns, type Runtime } from "./rerun.ts";
import type { CreateSession } from "./session.ts";
import { compare, isWorse, type Verdict } from "./verdicts.ts";

/** A node with its verdict, its first difference, and possible reasons for the difference. */
export interface VerifiedNode {
  readonly path: string;
  readonly op: string;
  /** The operator version, such as 18; null for an invalid call. */
  readonly version: number | null;
  readonly verdict: Verdict;
  /** A sentence about the node; empty if the result is equal. */
  readonly sentence: string;
  /** The first differing element and its output; null if no element differs. */
  readonly difference: { readonly output: string; readonly at: readonly number[] } | null;
  /**
   * Possible reasons in the form of {@link diagnose}, most likely first; empty if no known fault explains the result.
   */
  readonly diagnoses: readonly Diagnosis[];
  /** The node with its inputs, in the form that `explain` accepts; null for an equal node and for unknown inputs. */
  readonly call: NodeCall | null;
  /**
   * The runtime's result for `call`: the output that determined the verdict; null for an equal or near node, and if the
   * runtime returned no result.
   */
  readonly result: Tensor | null;
  /**
   * The iteration or call in which the node is wrong, such as `iteration 4 of node "loop"` or `call 1 of f`.
   * The field is null if this is the selected iteration and call.
   */
  readonly where: string | null;
  /** False if another run gave a different result for the same inputs. */
  readonly isReproducible: boolean;
  /** Runs with a different result, such as `run 2` or `8 threads, run 1`. */
  readonly otherRuns: readonly string[];
  /**
   * Results of running the node alone, up to 200 times or 2 seconds in each runtime. The field is null unless two
   * updates have the same target, because only such updates can race. A race may still give the exact result in most
   * runs. If the node's result already changed between model runs, the node does not run alone, and `count` is 0.
   */
  readonly reruns: Reruns | null;
}

/** A verdict without reasons, because the search for reasons may take seconds. */
type Judgement = Pick<
  VerifiedNode,
  "version" | "verdict" | "sentence" | "difference" | "call" | "result"
>;

export interface How {
  readonly runtimes: readonly Runtime[];
  readonly tolerance: number;
  readonly oneThread: CreateSession | null;
  readonly dialect: DialectId;
}

export interface State {
  /** The node in the first run. Tensors that are not needed later are dropped. */
  readonly first: CapturedCall;
  /** True if the node may race, and the first run gave a result that was compared with the exact result. */
  readonly isSuspect: boolean;
  /** The worst judgement of all runs. */
  readonly judgement: Judgement;
  /** The runs that gave another result for the same inputs. */
  readonly otherRuns: readonly string[];
}

export function firstState(first: CapturedCall, tolerance: number): State {
  const judgement = judge(first, tolerance);
  const isMeasured = COMPARED.has(judgement.verdict) && isSuspect(first);
  return { first, isSuspect: isMeasured, judgement, otherRuns: [] };
}

/**
 * Returns a node's state after the first run. A large table is read completely only if the node is not equal. If
 * `isKept` is false, the tensors of an equal node are dropped, because the weights of many nodes would fill the memory.
 */
export function capturedState(capture: Capture, tolerance: number, isKept: boolean): State {
  const state = firstState(capture(false), tolerance);
  const isEqual = state.judgement.verdict === "equal";
  if (!isEqual && maybeSliced(state.first.node)) return firstState(capture(true), tolerance);
  if (!isEqual || isKept || state.isSuspect) return state;
  const first = { ...state.first, call: null, inputs: {}, outputs: null };
  return { ...state, first, judgement: { ...state.judgement, call: null, result: null } };
}

/** Returns a node's state after another run. Different inputs in the other run are caused by an earlier node. */
export function again(state: State, capture: Capture, run: string, tolerance: number): State {
  const { first, otherRuns } = state;
  const captured = capture(state.judgement.verdict !== "equal");
  const isSameInput = captured.isRun === first.isRun && isSame(captured.inputs, first.inputs);
  const isSameResult =
    captured.outputs === null || first.outputs === null
      ? captured.problem === first.problem
      : isSame(captured.outputs, first.outputs);
  if (isSameInput && isSameResult) return state;
  const worst = { ...state, judgement: worse(state.judgement, judge(capture(true), tolerance)) };
  return isSameInput ? { ...worst, otherRuns: [...otherRuns, run] } : worst;
}

const worse = (known: Judgement, now: Judgement): Judgement =>
  isWorse(now.verdict, known.verdict) ? now : known;

/** Returns true if two records have the same names, and values with the same bits. */
function isSame(a: Readonly<Record<string, Tensor>>, b: Readonly<Record<string, Tensor>>): boolean {
  const names = Object.keys(a);
  return (
    names.length === Object.keys(b).length &&
    names.every((name) => Object.hasOwn(b, name) && equals(a[name], b[name]))
  );
}

/**
 * Returns the report on a node after all runs. A node that may race first runs alone. Reasons are searched once, for
 * the first of the worst results. The callback `onRun` gets the number of runs of the node alone.
 */
export async function finish(
  state: State,
  how: How,
  onRun: (count: number) => void,
): Promise<VerifiedNode> {
  const { first } = state;
  let { judgement, otherRuns } = state;
  let reruns: Reruns | null = null;
  if (state.isSuspect) {
    // If the result already changed between model runs, the node need not run alone.
    const found = await rerun(first, otherRuns.length === 0 ? how.runtimes : [], onRun);
    ({ reruns } = found);
    if (found.other !== null) {
      const { outputs, run } = found.other;
      judgement = worse(judgement, judge({ ...first, outputs }, how.tolerance));
      otherRuns = [...otherRuns, run];
    }
    if (judgement.result !== null && how.oneThread !== null) {
      const isExact = await isExactInOneThread(first, how.oneThread);
      reruns = { ...reruns, isExactInOneThread: isExact };
    }
  }
  const isReproducible = otherRuns.length === 0;
  const isRace = raceShown(reruns, isReproducible);
  const { call, ...facts } = judgement;
  const diagnoses = reasonsOf(judgement, { dialect: how.dialect, isRace });
  // A runtime returns the same zeros and NaNs in every run, so a changed sign of a zero shows a lost update.
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
 * Returns true if threads determine the node's result, and false if they do not; undefined if the runs prove neither.
 */
function raceShown(reruns: Reruns | null, isReproducible: boolean): boolean | undefined {
  if (reruns === null) return undefined;
  if (!isReproducible) return reruns.isExactInOneThread ?? true;
  return reruns.problem === null ? false : undefined;
}

const COMPARED: ReadonlySet<Verdict> = new Set(["equal", "near", "nan-or-zero", "differs"]);

/** Judges a captured call. For near floats, `tolerance` is the maximum difference relative to the larger magnitude. */
export function judge(
  { node, call, error, outputs, isRun, problem, behind }: CapturedCall,
  tolerance: number,
): Judgement {
  const nothing = { version: null, difference: null, call: null, result: null };
  if (!isRun) return { ...nothing, verdict: "not-run", sentence: problem ?? "" };
  const said =
    problem === null
      ? "the runtime returned a result for an invalid call"
      : `the runtime says: ${problem}`;
  if (error !== null)
    return { ...nothing, verdict: "wrong", sentence: `${sentenceOf(error)}; ${said}` };
  if (behind !== null) {
    const sentence = `the earlier node ${titleOf(behind)} failed`;
    return { ...nothing, verdict: "behind", sentence };
  }
  if (call === null) {
    const sentence = `the inputs are unknown, because the runtime says: ${problem}`;
    return { ...nothing, verdict: "failed", sentence };
  }
  const known = { ...nothing, version: resolve(call.node).sinceVersion, call };
  const exact = recovering(() => run(call.node, call.inputs), sentenceOf);
  if (typeof exact === "string") {
    const result = outputs?.[node.outputs[0]] ?? null;
    return { ...known, verdict: "wrong", sentence: `${exact}; ${said}`, result };
  }
  if (outputs === null)
    return { ...known, verdict: "failed", sentence: `the runtime says: ${problem}` };
  return compared(node.outputs, outputs, exact, { known, tolerance });
}

/** Returns a node's title, made from its operator, and its name or else its first output. */
export const titleOf = ({ op, name, outputs }: ModelNode): string =>
  `${op} ${name || (outputs[0] ?? "")}`.trim();

/** Returns the verdict on a node's worst output. */
function compared(
  names: readonly string[],
  outputs: Readonly<Record<string, Tensor>>,
  exact: readonly Tensor[],
  { known, tolerance }: { known: Omit<Judgement, "verdict" | "sentence">; tolerance: number },
): Judgement {
  let worst: Judgement = { ...known, verdict: "equal", sentence: "" };
  for (const [position, name] of names.entries()) {
    if (name === "") continue;
    const { verdict, at, sentence } = compare(outputs[name], exact[position], tolerance);
    if (!isWorse(verdict, worst.verdict)) continue;
    const difference = at && { output: name, at };
    const result = verdict === "near" ? null : outputs[name];
    worst = { ...known, verdict, sentence: `${name}${sentence}`, difference, result };
  }
  return worst;
}

/** Returns the reasons for a wrong result; empty if the result's type or shape is wrong. */
function reasonsOf({ call, result }: Judgement, options: DiagnoseOptions): readonly Diagnosis[] {
  if (call === null || result === null) return [];
  return recovering(
    () => diagnose(call.node, call.inputs, result, options),
    () => [],
  );
}
