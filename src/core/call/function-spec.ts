/** Calls whose gradients are computed: nodes, and plain functions with their options. */

import { factOf, printValue, readForeign, nearestName, checkNames, objectOf } from "../foreign.ts";
import { TensorError } from "../errors.ts";
import { FUNCTIONS, type FunctionName } from "../operators/plain.ts";
import { callOfKnown, type Call, type NodeSpec } from "./call.ts";
import { plainCallOf, type GivenOptions } from "./plain-call.ts";

/** A plain function call: the function name, and all options except `out`. */
export interface FunctionSpec {
  readonly function: FunctionName;
  /** Attributes and policies of the function, such as `{ reduction: "max", bounds: "drop" }`. */
  readonly options?: Readonly<Record<string, unknown>> | undefined;
}

/** A call, and its cache entry if a plain function is called. */
export interface GivenCall {
  readonly call: Call;
  readonly known: GivenOptions["known"] | null;
}

/**
 * Parses a node, or a plain function with its options, into a call.
 * @throws TensorError `unknown-operator`, `attribute`, `reduction`
 */
export function callFrom(node: NodeSpec | FunctionSpec | FunctionName): GivenCall {
  const name = functionOf(node);
  if (name === undefined) return { call: callOfKnown(node as NodeSpec), known: null };
  const call = typeof node === "string" ? {} : objectOf("the call", node, {});
  checkNames("key of a call", call, ["function", "options"], {});
  const { options } = call;
  if (!isFunctionName(name)) {
    const allowed = Object.keys(FUNCTIONS);
    const nearest = nearestName(typeof name === "string" ? name : "", allowed);
    const hint =
      nearest === null ? `the functions are ${allowed.join(", ")}` : `did you mean "${nearest}"?`;
    const sentence = `unknown function ${printValue(name)}; ${hint}`;
    const facts = { key: "function", got: factOf(name), allowed, nearest: nearest ?? undefined };
    throw new TensorError("unknown-operator", sentence, facts);
  }
  const { known, out } = plainCallOf(FUNCTIONS[name], options);
  if (out !== undefined) {
    const sentence =
      "out is an option of vjp, not of the function; pass vjp a list with a tensor for each gradient";
    throw new TensorError("attribute", sentence, { ...known.call.fields, key: "out" });
  }
  return { call: known.call, known };
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
