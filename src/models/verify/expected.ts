/**
 * Compares the outputs of a model with the outputs that a person expects, such as PyTorch's, and looks for a change of
 * one scatter or gather that gives them. The user's runtime computes the nodes after the changed node from its new
 * result.
 */

import { TensorError } from "../../core/errors.ts";
import { VERIFY } from "../../core/limits.ts";
import { reader } from "../../core/tensor/scalar.ts";
import { sameShape } from "../../core/tensor/shape.ts";
import { otherCalls, type OtherCall } from "../../insight/diagnose/other-calls.ts";
import { recordFrom } from "../model/foreign.ts";
import { listNames, quote } from "../model/graph.ts";
import { asTensor, equals, type Tensor } from "../../core/tensor/tensor.ts";
import type { Model } from "../model/model.ts";
import type { NodeIndex } from "../model/node-index.ts";
import { neededNodes } from "../split/needed.ts";
import type { CapturedCall } from "./capture.ts";
import { openModel } from "./carried.ts";
import { compare, sentenceAt } from "./compare.ts";
import { cutModel } from "./cut.ts";
import { RuntimeFailure, type CreateSession, type OpenSession } from "./session.ts";

export type Expected = ReadonlyMap<string, Tensor>;

/** An output of the model, compared with the expected one. */
export interface ExpectedOutput {
  readonly name: string;
  /** True if the data type and the shape are the same, and no element differs by more than the tolerance. */
  readonly isExpected: boolean;
  /** The first difference beyond the tolerance in words; empty if the output is the expected one. */
  readonly sentence: string;
}

/** A change of one node with which the model gives the expected outputs. */
export interface ExpectedChange extends Omit<OtherCall, "result"> {
  /** The path of the node, as `NodeIndex.find` accepts it. */
  readonly path: string;
  /** The ranks of the node's inputs. */
  readonly ranks: readonly number[];
}

/** The comparison with expected outputs. */
export interface ExpectedReport {
  readonly outputs: readonly ExpectedOutput[];
  /**
   * Changes that give the expected outputs, most likely first, at most 5 of a node; empty if the model gives them, or
   * if no change of a single scatter or gather in the model's own graph does.
   */
  readonly changes: readonly ExpectedChange[];
}

/**
 * Returns the checked expected outputs.
 * @throws TensorError `shape-mismatch` for a name that is not an output of the model
 */
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

/** Largest accepted difference, relative to the mean magnitude, if the user chose none. 0 is a choice. */
const toleranceFor = (dtype: string): number =>
  dtype === "float16" || dtype === "bfloat16" ? 2 ** -7 : 1e-5;

/**
 * Describes the first difference between an output and the expected one; null if none counts. Other libraries add in
 * another order, so floats may differ by a part of their own magnitude and of the tensor's mean magnitude.
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

/** The model, its inputs, and what is expected of it. */
export interface Expecting {
  readonly bytes: Uint8Array;
  readonly model: Model;
  readonly feeds: Expected;
  readonly expected: Expected;
  /** The tolerance; null if the user chose none. */
  readonly tolerance: number | null;
  readonly createSession: CreateSession;
}

/** Returns each expected output with its comparison. */
export async function compareExpected(options: Expecting): Promise<readonly ExpectedOutput[]> {
  const { bytes, model, feeds, expected, tolerance, createSession } = options;
  const names = [...expected.keys()];
  try {
    const session = await openModel(createSession, model, bytes);
    try {
      const outputs = await session.run(feeds, names);
      return [...expected].map(([name, value]) => {
        const actual = outputs.get(name) as Tensor;
        const difference = differenceOf(actual, value, tolerance);
        const isExpected = difference === null;
        return { name, isExpected, sentence: isExpected ? "" : `${name}${difference}` };
      });
    } finally {
      await session.release();
    }
  } catch (error) {
    if (!(error instanceof RuntimeFailure)) throw error;
    const sentence = `the runtime says: ${error.message}`;
    return names.map((name) => ({ name, isExpected: false, sentence }));
  }
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

/** The maximum number of changes of a node in a report. */
const MOST_CHANGES = 5;

/** Returns the changes of single nodes that give the expected outputs. */
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
        // Single changes come before pairs, because they prove more, and changes that other nodes can express come
        // first.
        if (ids.size > 0 && change.id.includes("+")) break;
        if (ids.has(change.id)) continue;
        // oxlint-disable-next-line no-await-in-loop
        const outputs = await tail.run(result);
        if (outputs !== null && areLike(outputs, options.expected, options.tolerance)) {
          found.push({ path, ...change, ranks: inputs.map(({ shape }) => shape.length) });
          ids.add(change.id);
        }
        if (ids.size === MOST_CHANGES || performance.now() > end) break;
      }
    } finally {
      // oxlint-disable-next-line no-await-in-loop
      await tail.release();
    }
  }
  return found.toSorted((a, b) => Number(a.id.includes("+")) - Number(b.id.includes("+")));
}

/** Runs the nodes after a value, with other values in its place. */
interface Tail {
  /** Returns the expected outputs; null if the runtime fails. */
  run(value: Tensor): Promise<Expected | null>;
  release(): Promise<void>;
}

/** Returns a runner of the nodes after a value; null if no expected output depends on the value. */
function tailOf({ model, feeds, expected, createSession }: Expecting, name: string): Tail | null {
  const { graph } = model;
  const names = [...expected.keys()];
  const behind = names.filter((one) => one !== name);
  const place = { has: (one: string) => one === name || feeds.has(one) };
  if (!neededNodes(graph, names, place).names.has(name)) return null;
  // The session is created with the first value, because the data type is unknown before.
  let session: OpenSession | null = null;
  let fed: readonly string[] = [];
  return {
    async run(value) {
      if (behind.length === 0) return new Map([[name, value]]);
      const given = new Map([...feeds, [name, value]]);
      try {
        if (session === null) {
          const cut = cutModel(model, graph, behind, given);
          fed = cut.inputs;
          // Later values may have other shapes.
          const inputs = cut.model.graph.inputs.map((one) =>
            one.name === name ? { name, type: { dtype: value.dtype, shape: null } } : one,
          );
          session = await openModel(createSession, {
            ...cut.model,
            graph: { ...cut.model.graph, inputs },
          });
        }
        const own = new Map(fed.map((one) => [one, given.get(one) as Tensor]));
        return new Map([...(await session.run(own, behind)), [name, value]]);
      } catch (error) {
        if (error instanceof RuntimeFailure) return null;
        throw error;
      }
    },
    release: async () => session?.release(),
  };
}
