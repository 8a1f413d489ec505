/**
 * Runs a node alone, many times in one session, if two of its updates have the same target. Threads may race for such a
 * target. A single run proves little: when 40,000 rows were added to 8 rows, the first run was exact in 17 of 20
 * sessions. Other results appeared within a few runs of each session.
 */

import { hasRepeats } from "../../core/call/check.ts";
import { runNode as runExactly } from "../../core/functions.ts";
import { VERIFY } from "../../core/limits.ts";
import { IR_VERSION } from "../model/opset.ts";
import type { Model } from "../model/model.ts";
import { equals } from "../../core/tensor/compare.ts";
import type { Tensor } from "../../core/tensor/tensor.ts";
import type { CapturedCall } from "./capture.ts";
import { withModel, type OpenSession } from "./carried.ts";
import { failureOr, RuntimeFailure, type CreateSession } from "./session.ts";

/** A function that creates sessions, and the prefix for the names of its runs. */
export interface Runtime {
  readonly prefix: string;
  readonly createSession: CreateSession;
}

/** The results of running a node alone. */
export interface Reruns {
  /** The number of runs of the node alone, in all runtimes together. */
  readonly count: number;
  /**
   * True if all runs of the node alone gave the same bits as the model's run. If false, the last run gave other bits.
   */
  readonly isSame: boolean;
  /**
   * For a node that is not equal, true if all single-threaded runs gave the exact result. The field is null if no such
   * run was made.
   */
  readonly isExactInOneThread: boolean | null;
  /** The runtime's message if the runtime cannot run the node alone; otherwise null. */
  readonly problem: string | null;
}

type Outputs = Readonly<Record<string, Tensor>>;

/** The reruns of a node and their results. */
export interface Rerun {
  readonly reruns: Reruns;
  /** A differing result with the name of its run; null if all results are the same. */
  readonly other: { readonly outputs: Outputs; readonly run: string } | null;
}

/** Returns true if two updates have the same target, so that results may vary between runs. */
export const isSuspect = ({ call, outputs }: CapturedCall): boolean =>
  call !== null && outputs !== null && hasRepeats(call.node, call.inputs);

/**
 * Runs a node alone in each runtime until a result differs from the model's result, or until a limit is reached. The
 * callback `onRun` gets the number of runs so far.
 */
export async function rerun(
  captured: CapturedCall,
  runtimes: readonly Runtime[],
  onRun: (count: number) => void,
): Promise<Rerun> {
  const { outputs: expected } = captured;
  let count = 0;
  const same = (): Reruns => ({ count, isSame: true, isExactInOneThread: null, problem: null });
  for (const { prefix, createSession } of runtimes) {
    const before = count;
    // Runs are sequential, so that each run has the whole machine.
    const other = await untilOther(captured, createSession, expected ?? {}, VERIFY.reruns, () =>
      onRun(++count),
    );
    if (other instanceof RuntimeFailure)
      return { reruns: { ...same(), problem: other.message }, other: null };
    if (other === null) continue;
    const run = `${prefix}run ${count - before} of the node alone`;
    return { reruns: { ...same(), isSame: false }, other: { outputs: other, run } };
  }
  return { reruns: same(), other: null };
}

/**
 * Returns true if several single-threaded runs all give the exact outputs; null if the runtime cannot run the node
 * alone.
 */
export async function isExactInOneThread(
  captured: CapturedCall,
  createSession: CreateSession,
): Promise<boolean | null> {
  const { node, call } = captured;
  const exact = call === null ? [] : runExactly(call.node, call.inputs);
  const expected = Object.fromEntries(
    node.outputs.flatMap((name, at) => (name === "" ? [] : [[name, exact[at]]])),
  );
  const other = await untilOther(captured, createSession, expected, VERIFY.oneThreadRuns);
  return other instanceof RuntimeFailure ? null : other === null;
}

/**
 * Runs the node until its outputs differ from the expected outputs, and returns the differing outputs; null if no
 * outputs differ in `most` runs or within the time limit.
 */
function untilOther(
  captured: CapturedCall,
  createSession: CreateSession,
  expected: Outputs,
  most: number,
  onRun: () => void = () => {},
): Promise<Outputs | RuntimeFailure | null> {
  const feeds = new Map(Object.entries(captured.inputs));
  const names = Object.keys(expected);
  const run = async (session: OpenSession): Promise<Outputs | null> => {
    const end = performance.now() + VERIFY.rerunTime;
    for (let count = 0; count < most && (count === 0 || performance.now() < end); count++) {
      const outputs = await session.run(feeds, names);
      onRun();
      const isOther = names.some((name) => !equals(outputs.get(name) as Tensor, expected[name]));
      if (isOther) return Object.fromEntries(outputs);
    }
    return null;
  };
  return failureOr(() => withModel(createSession, aloneModel(captured), run));
}

/** Returns a model with a single node, whose inputs are the model's inputs. */
function aloneModel({ node, call, inputs }: CapturedCall): Model {
  const { domain = "ai.onnx", opset = 1 } = call?.node ?? {};
  return {
    irVersion: IR_VERSION,
    producer: "ndscatter",
    opsets: { [domain]: opset },
    graph: {
      name: node.name || node.op,
      inputs: Object.entries(inputs).map(([name, { dtype, shape }]) => ({
        name,
        type: { dtype, shape },
      })),
      outputs: node.outputs.filter(Boolean).map((name) => ({ name, type: null })),
      nodes: [node],
      constants: [],
    },
  };
}
