/** Runs a plan's steps. */

import { runCall } from "../../core/functions.ts";
import { isTensorError, malformed, type TensorError } from "../../core/errors.ts";
import type { TensorType } from "../../core/operators/operator.ts";
import { MAX_NAMES, quote } from "../model/graph.ts";
import { nodeTitle, type ModelNode } from "../model/model.ts";
import { namingNode, withTitle } from "../model/run-model.ts";
import { callOnEngine, type ExactGpu } from "./gpu.ts";
import { runBodies, type StepsRun } from "./bodies.ts";
import { readByGlue, runGlue } from "./glue.ts";
import { partTitle, type OpenParts } from "./open.ts";
import type { CallStep, GraphPlan, SessionStep } from "./steps.ts";
import { Frame, Value } from "./values.ts";
import { orRuntimeError } from "../verify/session.ts";

export class ModelRun implements StepsRun {
  readonly #parts: OpenParts;
  /** Run options for the runtime's sessions. */
  readonly #options: unknown;
  /** Receives each tensor that a session returns. */
  readonly #onTensor: (value: unknown) => void;

  readonly #gpu: ExactGpu | null;
  readonly #onGpu = new Set<ModelNode>();

  constructor(
    parts: OpenParts,
    options: unknown,
    onTensor: (value: unknown) => void,
    gpu: ExactGpu | null,
  ) {
    this.#parts = parts;
    this.#options = options;
    this.#onTensor = onTensor;
    this.#gpu = gpu;
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
      await this.#gpu?.done();
    } catch (cause) {
      throw isTensorError(cause) ? withTitle(cause, titleFor([...this.#onGpu], cause)) : cause;
    }
  }

  /** Copies values from the GPU to the host, where this package's operators can read them. */
  async toHost(values: readonly (Value | null | undefined)[]): Promise<void> {
    const gpu = this.#gpu;
    if (gpu === null) return;
    await Promise.all(values.map((value) => value?.toHost(gpu, "a value on the GPU")));
  }

  async steps(plan: GraphPlan, frame: Frame): Promise<void> {
    for (const [at, step] of plan.steps.entries()) {
      switch (step.is) {
        case "session":
          // Steps run one after another, because a step needs earlier values.
          // oxlint-disable-next-line no-await-in-loop
          await this.#runSession(plan, step, frame);
          break;
        case "call":
          if (this.#gpu === null) this.#call(plan, step, frame, plan.drops[at]);
          // oxlint-disable-next-line no-await-in-loop
          else await this.#callOnGpu(this.#gpu, plan, step, frame, plan.drops[at]);
          break;
        case "glue": {
          const values = step.node.inputs.map((name) => this.valueOf(plan, frame, name));
          // oxlint-disable-next-line no-await-in-loop
          if (this.#gpu !== null) await this.toHost(readByGlue(step.node, values));
          frame.set(step.node.outputs[0], runGlue(step.node, plan.opsets, values, this.#gpu));
          break;
        }
        case "body":
          // oxlint-disable-next-line no-await-in-loop
          await runBodies(this, plan, step, frame, plan.drops[at]);
      }
      for (const name of plan.drops[at]) frame.drop(name);
    }
  }

  valueOf(plan: GraphPlan, frame: Frame, name: string): Value {
    const value = this.#valueOrNull(plan, frame, name);
    if (value !== null) return value;
    throw malformed(`no node computes ${quote(name)}`, { input: name });
  }

  typeOf(plan: GraphPlan, name: string): TensorType | null {
    return this.#parts.types.typeOf(plan, name);
  }

  #valueOrNull(plan: GraphPlan, frame: Frame, name: string): Value | null {
    const known = frame.get(name);
    if (known !== undefined) return known;
    return this.#parts.constant(plan, name);
  }

  async #runSession(plan: GraphPlan, step: SessionStep, frame: Frame): Promise<void> {
    const part = this.#parts.sessions.get(step);
    if (part === undefined) throw malformed("the session was released");
    const feeds: [string, unknown][] = [];
    for (const name of part.inputs) {
      feeds.push([name, this.valueOf(plan, frame, name).forRuntime()]);
    }
    const more = this.#options === undefined ? [] : [this.#options as never];
    const made = await orRuntimeError("run", partTitle(step.nodes), step.nodes, () =>
      part.session.run(Object.fromEntries(feeds) as never, ...more),
    );
    for (const name of step.outputs) {
      const value: unknown = Reflect.get(made, name);
      this.#onTensor(value);
      frame.set(name, new Value(value));
    }
  }

  #inputsOf(plan: GraphPlan, { node }: CallStep, frame: Frame): readonly (Value | null)[] {
    return node.inputs.map((name) => (name === "" ? null : this.valueOf(plan, frame, name)));
  }

  /** Runs a node on the GPU if an input is on the GPU and the engine supports the node. */
  async #callOnGpu(
    gpu: ExactGpu,
    plan: GraphPlan,
    step: CallStep,
    frame: Frame,
    dropped: readonly string[],
  ): Promise<void> {
    const { node, call } = step;
    const values = this.#inputsOf(plan, step, frame);
    const isThere = values.some((value) => value?.isOnGpu);
    if (isThere) {
      const isInPlace = values[0]?.isOnGpu === true && mayOverwrite(step, values, frame, dropped);
      this.#onGpu.add(node);
      const made = namingNode(node, () => {
        const inputs = values.map((value, at) => value?.onGpu(gpu, node.inputs[at]));
        return callOnEngine(gpu, call, inputs, isInPlace ? inputs[0] : undefined);
      });
      if (made !== null) {
        frame.set(
          node.outputs[0],
          isInPlace && values[0] ? values[0] : new Value(null, { device: made }),
        );
        return;
      }
      await this.toHost(values);
    }
    this.#call(plan, step, frame, dropped);
  }

  /** Runs a replaced node. The names in `dropped` are not needed after the node. */
  #call(plan: GraphPlan, step: CallStep, frame: Frame, dropped: readonly string[]): void {
    const { node, call } = step;
    const values = this.#inputsOf(plan, step, frame);
    const tensors = values.map((value, at) => value?.tensor(node.inputs[at]));
    const [data] = values;
    const isInPlace = mayOverwrite(step, values, frame, dropped);
    const made = namingNode(node, () => runCall(call, tensors, isInPlace ? tensors[0] : undefined));
    // An in-place scatter returns its data tensor under another name.
    const isSame = isInPlace && data?.given === null;
    frame.set(node.outputs[0], isSame ? data : new Value(made));
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
  { node, mayBeInPlace }: CallStep,
  values: readonly (Value | null)[],
  frame: Frame,
  dropped: readonly string[],
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
