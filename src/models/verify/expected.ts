/**
 * Compares a model's outputs with expected outputs, such as PyTorch's. If they differ, a search looks for a change of a
 * single scatter or gather that gives the expected outputs. The user's runtime computes the nodes after the changed
 * node.
 */

import { TensorError } from "../../core/errors.ts";
import { VERIFY } from "../../core/limits.ts";
import { reader } from "../../core/tensor/scalar.ts";
import { sameShape } from "../../core/tensor/shape.ts";
import { otherCalls, type OtherCall } from "../../insight/diagnose/other-calls.ts";
import { recordFrom } from "../model/foreign-model.ts";
import { listNames, quote } from "../model/graph.ts";
import { asTensor, type Tensor } from "../../core/tensor/tensor.ts";
import { equals } from "../../core/tensor/compare.ts";
import type { Model } from "../model/model.ts";
import type { NodeIndex } from "../model/node-index.ts";
import { cutModel, neededNodes } from "../split/part.ts";
import type { CapturedCall } from "./capture.ts";
import type { Whole } from "./whole.ts";
import { openModel, withModel, type OpenSession } from "./carried.ts";
import { failureOr, RuntimeFailure } from "./session.ts";
import { compare, sentenceAt } from "./verdicts.ts";

export type Expected = ReadonlyMap<string, Tensor>;

/** A model output, compared with the expected output. */
export interface ExpectedOutput {
  readonly name: string;
  /** True if data type and shape are equal, and no element differs by more than the tolerance. */
  readonly isExpected: boolean;
  /** Describes the first difference beyond the tolerance; empty if the output is as expected. */
  readonly sentence: string;
}

/** A change of one node after which the model gives the expected outputs. */
export interface ExpectedChange extends Omit<OtherCall, "result"> {
  /** The node's path, which `NodeIndex.find` accepts. */
  readonly path: string;
  /** The ranks of the node's inputs. */
  readonly ranks: readonly number[];
}

/** The comparison of all outputs with the expected outputs. */
export interface ExpectedReport {
  readonly outputs: readonly ExpectedOutput[];
  /**
   * Changes that give the expected outputs, most likely first, with up to 5 changes per node. The list is empty if the
   * outputs are already as expected, or if no single change in the model's own graph gives them.
   */
  readonly changes: readonly ExpectedChange[];
}

/** Checks the expected outputs. Throws `shape-mismatch` for a name that is not an output of the model. */
export function expectedFrom({ graph }: Model, given: unknown): Expected | null {
  if (given === undefined) return null;
  const names = graph.outputs.map(({ name }) => name);
  const entries = Object.entries(recordFrom("expected", given as object));
  for (const [name] of entries) {
    if (names.includes(name)) continue;
    const sentence = `the model has no output ${quote(name)}; its outputs are ${listNames(names)}`;
    throw new TensorError("shape-mismatch", sentence, {
      input: name,
      key: "expected",
      allowed: names,
    });
  }
  return new Map(entries.map(([name, value]) => [name, asTensor(value ?? {}, {}, name)]));
}

/**
 * The default tolerance, relative to the mean magnitude. A tolerance of 0 from the user is not replaced by the default.
 */
const toleranceFor = (dtype: string): number =>
  dtype === "float16" || dtype === "bfloat16" ? 2 ** -7 : 1e-5;

/**
 * Describes the first relevant difference between an output and the expected output; null if all differences are within
 * the tolerance. Other libraries add in another order, so the tolerance depends on a float's own magnitude and on the
 * tensor's mean magnitude.
 */
function differenceOf(actual: Tensor, expected: Tensor, tolerance: number | null): string | null {
  if (equals(actual, expected)) return null;
  const { dtype, size, shape } = expected;
  const isSameType = actual.dtype === dtype && sameShape(actual.shape, shape);
  if (!isSameType || !dtype.includes("float")) return compare(actual, expected, 0).sentence;
  const [a, b] = [actual, expected].map(
    ({ data }) => reader(dtype, data) as (at: number) => number,
  );
  let [sum, count] = [0, 0];
  for (let at = 0; at < size; at++) {
    if (!Number.isFinite(b(at))) continue;
    sum += Math.abs(b(at));
    count++;
  }
  const mean = sum / Math.max(count, 1);
  const part = tolerance ?? toleranceFor(dtype);
  for (let at = 0; at < size; at++) {
    const [is, not] = [a(at), b(at)];
    if (is === not || (Number.isNaN(is) && Number.isNaN(not))) continue;
    const isNear = Math.abs(is - not) <= part * (Math.abs(not) + mean);
    if (!isNear) return sentenceAt(actual, expected, at);
  }
  return null;
}

const areLike = (outputs: Expected, expected: Expected, tolerance: number | null): boolean =>
  [...expected].every(([name, value]) => {
    const output = outputs.get(name);
    return output !== undefined && differenceOf(output, value, tolerance) === null;
  });

/** A model, its inputs, and its expected outputs. */
export interface Expecting extends Whole {
  readonly expected: Expected;
  /** The user's tolerance; null if the user chose none. */
  readonly tolerance: number | null;
}

export async function compareExpected(options: Expecting): Promise<readonly ExpectedOutput[]> {
  const { bytes, model, feeds, expected, tolerance, createSession } = options;
  const names = [...expected.keys()];
  const run = (session: OpenSession): Promise<Expected> => session.run(feeds, names);
  const outputs = await failureOr(() => withModel(createSession, model, run, bytes));
  if (outputs instanceof RuntimeFailure) {
    const sentence = `the runtime says: ${outputs.message}`;
    return names.map((name) => ({ name, isExpected: false, sentence }));
  }
  return [...expected].map(([name, value]) => {
    const difference = differenceOf(outputs.get(name) as Tensor, value, tolerance);
    const isExpected = difference === null;
    return { name, isExpected, sentence: isExpected ? "" : `${name}${difference}` };
  });
}

/** Returns true if a session gives the expected outputs. */
export async function givesExpected(
  open: () => Promise<Pick<OpenSession, "run" | "release">>,
  feeds: Expected,
  expected: Expected,
  tolerance: number | null,
): Promise<boolean> {
  const session = await open();
  try {
    return areLike(await session.run(feeds, [...expected.keys()]), expected, tolerance);
  } finally {
    await session.release();
  }
}

/** The maximum number of reported changes per node. */
const MOST_CHANGES = 5;

/** Returns changes of single nodes that give the expected outputs. */
export async function findChanges(
  options: Expecting,
  index: NodeIndex,
  captured: readonly CapturedCall[],
): Promise<readonly ExpectedChange[]> {
  const end = performance.now() + VERIFY.searchTime;
  const found: ExpectedChange[] = [];
  for (const one of captured) {
    const { path, call } = one;
    const { node, place } = index.find(path);
    if (call === null || call.inputs.includes(undefined) || place.kind.is !== "model") continue;
    const inputs = call.inputs as readonly Tensor[];
    const tail = tailOf(options, node.outputs[0]);
    if (tail === null) continue;
    const ids = new Set<string>();
    try {
      for (const { result, ...change } of otherCalls(call.node, inputs)) {
        // Single changes come before pairs of changes, because a single change is stronger evidence. Changes that other
        // nodes can express come first.
        if (ids.size > 0 && change.id.includes("+")) break;
        if (ids.has(change.id)) continue;
        const outputs = await tail.run(result);
        if (outputs !== null && areLike(outputs, options.expected, options.tolerance)) {
          found.push({ path, ...change, ranks: inputs.map(({ shape }) => shape.length) });
          ids.add(change.id);
        }
        if (ids.size === MOST_CHANGES || performance.now() > end) break;
      }
    } finally {
      await tail.release();
    }
  }
  return found.toSorted((a, b) => Number(a.id.includes("+")) - Number(b.id.includes("+")));
}

/** The nodes after a value, which can run with another value. */
interface Tail {
  /** Computes the outputs that have expected values; null if the runtime fails. */
  run(value: Tensor): Promise<Expected | null>;
  release(): Promise<void>;
}

/** Returns a runner for the nodes after a value; null if no expected output depends on the value. */
function tailOf({ model, feeds, expected, createSession }: Expecting, name: string): Tail | null {
  const { graph } = model;
  const names = [...expected.keys()];
  const behind = names.filter((one) => one !== name);
  const place = { has: (one: string) => one === name || feeds.has(one) };
  if (!neededNodes(graph, names, place).names.has(name)) return null;
  // The session is created when the first value arrives, because the data type is not known earlier.
  let session: OpenSession | null = null;
  return {
    async run(value) {
      if (behind.length === 0) return new Map([[name, value]]);
      const given = new Map([...feeds, [name, value]]);
      const outputs = await failureOr(async () => {
        if (session === null) {
          const cut = cutModel(model, graph, behind, given);
          // Shapes are left open, because later values may have other shapes.
          const inputs = cut.graph.inputs.map((one) =>
            one.name === name ? { name, type: { dtype: value.dtype, shape: null } } : one,
          );
          session = await openModel(createSession, { ...cut, graph: { ...cut.graph, inputs } });
        }
        return session.run(given, behind);
      });
      return outputs instanceof RuntimeFailure ? null : new Map([...outputs, [name, value]]);
    },
    release: async () => session?.release(),
  };
}
