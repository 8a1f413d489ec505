/**
 * Runs nodes with bodies: `If` runs one branch, Loop and Scan run their body once per iteration, and a function call
 * runs the function's graph.
 *
 * ONNX: Operators, If-1 to -25, Loop-1 to -25, Scan-9 to -25; IR, Functions.
 */

import { malformed, TensorError } from "../../core/errors.ts";
import type { TensorType } from "../../core/operators/operator.ts";
import { zeros, type Tensor } from "../../core/tensor/tensor.ts";
import { iterationsOf, numberOf, slicingOf, stack } from "../control-flow/iterations.ts";
import { quote } from "../model/graph.ts";
import { nodeTitle, type ModelNode } from "../model/model.ts";
import type { BodyStep, GraphPlan } from "./steps.ts";
import { Frame, Value } from "./values.ts";

/** The methods of a run that bodies use. */
export interface StepsRun {
  /**
   * Runs the steps of a graph. Before the run, `frame` contains the graph's inputs; after the run, it contains the
   * outputs.
   */
  steps(plan: GraphPlan, frame: Frame): Promise<void>;
  /** Returns a value from the graph or an enclosing graph. Throws `malformed-file` for a value that does not exist. */
  valueOf(plan: GraphPlan, frame: Frame, name: string): Value;
  typeOf(plan: GraphPlan, name: string): TensorType | null;
  /** Copies values from a GPU to the host, where this package's operators can read them. */
  toHost(values: readonly (Value | null)[]): Promise<void>;
}

/** A node with bodies while it runs. */
interface BodyRun {
  readonly model: StepsRun;
  readonly node: ModelNode;
  readonly inputs: readonly (Value | null)[];
  /** The frame of the node's own graph. */
  readonly frame: Frame;
  readonly dropped: readonly string[];
}

/**
 * Runs a node's bodies, and stores the node's outputs in `frame`. The names in `dropped` are not needed after the node.
 */
export async function runBodies(
  model: StepsRun,
  plan: GraphPlan,
  { node, bodies }: BodyStep,
  frame: Frame,
  dropped: readonly string[],
): Promise<void> {
  const [body] = bodies;
  // The function's graph contains these constants. Weights that only the runtime uses are not read.
  const isThere = (at: number): boolean =>
    body.outer === null && body.constants.has(body.graph.inputs[at]?.name ?? "");
  const inputs = node.inputs.map((name, at) =>
    name === "" || isThere(at) ? null : model.valueOf(plan, frame, name),
  );
  const outputs = await outputsOf({ model, node, inputs, frame, dropped }, bodies);
  for (const [at, value] of outputs.entries()) {
    const { [at]: name = "" } = node.outputs;
    if (name !== "" && value !== null) frame.set(name, value);
    value?.release();
  }
}

/** Returns a node's outputs, with null for an output that is not collected. The caller releases each output once. */
async function outputsOf(
  own: BodyRun,
  bodies: readonly GraphPlan[],
): Promise<readonly (Value | null)[]> {
  const [body, other] = bodies;
  if (other !== undefined) {
    await own.model.toHost(own.inputs);
    const isTaken = isTrue(required(own, 0));
    return runGraph(own, isTaken ? body : other, new Frame(own.frame));
  }
  if (body.outer === null) return runFunction(own, body);
  return runIterations(own, body);
}

/** Runs a graph once, with inputs from `frame`. The caller releases each output once. */
async function runGraph(
  { model }: BodyRun,
  body: GraphPlan,
  frame: Frame,
): Promise<readonly Value[]> {
  await model.steps(body, frame);
  const outputs = body.graph.outputs.map(({ name }) => model.valueOf(body, frame, name).hold());
  frame.dropAll();
  return outputs;
}

function runFunction(own: BodyRun, body: GraphPlan): Promise<readonly Value[]> {
  // A function cannot use values of the calling graph.
  const frame = new Frame();
  for (const [at, { name }] of body.graph.inputs.entries()) {
    const value = own.inputs[at] ?? null;
    if (value !== null) frame.set(name, value);
  }
  return runGraph(own, body, frame);
}

async function runIterations(own: BodyRun, body: GraphPlan): Promise<readonly (Value | null)[]> {
  const { model, node, inputs } = own;
  await model.toHost(node.op === "Loop" ? inputs.slice(0, 2) : inputs);
  const loop = iterationsOf(node, body.graph, (at, what) => {
    const { [at]: value = null } = inputs;
    return what === undefined ? value?.tensor(node.inputs[at]) : value?.scalar(what);
  });
  let { isGoing } = loop;
  let states: readonly Value[] = loop.states.map((_, at) => required(own, loop.first + at).hold());
  const end = loop.skipped + states.length;
  const collected = body.graph.outputs.slice(end).map(({ name }, nth) => {
    const { [states.length + nth]: output = "" } = node.outputs;
    // An unneeded output would occupy memory, and its type may be unknown.
    return {
      name,
      isNeeded: output !== "" && !own.dropped.includes(output),
      values: [] as Value[],
    };
  });
  for (let at = 0; isGoing && at < loop.count; at++) {
    const frame = new Frame(own.frame);
    for (const [name, value] of loop.given(at)) frame.set(name, new Value(value));
    for (const [nth, name] of loop.states.entries()) {
      frame.set(name, states[nth]);
      states[nth].release();
    }
    // oxlint-disable-next-line no-await-in-loop
    const outputs = await runGraph(own, body, frame);
    for (const next of outputs.slice(0, loop.skipped)) {
      // oxlint-disable-next-line no-await-in-loop
      await model.toHost([next]);
      isGoing = isTrue(next);
      next.release();
    }
    states = outputs.slice(loop.skipped, end);
    for (const [nth, value] of outputs.slice(end).entries()) {
      if (collected[nth].isNeeded) collected[nth].values.push(value);
      else value.release();
    }
  }
  await model.toHost(collected.flatMap(({ values }) => values));
  return [
    ...states,
    ...collected.map(({ name, isNeeded, values }, nth) => {
      if (!isNeeded) return null;
      const results = values.map((value) => value.tensor(name));
      const slicing = slicingOf(node, "output", nth);
      const made =
        results.length === 0
          ? noResults(own, body, name)
          : stack(results, slicing, nodeTitle(node));
      for (const value of values) value.release();
      return new Value(made).hold();
    }),
  ];
}

/**
 * Returns the output of a loop without iterations. As in onnxruntime, unknown sizes become 0. A value of unknown rank
 * is refused. onnxruntime gives such a value the shape [0] if its own inference does not know the rank either, and
 * another shape otherwise.
 */
function noResults({ model, node }: BodyRun, body: GraphPlan, name: string): Tensor {
  const type = model.typeOf(body, name);
  const dims = type?.shape ?? body.scope.typeOf(name)?.shape ?? null;
  if (type !== null && dims !== null) {
    return zeros(type.dtype, [0, ...dims.map((dim) => (typeof dim === "number" ? dim : 0))]);
  }
  const what = type === null ? "data type" : "shape";
  const sentence = `${nodeTitle(node)} has no iteration, and the model does not declare the ${what} of ${quote(name)}, which the loop collects; declare the type in the model`;
  throw new TensorError("unsupported-model", sentence, { input: name, node: nodeTitle(node) });
}

function required({ node, inputs }: BodyRun, at: number): Value {
  const value = inputs[at] ?? null;
  if (value !== null) return value;
  throw malformed(
    `the number of inputs of ${nodeTitle(node)} must be at least ${at + 1}, got ${inputs.length}`,
    {
      node: nodeTitle(node),
      key: "inputs",
      got: inputs.length,
      expected: at + 1,
    },
  );
}

const isTrue = (value: Value): boolean => numberOf(value.scalar("the condition")) !== 0;
