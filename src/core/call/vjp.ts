/** Computes the gradients of a call's inputs from the gradient of the call's output. */

import type { Executor, SyncSession } from "../engines/executor.ts";
import { TensorError } from "../errors.ts";
import {
  checkNames,
  factOf,
  nearestName,
  objectOf,
  optionsOf,
  printValue,
  readForeign,
} from "../foreign.ts";
import type { Inputs } from "../operators/operator.ts";
import { FUNCTIONS, type FunctionName } from "../operators/registry.ts";
import { transferred } from "../tensor/memory.ts";
import { Tensor } from "../tensor/tensor.ts";
import { gatherBackwards, scatterBackwards } from "./backwards.ts";
import {
  callOfKnown,
  MEANT_OPTIONS,
  plainCallOf,
  plainOptions,
  type Call,
  type Form,
  type NodeSpec,
  type PlainCall,
} from "./call.ts";
import { checkMemory } from "./check.ts";
import {
  GRADIENT_OPTIONS,
  gradientArguments,
  ON_HOST,
  type GradientArguments,
  type GradientOptions,
} from "./gradient-options.ts";
import { tensorsOf } from "./inputs.ts";
import { executorOf, knownFormOf, planOf, type EngineLike } from "./run.ts";
import { callNow } from "./steps.ts";

/** A plain function call: the function name, and all options except `out`. */
export interface FunctionSpec {
  readonly function: FunctionName;
  /** Attributes and policies of the function, such as `{ reduction: "max", bounds: "drop" }`. */
  readonly options?: Readonly<Record<string, unknown>> | undefined;
}

/** Options of `vjp`. */
export interface VjpOptions extends GradientOptions {
  /** The engine that computes the gradients; by default the engine of the plain functions. */
  readonly engine?: EngineLike | undefined;
}

/** Computes gradients like `vjp`, with another default executor. */
export function vjpOn(
  byDefault: () => Executor,
  node: NodeSpec | FunctionSpec | FunctionName,
  inputs: readonly unknown[],
  outputGradient: unknown,
  options: VjpOptions,
): (Tensor | null)[] {
  const call = checked(byDefault, node, inputs, outputGradient, options);
  return callNow(call.executor, call.form.call.fields, (session) => vjpNow(session, call));
}

/**
 * Computes gradients like `vjp`, after the earlier asynchronous calls of an executor. Checks that do not depend on
 * earlier calls run immediately. The indices are read when all earlier calls have ended. The caller's thread computes
 * alone if that thread must not wait.
 */
export async function vjpAsync(
  executor: Executor,
  node: NodeSpec | FunctionSpec | FunctionName,
  inputs: readonly unknown[],
  outputGradient: unknown,
  options: unknown,
): Promise<(Tensor | null)[]> {
  const given = checked(() => executor, node, inputs, outputGradient, options, GRADIENT_OPTIONS);
  const { form, tensors } = given;
  const { gradient, dataOut, updatesOut } = given.chosen;
  const { call } = form;
  return executor.queue.enqueue(async () => {
    checkMemory(call, tensors, dataOut);
    checkMemory(call, [], updatesOut);
    if (!Tensor.memoryOf(gradient).isThere) throw transferred("outputGradient", call.fields);
    return callNow(executor, call.fields, (session) => vjpNow(session, given));
  });
}

/** The gradients of a call whose arguments are checked, except for the index values. */
interface CheckedVjp {
  readonly executor: Executor;
  readonly form: Form;
  readonly tensors: Inputs<Tensor>;
  readonly chosen: GradientArguments;
}

function checked(
  byDefault: () => Executor,
  node: NodeSpec | FunctionSpec | FunctionName,
  inputs: readonly unknown[],
  outputGradient: unknown,
  options: unknown,
  known: readonly string[] = VJP_OPTIONS,
): CheckedVjp {
  const call = callFrom(node);
  const tensors = tensorsOf(call, inputs);
  const form = knownFormOf(call, tensors);
  const { signature, fields } = form.call;
  const meant = "forms" in call ? MEANT_FOR_FUNCTION : MEANT_OPTIONS;
  const given = optionsOf(options, known, fields, "options", meant);
  const { engine } = given;
  const executor = engine === undefined ? byDefault() : executorOf(engine, fields);
  const differentiated = { signature, tensors, shape: form.shape, fields };
  const chosen = gradientArguments(differentiated, outputGradient, given, ON_HOST);
  return { executor, form, tensors, chosen };
}

function vjpNow(session: SyncSession, checkedCall: CheckedVjp): (Tensor | null)[] {
  const { executor, form, tensors, chosen } = checkedCall;
  const { signature, settings: reducing } = form.call;
  const { positions } = form;
  const plan = planOf(form, tensors, session.readIndices);
  const results: (Tensor | null)[] = [];
  for (let position = 0; position < signature.inputs.length; position++) results.push(null);
  const data = tensors[positions.data] as Tensor;
  const updates = tensors[positions.updates];
  if (updates !== undefined) {
    const call = { executor, plan, reducing, data, updates, chosen };
    [results[positions.data], results[positions.updates]] = scatterBackwards(session, call);
  } else if (chosen.wantsData) {
    const { gradient, dataOut } = chosen;
    const shape = Tensor.dimsOf(data);
    results[positions.data] = gatherBackwards(session, executor, plan, gradient, shape, dataOut);
  }
  return results;
}

/** Options of functions, which people pass to `vjp` itself; a node has its own. */
const MEANT_FOR_FUNCTION = Object.fromEntries(
  ["reduction", "axis", "batchDims", "bounds", "negative", "includeSelf", "duplicates", "mode"].map(
    (name) => [name, 'function: "…", options: { … }'],
  ),
);

const VJP_OPTIONS = [...GRADIENT_OPTIONS, "engine"];

/**
 * Parses a node, or a plain function with its options, into a call.
 * @throws TensorError `unknown-operator`, `attribute`, `reduction`
 */
export function callFrom(node: NodeSpec | FunctionSpec | FunctionName): Call | PlainCall {
  const name = functionOf(node);
  if (name === undefined) return callOfKnown(node as NodeSpec);
  const spec = typeof node === "string" ? {} : objectOf("the call", node, {});
  checkNames("key of a call", spec, ["function", "options"], {});
  if (!isFunctionName(name)) {
    const allowed = Object.keys(FUNCTIONS);
    const nearest = nearestName(typeof name === "string" ? name : "", allowed);
    const hint =
      nearest === null ? `the functions are ${allowed.join(", ")}` : `did you mean "${nearest}"?`;
    const sentence = `unknown function ${printValue(name)}; ${hint}`;
    const facts = { key: "function", got: factOf(name), allowed, nearest: nearest ?? undefined };
    throw new TensorError("unknown-operator", sentence, facts);
  }
  const operator = FUNCTIONS[name];
  const options = plainOptions(operator, spec["options"]);
  const call = plainCallOf(operator, options);
  if (options["out"] !== undefined) {
    const sentence =
      "out is an option of vjp, not of the function; pass vjp a list with a tensor for each gradient";
    throw new TensorError("attribute", sentence, { ...call.fields, key: "out" });
  }
  return call;
}

// Only text is looked up: `Object.hasOwn` would convert an object with the object's own `toString`.
const isFunctionName = (name: unknown): name is FunctionName =>
  typeof name === "string" && Object.hasOwn(FUNCTIONS, name);

/** Returns what a call has as the name of a plain function; undefined for a node. */
function functionOf(node: unknown): unknown {
  if (typeof node === "string") return node;
  if (typeof node === "function") {
    const sentence =
      'a call must be the name of a function, such as "gather", or a node; got a function';
    throw new TensorError("unknown-operator", sentence, { key: "function", got: "a function" });
  }
  if (typeof node !== "object" || node === null) return undefined;
  const read = (): unknown => Reflect.get(node, "function");
  return readForeign(read, "unknown-operator", "a call must be an object that can be read", "call");
}
