/**
 * Runs nodes with bodies: `If` runs one branch, Loop and Scan run their body once per iteration, and a function call
 * runs the function's graph.
 *
 * ONNX: Operators, If-1 to -25, Loop-1 to -25, Scan-9 to -25; IR, Functions.
 */

import { runNode as run } from "../../core/functions.ts";
import { malformed, TensorError } from "../../core/errors.ts";
import type { TensorType } from "../../core/operators/operator.ts";
import { tensor, zeros, type Tensor } from "../../core/tensor/tensor.ts";
import { quote } from "../model/graph.ts";
import { nodeTitle, type ModelNode, type ValueInfo } from "../model/model.ts";
import type { BodyStep, GraphPlan } from "./steps.ts";
import { integers, scannedInputs, shapeOf } from "../verify/frames.ts";
import { stack } from "./stack.ts";
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
    const isTaken = scalarOf(required(own, 0), "the condition") !== 0;
    return runGraph(own, isTaken ? body : other, new Frame(own.frame));
  }
  if (body.outer === null) return runFunction(own, body);
  return own.node.op === "Loop" ? runLoop(own, body) : runScan(own, body);
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

async function runLoop(own: BodyRun, body: GraphPlan): Promise<readonly (Value | null)[]> {
  const [number, going, ...states] = body.graph.inputs;
  const [most, condition] = own.inputs;
  await own.model.toHost([most, condition]);
  if (going === undefined)
    throw malformed(`the body of ${nodeTitle(own.node)} must have 2 inputs`, {
      node: nodeTitle(own.node),
      key: "inputs",
      expected: 2,
    });
  const limit = most === null ? Infinity : scalarOf(most, "the number of iterations");
  let isGoing = condition === null || scalarOf(condition, "the condition") !== 0;
  const iterations = new Iterations(own, body, states, 1);
  for (let at = 0; isGoing && at < limit; at++) {
    const count = tensor("int64", shapeOf(number), BigInt64Array.of(BigInt(at)));
    const isOn = tensor("bool", shapeOf(going), Uint8Array.of(1));
    const given: [string, Tensor][] = [
      [number.name, count],
      [going.name, isOn],
    ];
    // oxlint-disable-next-line no-await-in-loop
    const [next] = await iterations.run(given);
    // oxlint-disable-next-line no-await-in-loop
    await own.model.toHost([next]);
    isGoing = scalarOf(next, "the condition") !== 0;
    next.release();
  }
  return iterations.outputs(() => ({ axis: 0, isReverse: false }));
}

async function runScan(own: BodyRun, body: GraphPlan): Promise<readonly (Value | null)[]> {
  const { node, inputs } = own;
  await own.model.toHost(inputs);
  const scanned = scannedInputs(
    node,
    inputs.map((value, at) => value?.tensor(node.inputs[at])),
  );
  const first = inputs.length - scanned.length;
  const names = body.graph.inputs.slice(first).map(({ name }) => name);
  const iterations = new Iterations(own, body, body.graph.inputs.slice(0, first), 0);
  const [{ length }] = scanned;
  for (let at = 0; at < length; at++) {
    const slices = scanned.map(({ value, axis, isReverse }, nth): [string, Tensor] => {
      const index = tensor("int64", [], BigInt(isReverse ? length - 1 - at : at));
      const [slice] = run({ op: "Gather", opset: 13, attributes: { axis } }, [value, index]);
      return [names[nth], slice];
    });
    // oxlint-disable-next-line no-await-in-loop
    await iterations.run(slices);
  }
  const axes = integers(node, "scan_output_axes");
  const directions = integers(node, "scan_output_directions");
  return iterations.outputs((nth) => ({
    axis: Number(axes[nth] ?? 0),
    isReverse: Number(directions[nth]) === 1,
  }));
}

/** The axis and the order in which an output stacks the results of all iterations. */
interface Stacking {
  readonly axis: number;
  readonly isReverse: boolean;
}

/** The values that pass from one iteration to the next, and the values collected from all iterations. */
class Iterations {
  readonly #own: BodyRun;
  readonly #body: GraphPlan;
  readonly #states: readonly ValueInfo[];
  readonly #before: number;
  readonly #collected: Value[][];
  #carried: readonly Value[];

  constructor(own: BodyRun, body: GraphPlan, states: readonly ValueInfo[], before: number) {
    this.#own = own;
    this.#body = body;
    this.#states = states;
    this.#before = before;
    // In a Loop's inputs, the states follow the iteration number and the condition.
    const first = 2 * before;
    this.#carried = states.map((_, at) => required(own, first + at).hold());
    const count = body.graph.outputs.length - before - states.length;
    this.#collected = Array.from({ length: count }, () => []);
  }

  /** Runs the body once, and returns the outputs that precede the states. The caller releases each output once. */
  async run(given: readonly (readonly [name: string, value: Tensor])[]): Promise<readonly Value[]> {
    const frame = new Frame(this.#own.frame);
    for (const [name, value] of given) frame.set(name, Value.ofTensor(value));
    for (const [at, { name }] of this.#states.entries()) {
      frame.set(name, this.#carried[at]);
      this.#carried[at].release();
    }
    const outputs = await runGraph(this.#own, this.#body, frame);
    const [first, end] = [this.#before, this.#before + this.#states.length];
    this.#carried = outputs.slice(first, end);
    for (const [nth, value] of outputs.slice(end).entries()) {
      if (this.#isCollected(nth)) this.#collected[nth].push(value);
      else value.release();
    }
    return outputs.slice(0, first);
  }

  /**
   * Returns true if a collected output is needed. An unneeded output would occupy memory, and its type may be unknown.
   */
  #isCollected(nth: number): boolean {
    const { node, dropped } = this.#own;
    const { [this.#states.length + nth]: name = "" } = node.outputs;
    return name !== "" && !dropped.includes(name);
  }

  /** Returns the node's outputs, with null for an output that is not needed. The caller releases each output once. */
  async outputs(stackingOf: (nth: number) => Stacking): Promise<readonly (Value | null)[]> {
    await this.#own.model.toHost(this.#collected.flat());
    const first = this.#before + this.#states.length;
    const infos = this.#body.graph.outputs.slice(first);
    const stacked = this.#collected.map((values, nth) => {
      if (!this.#isCollected(nth)) return null;
      const { axis, isReverse } = stackingOf(nth);
      const { name } = infos[nth];
      const slices = values.map((value) => value.tensor(name));
      if (isReverse) slices.reverse();
      const [one] = slices;
      const made =
        one === undefined
          ? this.#empty(name)
          : stack(slices, axis < 0 ? axis + one.shape.length + 1 : axis, nodeTitle(this.#own.node));
      for (const value of values) value.release();
      return Value.ofTensor(made).hold();
    });
    return [...this.#carried, ...stacked];
  }

  /**
   * Returns the output of a loop without iterations. As in onnxruntime, unknown sizes become 0. A value of unknown rank
   * is refused. onnxruntime gives such a value the shape [0] if its own inference does not know the rank either, and
   * another shape otherwise.
   */
  #empty(name: string): Tensor {
    const { model, node } = this.#own;
    const type = model.typeOf(this.#body, name);
    const dims = type?.shape ?? this.#body.scope.typeOf(name)?.shape ?? null;
    if (type !== null && dims !== null) {
      return zeros(type.dtype, [0, ...dims.map((dim) => (typeof dim === "number" ? dim : 0))]);
    }
    const what = type === null ? "data type" : "shape";
    const sentence = `${nodeTitle(node)} has no iteration, and the model does not declare the ${what} of ${quote(name)}, which the loop collects; declare the type in the model`;
    throw new TensorError("unsupported-model", sentence, { input: name, node: nodeTitle(node) });
  }
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

function scalarOf(value: Value, what: string): number {
  const { data, size } = value.tensor(what);
  if (size === 1) return Number(data[0]);
  throw malformed(`${what} must have one element, got ${size}`, { got: size, expected: 1 });
}
