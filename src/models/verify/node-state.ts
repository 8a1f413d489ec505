/** The state of a node between runs of the model, and the report on the node after all runs. */

import type { Diagnosis } from "../../insight/diagnose/diagnosis.ts";
import type { DialectId } from "../../insight/diagnose/dialects.ts";
import type { NodeCall } from "../model/run-model.ts";
import { equals, type Tensor } from "../../core/tensor/tensor.ts";
import { maybeSliced, type Capture, type CapturedCall } from "./capture.ts";
import { judge, reasonsOf, type Judgement } from "./judge.ts";
import { isExactInOneThread, isSuspect, rerun, type Reruns, type Runtime } from "./rerun.ts";
import type { CreateSession } from "./session.ts";
import { isWorse, type Verdict } from "./verdicts.ts";

/** A node with its verdict, its first difference, and the reasons for the difference. */
export interface VerifiedNode {
  readonly path: string;
  readonly op: string;
  /** The version of the operator, such as 18. */
  readonly version: number | null;
  readonly verdict: Verdict;
  /** A sentence about the node; empty if the result is equal. */
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
   * The iteration or call in which the node is wrong, such as `iteration 4 of node "loop"` or `call 1 of f`,
   * if it was right in the selected iteration and call; null otherwise.
   */
  readonly where: string | null;
  /** False if another run gave a different result for the same inputs. */
  readonly isReproducible: boolean;
  /** The runs with a different result, such as `run 2` or `8 threads, run 1`. */
  readonly otherRuns: readonly string[];
  /**
   * The results of running the node alone, at most 200 times or 2 seconds in each runtime. The value is null unless two
   * updates have the same target: threads may race for such a target and still give the exact result in most runs. If
   * the node's result already changed between runs of the model, it is not run alone, and `count` is 0.
   */
  readonly reruns: Reruns | null;
}

/** Settings for judging and explaining a node. */
export interface How {
  readonly tolerance: number;
  readonly oneThread: CreateSession | null;
  readonly dialect: DialectId;
}

/** The state of a node between two runs. */
export interface State {
  /** The node in the first run, without its tensors if nothing needs them. */
  readonly first: CapturedCall;
  /** True if the first run gave a result that was compared with the exact one, and the node may race. */
  readonly isSuspect: boolean;
  /** The worst judgement of all runs. */
  readonly judgement: Judgement;
  readonly isReproducible: boolean;
  readonly otherRuns: readonly string[];
}

export function firstState(first: CapturedCall, tolerance: number): State {
  const judgement = judge(first, tolerance);
  const isMeasured = COMPARED.has(judgement.verdict) && isSuspect(first);
  return { first, isSuspect: isMeasured, judgement, isReproducible: true, otherRuns: [] };
}

/**
 * Returns the state of a node after the first run. All of a large table is read only if the node is not equal.
 * @param isKept true if the tensors of an equal node are needed later; otherwise they are dropped, because weights of
 * many
 *   nodes would fill the memory
 */
export function capturedState(capture: Capture, tolerance: number, isKept: boolean): State {
  const state = firstState(capture(false), tolerance);
  const isEqual = state.judgement.verdict === "equal";
  if (!isEqual && maybeSliced(state.first.node)) return firstState(capture(true), tolerance);
  if (!isEqual || isKept || state.isSuspect) return state;
  const first = { ...state.first, call: null, inputs: {}, outputs: null };
  return { ...state, first, judgement: { ...state.judgement, call: null, result: null } };
}

/** Returns a node after another run. An earlier node is the cause of inputs that differ from the first run. */
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
  return isSameInput ? { ...worst, isReproducible: false, otherRuns: [...otherRuns, run] } : worst;
}

/** Returns the worse of two judgements, or the earlier judgement if they are equally bad. */
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
export async function finish(state: State, how: Finish): Promise<VerifiedNode> {
  const { first } = state;
  let { judgement, isReproducible, otherRuns } = state;
  let reruns: Reruns | null = null;
  if (state.isSuspect) {
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
  // A change in the sign of a zero reveals a lost update, because a runtime returns the same zeros and NaNs in every
  // run.
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
