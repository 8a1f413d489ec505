/** Carries the steps of a plan out. */

import { runCall } from "../../core/call/run.ts";
import { malformed } from "../../core/errors.ts";
import type { TensorType } from "../../core/operators/operator.ts";
import { quote } from "../model/graph.ts";
import { namingNode } from "../model/run-model.ts";
import { runBodies, type StepsRun } from "./bodies.ts";
import { runGlue } from "./glue.ts";
import type { OpenParts } from "./open.ts";
import type { CallStep, GraphPlan, SessionStep } from "./steps.ts";
import { Frame, Value } from "./values.ts";

/** One run of a model. */
export class ModelRun implements StepsRun {
  readonly #parts: OpenParts;
  /** What the caller wants of each session's run. */
  readonly #options: unknown;
  /** Told of each tensor that a session makes. */
  readonly #onTensor: (value: unknown) => void;

  constructor(parts: OpenParts, options: unknown, onTensor: (value: unknown) => void) {
    this.#parts = parts;
    this.#options = options;
    this.#onTensor = onTensor;
  }

  async steps(plan: GraphPlan, frame: Frame): Promise<void> {
    for (const [at, step] of plan.steps.entries()) {
      switch (step.is) {
        case "session":
          // Each step needs what the steps before it made.
          // oxlint-disable-next-line no-await-in-loop
          await this.#runSession(plan, step, frame);
          break;
        case "call":
          this.#call(plan, step, frame, plan.drops[at]);
          break;
        case "glue": {
          const values = step.node.inputs.map((name) => this.valueOf(plan, frame, name));
          frame.set(step.node.outputs[0], runGlue(step.node, plan.opsets, values));
          break;
        }
        case "body":
          // oxlint-disable-next-line no-await-in-loop
          await runBodies(this, plan, step, frame);
      }
      for (const name of plan.drops[at]) frame.drop(name);
    }
  }

  valueOf(plan: GraphPlan, frame: Frame, name: string): Value {
    const value = this.#valueOrNull(plan, frame, name);
    if (value !== null) return value;
    throw malformed(`nothing makes ${quote(name)}`);
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
    const made = await part.session.run(Object.fromEntries(feeds) as never, ...more);
    for (const name of step.outputs) {
      const value: unknown = Reflect.get(made, name);
      this.#onTensor(value);
      frame.set(name, Value.ofRuntime(value));
    }
  }

  /** @param dropped values that nothing needs after this node */
  #call(plan: GraphPlan, step: CallStep, frame: Frame, dropped: readonly string[]): void {
    const { node, call, mayBeInPlace } = step;
    const values = node.inputs.map((name) =>
      name === "" ? null : this.valueOf(plan, frame, name),
    );
    const tensors = values.map((value, at) => value?.tensor(node.inputs[at]));
    const [data] = values;
    const [name] = node.inputs;
    const isInPlace =
      mayBeInPlace &&
      dropped.includes(name) &&
      frame.mayChange(name) &&
      values.every((value, at) => at === 0 || value !== data);
    const made = namingNode(node, () => runCall(call, tensors, isInPlace ? tensors[0] : undefined));
    // The result of a scatter in place is the value of its data under another name.
    const isSame = isInPlace && data?.given === null;
    frame.set(node.outputs[0], isSame ? data : Value.ofTensor(made));
  }
}
