/**
 * Makes the sessions of a plan, in the order of its steps, so that the types of the values that one session makes are
 * known to the next.
 */

import { TensorError } from "../../core/errors.ts";
import type { TensorType } from "../../core/operators/operator.ts";
import { isDType } from "../../core/tensor/dtype.ts";
import { readConstant, type Constant, type ModelNode, type ValueInfo } from "../model/model.ts";
import { quote } from "../model/graph.ts";
import { nodeTitle } from "../model/model.ts";
import { sentenceFrom } from "../verify/session.ts";
import { writeModel } from "../onnx/write-model.ts";
import { partOf } from "../split/part.ts";
import {
  needsOfSession,
  ownerOf,
  type BodyStep,
  type GraphPlan,
  type SessionStep,
} from "./steps.ts";
import type { Planned } from "./plan.ts";
import { Value } from "./values.ts";

/** As much of a session of onnxruntime as is needed here. */
export interface RuntimeSession {
  run(feeds: never, ...more: never[]): Promise<object>;
  release?(): Promise<void>;
  /** Of onnxruntime since 1.21. */
  readonly outputMetadata?: readonly { readonly name: string; readonly type?: unknown }[];
}

/** A session, and the names of the values that it takes. */
export interface OpenPart {
  readonly session: RuntimeSession;
  readonly inputs: readonly string[];
}

/** What the steps of a model need to run. */
export class OpenParts {
  readonly sessions = new Map<SessionStep, OpenPart>();
  /** Those that are used here, by the graph that has them. */
  readonly #constants = new Map<GraphPlan, Map<string, Value | null>>();
  /** The types that the sessions told. */
  readonly #types = new Map<GraphPlan, Map<string, TensorType>>();
  readonly #planned: Planned;
  readonly createSession: (model: Uint8Array) => Promise<RuntimeSession>;

  constructor(planned: Planned, createSession: (model: Uint8Array) => Promise<RuntimeSession>) {
    this.#planned = planned;
    this.createSession = createSession;
  }

  /**
   * @throws TensorError `unsupported-model` for a value whose data type is not known, so that no session can take it;
   * whatever `createSession` throws
   */
  async open(plan: GraphPlan): Promise<void> {
    for (const step of plan.steps) {
      switch (step.is) {
        case "session":
          // oxlint-disable-next-line no-await-in-loop
          await this.#openSession(plan, step);
          break;
        case "call":
        case "glue":
          this.#learnCall(plan, step.node);
          break;
        case "body":
          // oxlint-disable-next-line no-await-in-loop
          await this.#openBodies(plan, step);
      }
    }
  }

  async #openSession(plan: GraphPlan, step: SessionStep): Promise<void> {
    const { model } = this.#planned;
    const { graph, opsets } = plan;
    const { nodes, outputs } = step;
    const { copies, needs } = needsOfSession(plan, nodes, outputs);
    const constants: Constant[] = [];
    const inputs: ValueInfo[] = [];
    for (const name of needs) {
      const constant = findConstant(plan, name);
      if (constant !== null) constants.push(constant);
      else inputs.push(this.#inputOf(plan, name, nodes));
      // An input with a default: the caller need not give it.
      const initial = constant === null ? defaultOf(plan, name) : null;
      if (initial !== null) constants.push(initial);
    }
    const part = partOf(model, {
      ...{ graph, opsets, nodes: [...copies, ...nodes], inputs, constants },
      outputs: outputs.map((name) => outputInfo(plan, name)),
    });
    const session = await this.#load(writeModel(part), nodes);
    this.sessions.set(step, { session, inputs: inputs.map(({ name }) => name) });
    for (const { name, type } of session.outputMetadata ?? []) {
      if (typeof type === "string" && isDType(type))
        this.#learn(plan, name, { dtype: type, shape: null });
    }
  }

  /** @throws TensorError `unsupported-model` for a part that the runtime does not load, with what it says */
  async #load(part: Uint8Array, nodes: readonly ModelNode[]): Promise<RuntimeSession> {
    let session: RuntimeSession;
    try {
      session = await this.createSession(part);
      if (typeof session.run === "function") return session;
    } catch (cause) {
      const [from, to] = [nodes[0], nodes.at(-1)].map((one) => (one ? nodeTitle(one) : "no node"));
      const what = `the part of the model from ${from} to ${to}`;
      const sentence = `the runtime does not load ${what}: ${sentenceFrom(cause)}`;
      throw new TensorError("unsupported-model", sentence, {}, { cause });
    }
    throw new TensorError("attribute", "createSession must make a session with a function run");
  }

  /** A value of the graph, or of one around it, as the input of a session for some nodes. */
  #inputOf(plan: GraphPlan, name: string, nodes: readonly ModelNode[]): ValueInfo {
    const owner = ownerOf(plan, name);
    const declared = owner.graph.inputs.find((one) => one.name === name);
    const isModel = owner.graph === this.#planned.model.graph;
    if (declared !== undefined && (declared.type !== null || isModel)) return declared;
    const type = this.#typeOf(owner, name);
    if (type !== null) return { name, type };
    const user = nodes.find(({ inputs }) => inputs.includes(name));
    const who = user === undefined ? "a node in a body" : nodeTitle(user);
    const sentence = `the data type of ${quote(name)} is not known, so ${who} cannot be cut off from what makes it`;
    throw new TensorError("unsupported-model", sentence);
  }

  /** The type of a value of a graph: what is certain of it, what a session told, or else the declared data type. */
  #typeOf(plan: GraphPlan, name: string): TensorType | null {
    const { certain, believed } = plan.scope.get(name);
    if (certain.type !== null) return certain.type;
    const told = this.#types.get(plan)?.get(name);
    if (told !== undefined) return told;
    // No runtime holds a value between two nodes to its declared shape.
    return believed.type && { dtype: believed.type.dtype, shape: null };
  }

  #learn(plan: GraphPlan, name: string, type: TensorType): void {
    const known = this.#types.get(plan) ?? new Map<string, TensorType>();
    this.#types.set(plan, known.set(name, type));
  }

  /** A replaced node makes the data type of its data, and a small operator whose type is not certain that of its input. */
  #learnCall(plan: GraphPlan, { inputs, outputs }: ModelNode): void {
    const [data = ""] = inputs;
    const type = this.#typeOf(ownerOf(plan, data), data);
    if (type !== null) this.#learn(plan, outputs[0], { dtype: type.dtype, shape: null });
  }

  async #openBodies(plan: GraphPlan, { node, bodies }: BodyStep): Promise<void> {
    const given = node.inputs.map((name) =>
      name === "" ? null : this.#typeOf(ownerOf(plan, name), name),
    );
    for (const body of bodies) {
      for (const [at, { name }] of body.graph.inputs.entries()) {
        const type = given[at] ?? null;
        // The inputs of a Scan's body have other shapes than those of the node.
        if (type !== null) this.#learn(body, name, { dtype: type.dtype, shape: null });
      }
      // oxlint-disable-next-line no-await-in-loop
      await this.open(body);
    }
    const [first] = bodies;
    const skipped = node.op === "Loop" ? 1 : 0;
    for (const [at, { name }] of first.graph.outputs.slice(skipped).entries()) {
      const type = this.#typeOf(ownerOf(first, name), name);
      const output = node.outputs[at] ?? "";
      if (type !== null && output !== "")
        this.#learn(plan, output, { dtype: type.dtype, shape: null });
    }
  }

  /** The constant that a name stands for in a graph; null for another value. It is read once. */
  constant(plan: GraphPlan, name: string): Value | null {
    const owner = ownerOf(plan, name);
    const known = this.#constants.get(owner) ?? new Map<string, Value | null>();
    this.#constants.set(owner, known);
    let value = known.get(name);
    if (value === undefined) {
      const constant = findConstant(owner, name) ?? defaultOf(owner, name);
      value = constant && Value.lentTensor(readConstant(constant));
      known.set(name, value);
    }
    return value;
  }

  /** Ends all sessions. An error of one does not keep the others. */
  async release(): Promise<void> {
    const open = [...this.sessions.values()];
    this.sessions.clear();
    await Promise.allSettled(open.map(async ({ session }) => session.release?.()));
  }
}

/** A constant of the graph or of one around it. */
function findConstant(plan: GraphPlan, name: string): Constant | null {
  return ownerOf(plan, name).constants.get(name) ?? null;
}

/** The value of an input that the caller may leave out. */
function defaultOf(plan: GraphPlan, name: string): Constant | null {
  const { graph } = ownerOf(plan, name);
  return graph.constants.find((one) => one.name === name) ?? null;
}

/** Outputs of the model keep their declared types; the runtime finds out those of other values. */
const outputInfo = ({ graph, outer }: GraphPlan, name: string): ValueInfo =>
  (outer === null ? graph.outputs.find((one) => one.name === name) : undefined) ?? {
    name,
    type: null,
  };
