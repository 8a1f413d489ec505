/** Creates a plan's sessions in step order, because later sessions need the value types of earlier ones. */

import { TensorError } from "../../core/errors.ts";
import {
  nodeTitle,
  readConstant,
  type Constant,
  type Model,
  type ModelNode,
  type ValueInfo,
} from "../model/model.ts";
import { quote } from "../model/graph.ts";
import { orRuntimeError } from "../verify/session.ts";
import { writeModel } from "../onnx/write-model.ts";
import { carriedSession, isCarried, type CreatePart, type RuntimeSession } from "./runtime.ts";
import { partOf } from "../split/part.ts";
import { ownerOf, type GraphPlan, type SessionStep } from "./steps.ts";
import { KnownTypes } from "./known-types.ts";
import type { Planned } from "./facts.ts";
import { Value } from "./values.ts";

/** A runtime session with its input names. */
export interface OpenPart {
  readonly session: RuntimeSession;
  readonly inputs: readonly string[];
}

/** The sessions, constants and types that a plan's steps use. */
export class OpenParts {
  readonly sessions = new Map<SessionStep, OpenPart>();
  readonly types = new KnownTypes();
  readonly createSession: CreatePart;
  readonly #constants = new Map<GraphPlan, Map<string, Value | null>>();
  readonly #planned: Planned;
  readonly #plan: GraphPlan;
  /** The inputs with a default that a caller has supplied. These inputs become session inputs. */
  readonly #given: ReadonlySet<string>;

  constructor(
    planned: Planned,
    plan: GraphPlan,
    createSession: CreatePart,
    given: ReadonlySet<string> = new Set(),
  ) {
    this.#planned = planned;
    this.#plan = plan;
    this.createSession = createSession;
    this.#given = given;
  }

  /** Creates all sessions of the plan. If one fails, the sessions created so far are released. */
  async open(): Promise<this> {
    try {
      await this.#open(this.#plan);
      return this;
    } catch (error) {
      await this.release();
      throw error;
    }
  }

  /**
   * Returns parts in which the caller can supply further inputs that have a default. By default a part contains the
   * default value, as the whole model does. onnxruntime-node ignores a value given for such an input, so new parts are
   * created when a caller supplies a value.
   */
  async withGiven(names: readonly string[]): Promise<OpenParts> {
    const plan = this.#plan;
    const more = names.filter((name) => !this.#given.has(name) && defaultOf(plan, name) !== null);
    if (more.length === 0) return this;
    const given = new Set([...this.#given, ...more]);
    const parts = await new OpenParts(this.#planned, plan, this.createSession, given).open();
    await this.release();
    return parts;
  }

  /** Throws `unsupported-model` for a session input of unknown data type; `runtime` for an error of `createSession`. */
  async #open(plan: GraphPlan): Promise<void> {
    for (const step of plan.steps) {
      if (step.is === "session") await this.#openSession(plan, step);
      else if (step.is === "body") {
        this.types.learnInputs(plan, step);
        for (const body of step.bodies) await this.#open(body);
        this.types.learnBodies(plan, step);
      } else this.types.learnNode(plan, step.node);
    }
  }

  async #openSession(plan: GraphPlan, step: SessionStep): Promise<void> {
    const { model } = this.#planned;
    const { graph, opsets } = plan;
    const { nodes, outputs, copies, needs } = step;
    const constants: Constant[] = [];
    const fed: string[] = [];
    // The runtime neither folds nor packs an input's default value, because the caller may supply another value.
    const defaults: string[] = [];
    for (const name of needs) {
      const constant = findConstant(plan, name);
      const value = constant ?? (this.#given.has(name) ? null : defaultOf(plan, name));
      if (value === null) fed.push(name);
      else constants.push(value);
      if (value !== null && constant === null) defaults.push(name);
    }
    const inputs = [...fed, ...defaults].map((name) => this.#inputOf(plan, name, nodes));
    const part = partOf(model, {
      ...{ graph, opsets, nodes: [...copies, ...nodes], inputs, constants },
      outputs: outputs.map((name) => outputInfo(plan, name)),
      typeOf: (name) => ownerOf(plan, name).scope.get(name).certain.type,
    });
    for (const node of [...copies, ...nodes]) this.types.learnNode(plan, node);
    const needsCarrier =
      inputs.some(({ name, type }) => fed.includes(name) && isCarried(type)) ||
      outputs.some((name) => isCarried(this.types.typeOf(plan, name)));
    const session = await this.#load(part, nodes, needsCarrier);
    this.sessions.set(step, { session, inputs: fed });
    this.types.learnOutputs(plan, session.outputMetadata ?? [], part.graph.outputs);
  }

  #load(part: Model, nodes: readonly ModelNode[], needsCarrier: boolean): Promise<RuntimeSession> {
    return orRuntimeError("load", partTitle(nodes), nodes, async () => {
      const session = needsCarrier
        ? await carriedSession(this.createSession, part)
        : await this.createSession(writeModel(part));
      if (typeof session.run === "function") return session;
      const sentence = "createSession must return a session with a function run";
      throw new TensorError("attribute", sentence, { key: "createSession" });
    });
  }

  /** Describes a value from the graph or an enclosing graph as a session input. */
  #inputOf(plan: GraphPlan, name: string, nodes: readonly ModelNode[]): ValueInfo {
    const owner = ownerOf(plan, name);
    const declared = owner.graph.inputs.find((one) => one.name === name);
    const isModel = owner.graph === this.#planned.model.graph;
    if (declared !== undefined && (declared.type !== null || isModel)) return declared;
    const type = this.types.typeOf(owner, name);
    if (type !== null) return { name, type };
    const user = nodes.find(({ inputs }) => inputs.includes(name));
    const who = user === undefined ? "a node in a body" : nodeTitle(user);
    const sentence = `the data type of ${quote(name)} is not known, so ${who} cannot be separated from the node that computes it; declare the type in the model`;
    throw new TensorError("unsupported-model", sentence, {
      input: name,
      node: user && nodeTitle(user),
    });
  }

  /** Returns a constant by its name in a graph; null for other values. Each constant is read once. */
  constant(plan: GraphPlan, name: string): Value | null {
    const owner = ownerOf(plan, name);
    const known = this.#constants.get(owner) ?? new Map<string, Value | null>();
    this.#constants.set(owner, known);
    let value = known.get(name);
    if (value === undefined) {
      const constant = findConstant(owner, name) ?? defaultOf(owner, name);
      value = constant && new Value(readConstant(constant), { isLent: true });
      known.set(name, value);
    }
    return value;
  }

  /** Releases all sessions, even if releasing one of them fails. */
  async release(): Promise<void> {
    const open = [...this.sessions.values()];
    this.sessions.clear();
    await Promise.allSettled(open.map(async ({ session }) => session.release?.()));
  }
}

function findConstant(plan: GraphPlan, name: string): Constant | null {
  return ownerOf(plan, name).constants.get(name) ?? null;
}

/**
 * Returns the default of a model input. A body's inputs have no defaults, because the body's node supplies all of them.
 */
function defaultOf(plan: GraphPlan, name: string): Constant | null {
  const { graph, outer } = ownerOf(plan, name);
  if (outer !== null) return null;
  return graph.constants.findLast((one) => one.name === name) ?? null;
}

export function partTitle(nodes: readonly ModelNode[]): string {
  const [from, to] = [nodes[0], nodes.at(-1)];
  if (from === undefined || to === undefined) return "a part of the model without nodes";
  return from === to
    ? `the part of the model with ${nodeTitle(from)}`
    : `the part of the model from ${nodeTitle(from)} to ${nodeTitle(to)}`;
}

/** Returns an output's declaration. Model outputs keep their declared types; the runtime infers other types. */
const outputInfo = ({ graph, outer }: GraphPlan, name: string): ValueInfo =>
  (outer === null ? graph.outputs.find((one) => one.name === name) : undefined) ?? {
    name,
    type: null,
  };
