/**
 * Checks models and nodes that callers supply. A model is plain data that anyone can edit. Every function that accepts
 * a model therefore checks the type of each field first, including fields of functions and bodies. Objects and lists
 * are copied, so that each field is read once. The meaning of values is checked where they are used.
 */

import { factOf, isArray, printValue, readForeign, wrongValue } from "../../core/foreign.ts";
import { malformed, oneOf, TensorError } from "../../core/errors.ts";
import { isDType } from "../../core/tensor/dtype.ts";
import type { TensorType } from "../../core/operators/operator.ts";
import { isBytes } from "../../core/tensor/bytes.ts";
import { quote } from "./graph.ts";
import {
  MAX_BODY_DEPTH,
  type Attribute,
  type Constant,
  type Graph,
  type Model,
  type ModelFunction,
  type ModelNode,
  type ValueInfo,
} from "./model.ts";

/** Copies that `modelFrom` returned. They stay inside the package, so nobody changes their lists. */
const CHECKED = new WeakSet<Model>();

/** Returns a checked copy of a model for use inside the package. A copy is not checked and copied again. */
export function modelFrom(given: Model): Model {
  if (CHECKED.has(given)) return given;
  const model = checkedModel(given);
  CHECKED.add(model);
  return model;
}

/**
 * Returns a checked copy of a model and its lists. Throws `malformed-file` for a value that is not a model, also in a
 * body, and for a body that contains itself; `dtype` for an unknown data type, `shape-mismatch` for a dimension that is
 * not a size.
 */
export function checkedModel(given: Model): Model {
  const model = modelRecord(given);
  const opsets = opsetsFrom(model.opsets);
  checkOthers(model);
  checkText("the producer of a model", model.producer);
  checkKind("number", "the irVersion of a model", model.irVersion, "irVersion");
  const seen: Seen = new Map();
  const graph = graphFrom(model.graph, seen);
  if (model.functions === undefined) return { ...model, opsets, graph };
  const functions = objectsFrom("the functions of a model", model.functions).map((own) => {
    const one = recordFrom("a function of a model", own);
    checkText("the name of a function", one.name);
    checkText("the domain of a function", one.domain);
    const { attributes = {} } = one;
    checkAttributes("the attributes of a function", attributes);
    checkBodies({ attributes }, seen, 1);
    checkOthers(one);
    return { ...one, opsets: opsetsFrom(one.opsets), graph: graphFrom(one.graph, seen) };
  });
  return { ...model, opsets, graph, functions };
}

/**
 * Returns a model's opsets and graph for a caller that needs only a few nodes. The lists are not copied or checked. For
 * 10,000 nodes, a copy takes 0.7 ms, and checking every node takes 30 ms.
 */
export function modelOfLists(given: Model): Pick<Model, "opsets" | "graph"> {
  const model = modelRecord(given);
  const graph = recordFrom("a graph", model.graph);
  for (const part of ["nodes", "constants", "inputs", "outputs"] as const) {
    if (isArray(graph[part])) continue;
    throw wrong(`the ${part} of a graph must be a list`, graph[part], part);
  }
  return { opsets: opsetsFrom(model.opsets), graph };
}

const wrong = (must: string, got: unknown, key: string, advice?: string): TensorError =>
  wrongValue("malformed-file", must, got, { key }, advice);

/** Throws `malformed-file` for a value without a graph, with advice for common mistakes. */
function modelRecord(given: Model): Model {
  const isOther = typeof given !== "object" || given === null || printValue(given) !== "an object";
  const model = isOther ? null : recordFrom("a model", given);
  if (model !== null && model.graph !== undefined) return model;
  const must = "a model must come from readModel, readIR or buildModel";
  throw malformed(`${must}, got ${otherModel(given, model ?? {})}`, {
    key: "model",
    got: factOf(given),
  });
}

/** Describes the value that was given instead of a model, and suggests a fix. */
function otherModel(given: unknown, parts: object): string {
  if (typeof given === "string" || isBytes(given)) {
    return `${printValue(given)}; call readModel with the bytes of the file first`;
  }
  if ("nodes" in parts) {
    return "opsets" in parts
      ? "a literal; call buildModel with the literal first"
      : "a graph; pass the model of the graph";
  }
  const names = (): boolean => typeof given === "object" && given !== null && "inputNames" in given;
  const isSession = readForeign(names, "malformed-file", "a model cannot be read", "model");
  return isSession
    ? "a session of a runtime; call readModel with the bytes of the file"
    : printValue(given);
}

function checkOthers({ otherOpsets = {} }: Pick<ModelFunction, "otherOpsets">): void {
  for (const versions of Object.values(recordFrom("the otherOpsets of a model", otherOpsets)))
    for (const opset of listFrom("a domain of otherOpsets", versions)) checkOpset(opset);
}

function opsetsFrom<T extends Readonly<Record<string, number>>>(given: T): T {
  const opsets = recordFrom("the opsets of a model", given);
  Object.values(opsets).forEach(checkOpset);
  return opsets;
}

const checkOpset = (opset: unknown): void =>
  checkKind("integer", "the opset of a domain", opset, "opset");

/** The depth of each checked graph. A graph may be the body of several nodes. */
type Seen = Map<Graph, number>;

const AROUND = -1;

function graphFrom(given: Graph, seen: Seen, depth = 0): Graph {
  const graph = recordFrom("a graph", given);
  seen.set(given, AROUND);
  checkText("the name of a graph", graph.name);
  const nodes = objectsFrom("the nodes of a graph", graph.nodes);
  for (const node of nodes) {
    checkNode(node);
    checkBodies(node, seen, depth + 1);
  }
  seen.set(given, depth);
  const constants = objectsFrom("the constants of a graph", graph.constants);
  constants.forEach(checkConstant);
  checkAliases(graph.aliases);
  return {
    ...graph,
    inputs: valuesFrom("inputs", graph.inputs),
    outputs: valuesFrom("outputs", graph.outputs),
    nodes,
    constants,
    ...(graph.values !== undefined && { values: valuesFrom("values", graph.values) }),
  };
}

function checkAliases(aliases: Graph["aliases"] = {}): void {
  for (const names of Object.values(recordFrom("the aliases of a graph", aliases)))
    checkTexts("the aliases of a value", names, "an alias");
}

function valuesFrom(what: string, given: readonly ValueInfo[]): ValueInfo[] {
  const values = objectsFrom(`the ${what} of a graph`, given);
  values.forEach(checkValue);
  return values;
}

function checkBodies(
  { attributes }: Pick<ModelFunction, "attributes">,
  seen: Seen,
  depth: number,
): void {
  for (const attribute of Object.values(attributes ?? {})) {
    if (attribute.type !== "other" || (attribute.graphs ?? null) === null) continue;
    for (const body of listFrom<Graph>("the graphs of an attribute", attribute.graphs)) {
      const known = seen.get(body) ?? Infinity;
      if (known === AROUND) throw malformed("a graph of the model contains itself as a body");
      if (depth <= MAX_BODY_DEPTH && depth < known) graphFrom(body, seen, depth);
    }
  }
}

/** Throws `malformed-file` for a value that is not a node of a model. */
export function checkNode(node: ModelNode): void {
  recordFrom("a node", node);
  const parts = (): unknown[] => NODE_KEYS.map((key) => node[key]);
  const [name, op, domain, opset, inputs, outputs, attributes] = readForeign(
    parts,
    "malformed-file",
    "a node cannot be read",
    "node",
  );
  checkText("the name of a node", name);
  checkText("the operator of a node", op);
  checkText("the domain of a node", domain);
  if (opset !== undefined) checkKind("number", "the opset of a node", opset, "opset");
  checkTexts("the inputs of a node", inputs, "an input of a node");
  checkTexts("the outputs of a node", outputs, "an output of a node");
  checkAttributes("the attributes of a node", attributes as ModelNode["attributes"]);
}

const NODE_KEYS = ["name", "op", "domain", "opset", "inputs", "outputs", "attributes"] as const;

function checkAttributes(what: string, attributes: Readonly<Record<string, Attribute>>): void {
  for (const [key, one] of Object.entries(recordFrom(what, attributes)))
    checkAttribute(`the attribute ${quote(key)}`, one);
}

const isText = (value: unknown): boolean => typeof value === "string";
const isNumber = (value: unknown): boolean => typeof value === "number";

/** The kinds of plain values: their names in errors, and their checks. */
const KINDS = {
  number: ["a number", isNumber],
  integer: ["a number", (value: unknown) => isNumber(value) || typeof value === "bigint"],
  text: ["text", isText],
  boolean: ["true or false", (value: unknown) => typeof value === "boolean"],
} as const;

type Kind = keyof typeof KINDS;

/** Throws `malformed-file` for a value of another kind. */
function checkKind(
  kind: Kind,
  what: string,
  given: unknown,
  key = what,
  must: string = KINDS[kind][0],
): void {
  if (!KINDS[kind][1](given)) throw wrong(`${what} must be ${must}`, given, key);
}

function checkText(what: string, given: unknown): asserts given is string {
  if (typeof given !== "string") throw wrong(`${what} must be text`, given, what);
}

function checkTexts(what: string, given: unknown, one: string): void {
  for (const text of listFrom<unknown>(what, given)) checkText(one, text);
}

/** The kind of each attribute type's value, or the kind and the name of the elements of its list. */
const VALUES: Readonly<Record<string, readonly [kind: Kind, many?: string]>> = {
  int: ["integer"],
  float: ["number"],
  string: ["text"],
  boolean: ["boolean"],
  other: ["text"],
  ints: ["integer", "numbers"],
  floats: ["number", "numbers"],
  strings: ["text", "texts"],
};

function checkAttribute(what: string, given: Attribute): void {
  const attribute = recordFrom(what, given);
  const { type, value } = attribute;
  if (type === "tensor") return checkConstant(recordFrom(what, value));
  if (type === "tensors") return objectsFrom(what, value).forEach(checkConstant);
  checkKind("text", what, type, what, "of a type");
  if (!Object.hasOwn(VALUES, type)) {
    const types = [...Object.keys(VALUES), "tensor", "tensors"];
    const sentence = `the type of ${what} must be ${oneOf(types)}, got ${printValue(type)}`;
    throw malformed(sentence, { key: "type", got: factOf(type), allowed: types });
  }
  const [kind, many] = VALUES[type];
  if (many === undefined) checkKind(kind, what, value);
  else {
    const must = `a list of ${many}`;
    for (const one of listFrom<unknown>(what, value)) checkKind(kind, what, one, what, must);
  }
  if (type === "other" && attribute.reference !== undefined)
    checkText(`the reference of ${what}`, attribute.reference);
}

function checkConstant(given: Constant): void {
  const parts = (): unknown[] => [given.name, given.dtype, given.shape, typeof given.read];
  const [name, dtype, shape, kind] = readForeign(
    parts,
    "malformed-file",
    "a constant of a graph cannot be read",
    "constant",
  );
  checkText("the name of a constant", name);
  if (kind !== "function")
    throw malformed("a constant of a graph must have a function read", { key: "read" });
  if (dtype !== null) checkDType(dtype, name);
  checkShape(shape, name, false);
}

function checkValue(given: ValueInfo): void {
  const { name, type } = recordFrom("a value of a graph", given);
  checkText("the name of a value", name);
  if (type !== null) checkType(name, type);
}

/** Throws `malformed-file`, `dtype` or `shape-mismatch` for an invalid type. */
export function checkType(name: string, type: TensorType): void {
  const { dtype, shape } = recordFrom(`the type of ${quote(name)}`, type);
  checkDType(dtype, name);
  if (shape !== null) checkShape(shape, name, true);
}

function checkDType(dtype: unknown, name: string): void {
  if (isDType(dtype)) return;
  const what = typeof dtype === "string" ? dtype : printValue(dtype);
  const sentence = `the data type of ${quote(name)} is unknown: ${what}`;
  throw new TensorError("dtype", sentence, { input: name, got: factOf(dtype) });
}

/** Checks a shape. If `isPartial` is true, names and nulls may stand for unknown sizes. */
function checkShape(given: unknown, name: string, isPartial: boolean): void {
  const dims = listFrom<unknown>(`the shape of ${quote(name)}`, given);
  const odd = dims.findIndex((dim) =>
    typeof dim === "number"
      ? !Number.isSafeInteger(dim) || dim < 0
      : !isPartial || (dim !== null && typeof dim !== "string"),
  );
  if (odd === -1) return;
  const sentence = `dimensions of ${quote(name)} must be sizes, got ${printValue(dims[odd])}`;
  throw new TensorError("shape-mismatch", sentence, { input: name });
}

/**
 * Returns a copy of an object's own properties. Throws `malformed-file` for other values, and for a Map, a promise or
 * bytes, whose copies would be empty.
 */
export function recordFrom<T>(what: string, given: T, advice = ""): T {
  const copy = readForeign(
    () => {
      const isRecord =
        typeof given === "object" &&
        given !== null &&
        (Object.getPrototypeOf(given) === Object.prototype || printValue(given) === "an object");
      return isRecord ? { ...given } : null;
    },
    "malformed-file",
    `${what} cannot be read`,
    what,
  );
  if (copy !== null) return copy;
  throw wrong(`${what} must be an object`, given, what, advice);
}

export function listFrom<T>(what: string, given: readonly T[] | unknown): T[] {
  if (!isArray(given)) throw wrong(`${what} must be a list`, given, what);
  const read = (): T[] => {
    const copy: T[] = [];
    const length = Number(given.length);
    for (let at = 0; at < length; at++) {
      const entry = given[at];
      if (entry === undefined)
        throw malformed(`${what} must be a list without holes`, { key: what, at: [at] });
      copy.push(entry as T);
    }
    return copy;
  };
  return readForeign(read, "malformed-file", `${what} cannot be read`, what);
}

export function objectsFrom<T>(what: string, given: readonly T[]): T[] {
  const list = listFrom<T>(what, given);
  const odd = list.find((entry) => typeof entry !== "object" || entry === null || isArray(entry));
  if (odd === undefined) return list;
  throw wrong(`${what} must be objects`, odd, what);
}

/**
 * Returns the first entry for which `test` returns true. The test may read any field of an entry, and nothing is
 * copied. If a list's length is wrong, the search ends after the last actual entry.
 */
export const findIn = <T>(list: readonly T[], test: (entry: T) => boolean): T | undefined =>
  readForeign(
    () => {
      const length = Number(list.length);
      for (let at = 0; at < length; at++) {
        const entry = list[at];
        if (entry === undefined || test(entry)) return entry;
      }
      return undefined;
    },
    "malformed-file",
    "a list in a graph cannot be read",
    "list",
  );
