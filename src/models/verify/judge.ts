/** Judges a node by comparing the runtime's result with the exact result for the same inputs. */

import { runNode as run } from "../../core/functions.ts";
import { diagnose, type DiagnoseOptions } from "../../insight/diagnose/diagnose.ts";
import type { Diagnosis } from "../../insight/diagnose/diagnosis.ts";
import { isTensorError, sentenceOf } from "../../core/errors.ts";
import type { ModelNode } from "../model/model.ts";
import type { NodeCall } from "../model/run-model.ts";
import { resolve } from "../../core/operators/registry.ts";
import type { Tensor } from "../../core/tensor/tensor.ts";
import type { CapturedCall } from "./capture.ts";
import { compare } from "./compare.ts";
import { isWorse, type Verdict } from "./verdicts.ts";

/** A verdict without reasons, because the search for reasons may take seconds. */
export interface Judgement {
  /** The operator version, such as 18; null for an invalid call. */
  readonly version: number | null;
  readonly verdict: Verdict;
  /** A sentence about the node; empty if the result is equal. */
  readonly sentence: string;
  /** The first differing element and its output; null if no element differs. */
  readonly difference: { readonly output: string; readonly at: readonly number[] } | null;
  /** The node with its inputs; null for an invalid call or unknown inputs. */
  readonly call: NodeCall | null;
  /** The output that determined the verdict; null if no output can show a reason. */
  readonly result: Tensor | null;
}

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
  if (behind !== null)
    return {
      ...nothing,
      verdict: "behind",
      sentence: `the earlier node ${titleOf(behind)} failed`,
    };
  if (call === null) {
    const sentence = `the inputs are unknown, because the runtime says: ${problem}`;
    return { ...nothing, verdict: "failed", sentence };
  }
  const known = { ...nothing, version: resolve(call.node).sinceVersion, call };
  let exact: readonly Tensor[];
  try {
    exact = run(call.node, call.inputs);
  } catch (error) {
    if (!isTensorError(error)) throw error;
    const result = outputs?.[node.outputs[0]] ?? null;
    return { ...known, verdict: "wrong", sentence: `${sentenceOf(error)}; ${said}`, result };
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
export function reasonsOf(
  { call, result }: Judgement,
  options: DiagnoseOptions,
): readonly Diagnosis[] {
  if (call === null || result === null) return [];
  try {
    return diagnose(call.node, call.inputs, result, options);
  } catch (error) {
    if (isTensorError(error)) return [];
    throw error;
  }
}
