/**
 * Runs a plan's steps, also in the bodies of a node: `If` runs one branch, Loop and Scan run their body once per
 * iteration, and a function call runs the function's graph.
 *
 * ONNX: Operators, If-1 to -25; IR, Functions.
 */

import { runCall } from "../../core/functions.ts";
import { isTensorError, malformed, TensorError } from "../../core/errors.ts";
import { zeros, type Tensor } from "../../core/tensor/tensor.ts";
import { iterationsOf, numberOf, slicingOf, stack } from "../control-flow/iterations.ts";
import { MAX_NAMES, quote } from "../model/graph.ts";
import { nodeTitle, type ModelNode } from "../model/model.ts";
import { namingNode, withTitle } from "../model/run-model.ts";
import { callOnEngine, type ExactGpu } from "./gpu.ts";
import { readByGlue, runGlue } from "./glue.ts";
import { partTitle, type OpenParts } from "./open.ts";
import type { TensorMaker } from "./runtime.ts";
import type { BodyStep, CallStep, GraphPlan, SessionStep } from "./steps.ts";
import { Value } from "./values.ts";
import { orRuntimeError } from "../verify/session.ts";

/** A run of the model, which the runs of its graphs share. */
export interface Run {
  readonly parts: OpenParts;
  /** Run options for the runtime's sessions. */
  readonly options: unknown;
  readonly gpu: ExactGpu | null;
  readonly maker: TensorMaker;
  /** The nodes that have run on the GPU. */
  readonly onGpu: Set<ModelNode>;
}

/** Copies values from the GPU to the host, where this package's operators can read them. */
async function toHost({ gpu }: Run, values: readonly (Value | null | undefined)[]): Promise<void> {
  if (gpu === null) return;
  await Promise.all(values.map((value) => value?.toHost(gpu)));
}

/** A node's outputs, with null for an output that is not needed. The caller releases each output once. */
type Outputs = readonly (Value | null)[];

/** A graph while it runs. Before the run, it has the values of its inputs; after the run, also those of its outputs. */
export class GraphRun {
  readonly #run: Run;
  readonly #plan: GraphPlan;
  /** The run of the enclosing graph, whose values a body may use. */
  readonly #outer: GraphRun | null;
  readonly #values = new Map<string, Value>();

  constructor(run: Run, plan: GraphPlan, outer: GraphRun | null = null) {
    this.#run = run;
    this.#plan = plan;
    this.#outer = outer;
  }

  set(name: string, value: Value): void {
    value.hold();
    this.drop(name);
    this.#values.set(name, value);
  }

  drop(name: string): void {
    this.#values.get(name)?.release();
    this.#values.delete(name);
  }

  #dropAll(): void {
    for (const name of this.#values.keys()) this.drop(name);
  }

  find(name: string): Value | undefined {
    return this.#values.get(name) ?? this.#outer?.find(name);
  }

  /** Returns a value from the graph or an enclosing graph. Throws `malformed-file` for a value that does not exist. */
  valueOf(name: string): Value {
    const value = this.find(name) ?? this.#run.parts.constant(this.#plan, name);
    if (value !== null) return value;
    throw malformed(`no node computes ${quote(name)}`, { input: name });
  }

  /**
   * Runs the model's graph. A failed run releases its values. GPU errors are only available at the end of a run, and
   * name the nodes that may have caused them.
   */
  async all(): Promise<void> {
    try {
      await this.#steps();
      await endOnGpu(this.#run);
    } catch (error) {
      // The GPU errors of this run must not appear in the next run.
      await endOnGpu(this.#run).catch(() => {});
      this.#dropAll();
      throw error;
    }
  }

  /** Runs a body or a function. The caller releases each output once. */
  async #outputs(): Promise<readonly Value[]> {
    try {
      await this.#steps();
      return this.#plan.graph.outputs.map(({ name }) => this.valueOf(name).hold());
    } finally {
      this.#dropAll();
    }
  }

  async #steps(): Promise<void> {
    for (const [at, step] of this.#plan.steps.entries()) {
      const dropped = this.#plan.drops[at];
      // Steps run one after another, because a step needs earlier values.
      if (step.is === "session") await this.#session(step);
      else if (step.is === "call") await this.#call(step, dropped);
      else if (step.is === "glue") await this.#glue(step.node);
      else await this.#bodies(step, dropped);
      for (const name of dropped) this.drop(name);
    }
  }

  async #session(step: SessionStep): Promise<void> {
    const { parts, options, maker } = this.#run;
    const part = parts.sessions.get(step);
    if (part === undefined) throw malformed("the session was released");
    const feeds = part.inputs.map((name) => [name, this.valueOf(name).forRuntime()] as const);
    const more = options === undefined ? [] : [options as never];
    const made = await orRuntimeError("run", partTitle(step.nodes), step.nodes, () =>
      part.session.run(Object.fromEntries(feeds) as never, ...more),
    );
    for (const name of step.outputs) {
      const value: unknown = Reflect.get(made, name);
      maker.learn(value);
      this.set(name, new Value(value));
    }
  }

  async #glue(node: ModelNode): Promise<void> {
    const values = node.inputs.map((name) => this.valueOf(name));
    const { gpu } = this.#run;
    if (gpu !== null) await toHost(this.#run, readByGlue(node, values));
    this.set(node.outputs[0], runGlue(node, this.#plan.opsets, values, gpu));
  }

  /** Runs a replaced node, on the GPU if an input is there and the engine supports the node. */
  async #call({ node, call }: CallStep, dropped: readonly string[]): Promise<void> {
    const { gpu, onGpu } = this.#run;
    const values = node.inputs.map((name) => (name === "" ? null : this.valueOf(name)));
    const [data] = values;
    const isScatter = call.operator.kind === "scatter";
    const mayReuse = isScatter && this.#mayOverwrite(node.inputs[0], values, dropped);
    const keep = (value: Value): void => this.set(node.outputs[0], value);
    if (gpu !== null && values.some((value) => value?.isOnGpu)) {
      const isInPlace = mayReuse && data?.isOnGpu === true;
      onGpu.add(node);
      const made = namingNode(node, () => {
        const inputs = values.map((value, at) => value?.onGpu(gpu, node.inputs[at]));
        return callOnEngine(gpu, call, inputs, isInPlace ? inputs[0] : undefined);
      });
      if (made !== null) return keep(isInPlace ? data : new Value(null, { device: made }));
      await toHost(this.#run, values);
    }
    const tensors = values.map((value, at) => value?.tensor(node.inputs[at]));
    const made = namingNode(node, () => runCall(call, tensors, mayReuse ? tensors[0] : undefined));
    // An in-place scatter returns its data tensor under another name.
    keep(mayReuse && data?.given === null ? data.freeCopy() : new Value(made));
  }

  /**
   * Returns true if a scatter may overwrite its data: the run made the data, no later step needs the data, and no other
   * name or input refers to its memory.
   */
  #mayOverwrite(
    name: string,
    [data, ...others]: readonly (Value | null)[],
    dropped: readonly string[],
  ): boolean {
    const isOnly = data !== null && this.#values.get(name) === data && data.holders === 1;
    return isOnly && data.isOwn && dropped.includes(name) && !others.includes(data);
  }

  /** Runs a node's bodies, and stores the node's outputs. */
  async #bodies({ node, bodies }: BodyStep, dropped: readonly string[]): Promise<void> {
    const [body, other] = bodies;
    // The function's graph contains these constants. Weights that only the runtime uses are not read.
    const isThere = (at: number): boolean =>
      body.outer === null && body.constants.has(body.graph.inputs[at]?.name ?? "");
    const inputs = node.inputs.map((name, at) =>
      name === "" || isThere(at) ? null : this.valueOf(name),
    );
    let outputs: Outputs;
    if (other !== undefined) {
      const isTaken = await isTrue(this.#run, required(node, inputs, 0).hold());
      outputs = await new GraphRun(this.#run, isTaken ? body : other, this).#outputs();
    } else if (body.outer === null) {
      // A function cannot use values of the calling graph.
      const inside = new GraphRun(this.#run, body);
      for (const [at, { name }] of body.graph.inputs.entries()) {
        const { [at]: value = null } = inputs;
        if (value !== null) inside.set(name, value);
      }
      outputs = await inside.#outputs();
    } else outputs = await this.#iterations(node, inputs, body, dropped);
    for (const [at, value] of outputs.entries()) {
      const { [at]: name = "" } = node.outputs;
      if (name !== "" && value !== null) this.set(name, value);
      value?.release();
    }
  }

  async #iterations(
    node: ModelNode,
    inputs: readonly (Value | null)[],
    body: GraphPlan,
    dropped: readonly string[],
  ): Promise<Outputs> {
    await toHost(this.#run, node.op === "Loop" ? inputs.slice(0, 2) : inputs);
    const loop = iterationsOf(node, body.graph, (at, what) => {
      const { [at]: value = null } = inputs;
      return what === undefined ? value?.tensor(node.inputs[at]) : value?.scalar(what);
    });
    let { isGoing } = loop;
    let states = loop.states.map((_, at) => required(node, inputs, loop.first + at));
    for (const state of states) state.hold();
    const end = loop.skipped + states.length;
    // An unneeded output would occupy memory, and its type may be unknown.
    const isNeeded = (name: string): boolean => name !== "" && !dropped.includes(name);
    const collected = body.graph.outputs
      .slice(end)
      .map((_, nth) =>
        isNeeded(node.outputs[states.length + nth] ?? "") ? ([] as Value[]) : null,
      );
    try {
      for (let at = 0; isGoing && at < loop.count; at++) {
        const inside = new GraphRun(this.#run, body, this);
        for (const [name, value] of loop.given(at)) inside.set(name, new Value(value));
        for (const [nth, name] of loop.states.entries()) inside.set(name, states[nth]);
        for (const state of states.splice(0)) state.release();
        const outputs = await inside.#outputs();
        states = outputs.slice(loop.skipped, end);
        for (const [nth, value] of outputs.slice(end).entries()) {
          const { [nth]: values } = collected;
          if (values === null) value.release();
          else values.push(value);
        }
        for (const next of outputs.slice(0, loop.skipped)) isGoing = await isTrue(this.#run, next);
      }
      await toHost(
        this.#run,
        collected.flatMap((values) => values ?? []),
      );
      const stacked = collected.map((values, nth) => {
        if (values === null) return null;
        const { name } = body.graph.outputs[end + nth];
        const results = values.map((value) => value.tensor(name));
        const made =
          results.length === 0
            ? this.#noResults(node, body, name)
            : stack(results, slicingOf(node, "output", nth), nodeTitle(node));
        for (const value of values.splice(0)) value.release();
        return new Value(made).hold();
      });
      return [...states, ...stacked];
    } catch (error) {
      for (const value of [...states, ...collected.flat()]) value?.release();
      throw error;
    }
  }

  /**
   * Returns the output of a loop without iterations. As in onnxruntime, unknown sizes become 0. A value of unknown rank
   * is refused. onnxruntime gives such a value the shape [0] if its own inference does not know the rank either, and
   * another shape otherwise.
   */
  #noResults(node: ModelNode, body: GraphPlan, name: string): Tensor {
    const type = this.#run.parts.types.typeOf(body, name);
    const dims = type?.shape ?? body.scope.typeOf(name)?.shape ?? null;
    if (type !== null && dims !== null) {
      return zeros(type.dtype, [0, ...dims.map((dim) => (typeof dim === "number" ? dim : 0))]);
    }
    const what = type === null ? "data type" : "shape";
    const sentence = `${nodeTitle(node)} has no iteration, and the model does not declare the ${what} of ${quote(name)}, which the loop collects; declare the type in the model`;
    throw new TensorError("unsupported-model", sentence, { input: name, node: nodeTitle(node) });
  }
}

async function endOnGpu({ gpu, onGpu }: Run): Promise<void> {
  if (onGpu.size === 0) return;
  try {
    await gpu?.done();
  } catch (cause) {
    throw isTensorError(cause) ? withTitle(cause, titleFor([...onGpu], cause)) : cause;
  }
}

/** Returns a title for the nodes that may have failed, because the engine reports only the operator. */
function titleFor(nodes: readonly ModelNode[], { op }: TensorError): string {
  const same = nodes.filter((node) => node.op === op);
  const titles = [...new Set((same.length === 0 ? nodes : same).map(nodeTitle))];
  return titles.length === 1 ? titles[0] : `one of ${titles.slice(0, MAX_NAMES).join(", ")}`;
}

function required(node: ModelNode, inputs: readonly (Value | null)[], at: number): Value {
  const value = inputs[at] ?? null;
  if (value !== null) return value;
  const title = nodeTitle(node);
  throw malformed(
    `the number of inputs of ${title} must be at least ${at + 1}, got ${inputs.length}`,
    { node: title, key: "inputs", got: inputs.length, expected: at + 1 },
  );
}

/** Reads and releases the condition of an If or a Loop. */
async function isTrue(run: Run, condition: Value): Promise<boolean> {
  try {
    await toHost(run, [condition]);
    return numberOf(condition.scalar("the condition")) !== 0;
  } finally {
    condition.release();
  }
}
