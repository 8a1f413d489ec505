/**
 * Runs a plan's steps, also in the bodies of a node: `If` runs one branch, Loop and Scan run their body once per
 * iteration, and a function call runs the function's graph.
 *
 * ONNX: Operators, If-1 to -25; IR, Functions.
 */

import { runCall } from "../../core/functions.ts";
import { isTensorError, malformed, TensorError } from "../../core/errors.ts";
import type { TensorType } from "../../core/operators/operator.ts";
import { zeros, type Tensor } from "../../core/tensor/tensor.ts";
import { iterationsOf, numberOf, slicingOf, stack } from "../control-flow/iterations.ts";
import { MAX_NAMES, quote } from "../model/graph.ts";
import { nodeTitle, type ModelNode } from "../model/model.ts";
import { namingNode, withTitle } from "../model/run-model.ts";
import { callOnEngine, type ExactGpu } from "./gpu.ts";
import { readByGlue, runGlue } from "./glue.ts";
import { partTitle, type OpenParts } from "./open.ts";
import type { BodyStep, CallStep, GraphPlan, SessionStep } from "./steps.ts";
import { Frame, Value } from "./values.ts";
import { orRuntimeError } from "../verify/session.ts";

export interface RunOptions {
  readonly parts: OpenParts;
  /** Run options for the runtime's sessions. */
  readonly options: unknown;
  readonly gpu: ExactGpu | null;
  /** Receives each tensor that a session returns. */
  readonly onTensor: (value: unknown) => void;
}

/** A step while it runs. */
interface StepRun {
  readonly plan: GraphPlan;
  /** The values of the plan's graph. */
  readonly frame: Frame;
  /** The names that are not needed after the step. */
  readonly dropped: readonly string[];
}

export class ModelRun {
  readonly #run: RunOptions;
  readonly #onGpu = new Set<ModelNode>();

  constructor(run: RunOptions) {
    this.#run = run;
  }

  /**
   * Runs the steps of the model's graph. A failed run releases its values. GPU errors are only available at the end of a
   * run, and name the nodes that may have caused them.
   */
  async all(plan: GraphPlan, frame: Frame): Promise<void> {
    try {
      await this.steps(plan, frame);
      await this.#end();
    } catch (error) {
      // The GPU errors of this run must not appear in the next run.
      await this.#end().catch(() => {});
      frame.dropAll();
      throw error;
    }
  }

  async #end(): Promise<void> {
    if (this.#onGpu.size === 0) return;
    try {
      await this.#run.gpu?.done();
    } catch (cause) {
      throw isTensorError(cause) ? withTitle(cause, titleFor([...this.#onGpu], cause)) : cause;
    }
  }

  /** Copies values from the GPU to the host, where this package's operators can read them. */
  async toHost(values: readonly (Value | null | undefined)[]): Promise<void> {
    const gpu = this.#run.gpu;
    if (gpu === null) return;
    await Promise.all(values.map((value) => value?.toHost(gpu, "a value on the GPU")));
  }

  /**
   * Runs the steps of a graph. Before the run, `frame` contains the graph's inputs; after the run, it contains the
   * outputs.
   */
  async steps(plan: GraphPlan, frame: Frame): Promise<void> {
    for (const [at, step] of plan.steps.entries()) {
      const here = { plan, frame, dropped: plan.drops[at] };
      switch (step.is) {
        case "session":
          // Steps run one after another, because a step needs earlier values.
          await this.#runSession(here, step);
          break;
        case "call":
          await this.#call(here, step);
          break;
        case "glue": {
          const values = step.node.inputs.map((name) => this.valueOf(plan, frame, name));
          if (this.#run.gpu !== null) await this.toHost(readByGlue(step.node, values));
          frame.set(step.node.outputs[0], runGlue(step.node, plan.opsets, values, this.#run.gpu));
          break;
        }
        case "body":
          await runBodies(this, here, step);
      }
      for (const name of here.dropped) frame.drop(name);
    }
  }

  /** Returns a value from the graph or an enclosing graph. Throws `malformed-file` for a value that does not exist. */
  valueOf(plan: GraphPlan, frame: Frame, name: string): Value {
    const value = frame.get(name) ?? this.#run.parts.constant(plan, name);
    if (value !== null) return value;
    throw malformed(`no node computes ${quote(name)}`, { input: name });
  }

  typeOf(plan: GraphPlan, name: string): TensorType | null {
    return this.#run.parts.types.typeOf(plan, name);
  }

  async #runSession({ plan, frame }: StepRun, step: SessionStep): Promise<void> {
    const part = this.#run.parts.sessions.get(step);
    if (part === undefined) throw malformed("the session was released");
    const feeds: [string, unknown][] = [];
    for (const name of part.inputs) {
      feeds.push([name, this.valueOf(plan, frame, name).forRuntime()]);
    }
    const more = this.#run.options === undefined ? [] : [this.#run.options as never];
    const made = await orRuntimeError("run", partTitle(step.nodes), step.nodes, () =>
      part.session.run(Object.fromEntries(feeds) as never, ...more),
    );
    for (const name of step.outputs) {
      const value: unknown = Reflect.get(made, name);
      this.#run.onTensor(value);
      frame.set(name, new Value(value));
    }
  }

  /** Runs a replaced node, on the GPU if an input is there and the engine supports the node. */
  async #call(here: StepRun, step: CallStep): Promise<void> {
    const { plan, frame } = here;
    const { node, call } = step;
    const [output] = node.outputs;
    const { gpu } = this.#run;
    const values = node.inputs.map((name) =>
      name === "" ? null : this.valueOf(plan, frame, name),
    );
    const [data] = values;
    const mayReuse = mayOverwrite(here, step, values);
    if (gpu !== null && values.some((value) => value?.isOnGpu)) {
      const isInPlace = mayReuse && data?.isOnGpu === true;
      this.#onGpu.add(node);
      const made = namingNode(node, () => {
        const inputs = values.map((value, at) => value?.onGpu(gpu, node.inputs[at]));
        return callOnEngine(gpu, call, inputs, isInPlace ? inputs[0] : undefined);
      });
      if (made !== null) {
        frame.set(output, isInPlace ? data : new Value(null, { device: made }));
        return;
      }
      await this.toHost(values);
    }
    const tensors = values.map((value, at) => value?.tensor(node.inputs[at]));
    const made = namingNode(node, () => runCall(call, tensors, mayReuse ? tensors[0] : undefined));
    // An in-place scatter returns its data tensor under another name.
    const isSame = mayReuse && data?.given === null;
    frame.set(output, isSame ? data.freeCopy() : new Value(made));
  }
}

/** Returns a title for the nodes that may have failed, because the engine reports only the operator. */
function titleFor(nodes: readonly ModelNode[], { op }: TensorError): string {
  const same = nodes.filter((node) => node.op === op);
  const titles = [...new Set((same.length === 0 ? nodes : same).map(nodeTitle))];
  return titles.length === 1 ? titles[0] : `one of ${titles.slice(0, MAX_NAMES).join(", ")}`;
}

/**
 * Returns true if a scatter may overwrite its data: no later step needs the data, and no other input shares its memory.
 */
function mayOverwrite(
  { frame, dropped }: StepRun,
  { node, mayBeInPlace }: CallStep,
  values: readonly (Value | null)[],
): boolean {
  const [name] = node.inputs;
  const [data] = values;
  return (
    mayBeInPlace &&
    dropped.includes(name) &&
    frame.mayChange(name) &&
    values.every((value, at) => at === 0 || value !== data)
  );
}

/** A node with bodies while it runs. */
interface BodyRun extends StepRun {
  readonly model: ModelRun;
  readonly node: ModelNode;
  readonly inputs: readonly (Value | null)[];
}

/** Runs a node's bodies, and stores the node's outputs. */
async function runBodies(
  model: ModelRun,
  here: StepRun,
  { node, bodies }: BodyStep,
): Promise<void> {
  const { plan, frame } = here;
  const [body] = bodies;
  // The function's graph contains these constants. Weights that only the runtime uses are not read.
  const isThere = (at: number): boolean =>
    body.outer === null && body.constants.has(body.graph.inputs[at]?.name ?? "");
  const inputs = node.inputs.map((name, at) =>
    name === "" || isThere(at) ? null : model.valueOf(plan, frame, name),
  );
  const outputs = await outputsOf({ ...here, model, node, inputs }, bodies);
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
    const isTaken = await isTrue(own.model, required(own, 0).hold());
    return runGraph(own, isTaken ? body : other, new Frame(own.frame));
  }
  if (body.outer !== null) return runIterations(own, body);
  // A function cannot use values of the calling graph.
  const frame = new Frame();
  for (const [at, { name }] of body.graph.inputs.entries()) {
    const { [at]: value = null } = own.inputs;
    if (value !== null) frame.set(name, value);
  }
  return runGraph(own, body, frame);
}

/** Runs a graph once, with inputs from `frame`. The caller releases each output once. */
async function runGraph(
  { model }: BodyRun,
  body: GraphPlan,
  frame: Frame,
): Promise<readonly Value[]> {
  try {
    await model.steps(body, frame);
    return body.graph.outputs.map(({ name }) => model.valueOf(body, frame, name).hold());
  } finally {
    frame.dropAll();
  }
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
  try {
    for (let at = 0; isGoing && at < loop.count; at++) {
      const frame = new Frame(own.frame);
      for (const [name, value] of loop.given(at)) frame.set(name, new Value(value));
      for (const [nth, name] of loop.states.entries()) {
        frame.set(name, states[nth]);
        states[nth].release();
      }
      states = [];
      const outputs = await runGraph(own, body, frame);
      states = outputs.slice(loop.skipped, end);
      for (const [nth, value] of outputs.slice(end).entries()) {
        if (collected[nth].isNeeded) collected[nth].values.push(value);
        else value.release();
      }
      for (const next of outputs.slice(0, loop.skipped)) isGoing = await isTrue(model, next);
    }
    await model.toHost(collected.flatMap(({ values }) => values));
    const stacked = collected.map(({ name, isNeeded, values }, nth) => {
      if (!isNeeded) return null;
      const results = values.map((value) => value.tensor(name));
      const slicing = slicingOf(node, "output", nth);
      const made =
        results.length === 0
          ? noResults(own, body, name)
          : stack(results, slicing, nodeTitle(node));
      for (const value of values.splice(0)) value.release();
      return new Value(made).hold();
    });
    return [...states, ...stacked];
  } catch (error) {
    for (const value of [...states, ...collected.flatMap(({ values }) => values)]) value.release();
    throw error;
  }
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
  const title = nodeTitle(node);
  throw malformed(
    `the number of inputs of ${title} must be at least ${at + 1}, got ${inputs.length}`,
    { node: title, key: "inputs", got: inputs.length, expected: at + 1 },
  );
}

/** Reads and releases the condition of an If or a Loop. */
async function isTrue(model: ModelRun, condition: Value): Promise<boolean> {
  try {
    await model.toHost([condition]);
    return numberOf(condition.scalar("the condition")) !== 0;
  } finally {
    condition.release();
  }
}
