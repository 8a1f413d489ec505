/** Recognizes scatters and gathers in expressions: listed functions, `x.at[i].add(u)`, `x[i]` and `x[i] = u`. */

import { roleOf } from "ndscatter/operators";
import { newestOf } from "../../values/schema.ts";
import type { Arr } from "./arrays.ts";
import { gather, gatherND, slices, tupled, tuples, type Draft } from "./draft.ts";
import { formOf, type Bound } from "./forms.ts";
import { libraryOf, Misread, type Scope } from "./scope.ts";
import { pathOf, type Argument, type Node } from "./syntax.ts";

/** The draft of an expression, with its syntax node and the variable that it changes in place. */
export interface Found {
  readonly draft: Draft;
  readonly node: Node;
  /** The name of the array that the call modifies. */
  readonly target: string | null;
  /** Names that the text does not define. */
  readonly elsewhere: readonly Node[];
}

/** Returns an input's array. For an undefined name, returns null and adds the name to `elsewhere`. */
function inputOf(scope: Scope, node: Node, elsewhere: Node[]): Arr | null {
  if (!scope.isElsewhere(node)) return scope.array(node);
  elsewhere.push(node);
  return null;
}

/** Returns the draft of a call, or null for other expressions. */
export function callOf(scope: Scope, node: Node): Found | null {
  if (node.kind === "index") return subscript(scope, node, null, "none");
  if (node.kind !== "call") return null;
  const { callee } = node;
  if (callee.kind === "attribute" && isAt(callee.of))
    return atCall(scope, node, callee.of, callee.name);
  const path = pathOf(callee);
  if (path !== null && /(?:^|\.)make_node$/.test(path)) return onnxNode(scope, node);
  if (path === "run") return runCall(scope, node);
  const own = path === null ? undefined : OWN[path];
  if (own !== undefined) return ownCall(scope, node, own);
  const library = path === null ? null : libraryOf(path);
  if (library !== null && path !== null)
    return tableCall(scope, node, library, path, node.arguments, null);
  if (callee.kind !== "attribute") return null;
  const self: Argument = { name: null, value: callee.of };
  const isInPlace = callee.name.endsWith("_") && callee.of.kind === "name";
  const target = isInPlace ? (pathOf(callee.of) ?? null) : null;
  return tableCall(scope, node, null, callee.name, [self, ...node.arguments], target);
}

const IN_PLACE = /(?:\.at|put_along_axis)$/;

function tableCall(
  scope: Scope,
  node: Node,
  library: string | null,
  path: string,
  given: readonly Argument[],
  target: string | null,
): Found | null {
  const found = formOf(library, path);
  if (found === null) return null;
  const elsewhere: Node[] = [];
  const { form, name } = found;
  const draft = form.make(boundOf(scope, node, form.parameters, given, name, elsewhere));
  const [first] = given;
  const written = IN_PLACE.test(name) && first !== undefined ? pathOf(first.value) : target;
  return { draft, node, target: written, elsewhere };
}

function boundOf(
  scope: Scope,
  node: Node,
  parameters: string,
  given: readonly Argument[],
  name: string,
  elsewhere: Node[],
): Bound {
  const values = argumentsOf(scope, parameters, given, name);
  const get = (parameter: string): Node => {
    const value = values.get(parameter);
    if (value === undefined) throw new Misread(`${name} needs the argument ${parameter}`, node);
    return value;
  };
  if (values.has("alpha") && scope.number(get("alpha")) !== 1) {
    throw new Misread("alpha is not supported here: multiply the source by alpha", get("alpha"));
  }
  return {
    name,
    has: (parameter) => values.has(parameter) && scope.at(get(parameter)) !== "None",
    node: (parameter) => values.get(parameter),
    array: (parameter) => inputOf(scope, get(parameter), elsewhere),
    number(parameter, otherwise) {
      if (otherwise !== undefined && !values.has(parameter)) return otherwise;
      const number = scope.number(get(parameter));
      if (number === null || !Number.isInteger(number)) {
        throw new Misread(`${parameter} must be an integer in the text`, get(parameter));
      }
      return number;
    },
    word(parameter) {
      const value = values.get(parameter);
      return value?.kind === "text" ? value.text : value?.kind === "name" ? value.name : "";
    },
    index(parameter) {
      const value = get(parameter);
      if (scope.isElsewhere(value))
        return { isTuple: false, array: inputOf(scope, value, elsewhere) };
      const isTuple =
        (value.kind === "list" && value.bracket === "(") ||
        (value.kind === "call" && pathOf(value.callee) === "tuple");
      return { isTuple, array: isTuple ? tupled(scope.components([value])) : scope.array(value) };
    },
  };
}

/** Returns a call's arguments by parameter name; throws `Misread` if the call has too many arguments. */
function argumentsOf(
  scope: Scope,
  parameters: string,
  given: readonly Argument[],
  name: string,
): ReadonlyMap<string, Node> {
  const known = parameters.split(", ").map((one) => one.split("|"));
  const values = new Map<string, Node>();
  let position = 0;
  for (const { name: keyword, value } of given) {
    const parameter =
      keyword === null ? known[position++] : known.find((names) => names.includes(keyword));
    if (parameter === undefined || values.has(parameter[0])) {
      throw new Misread(
        `${name} has no parameter for the argument ${keyword ?? scope.at(value)}`,
        value,
      );
    }
    values.set(parameter[0], value);
  }
  return values;
}

/** Matches `x.at[i]`. */
const isAt = (node: Node): node is Node & { kind: "index" } =>
  node.kind === "index" && node.of.kind === "attribute" && node.of.name === "at";

const AT: Readonly<Record<string, string | undefined>> = Object.assign(Object.create(null), {
  set: "none",
  add: "add",
  subtract: "sub",
  multiply: "mul",
  mul: "mul",
  min: "min",
  max: "max",
  get: "get",
});

function atCall(
  scope: Scope,
  node: Node & { kind: "call" },
  at: Node & { kind: "index" },
  method: string,
): Found | null {
  const reduction = AT[method];
  if (reduction === undefined || at.of.kind !== "attribute") return null;
  const array = { ...at, of: at.of.of };
  const mode = node.arguments.find(({ name }) => name === "mode");
  const remarks =
    mode === undefined
      ? ["JAX ignores an index out of range without an error; the page reports the index."]
      : [
          `The mode of the index, ${scope.at(mode.value)}, is ignored: the page reports an index out of range.`,
        ];
  const [updates] = node.arguments;
  const found =
    reduction === "get"
      ? subscript(scope, array, null, "none")
      : subscript(scope, array, updates?.value ?? null, reduction);
  return found === null
    ? null
    : {
        ...found,
        node,
        target: null,
        draft: { ...found.draft, remarks: [...(found.draft.remarks ?? []), ...remarks] },
      };
}

/** Drafts `x[i]`, or `x[i] = u` if updates are given. Returns null if the index is not an array. */
export function subscript(
  scope: Scope,
  node: Node & { kind: "index" },
  updates: Node | null,
  reduction: string,
): Found | null {
  const elsewhere: Node[] = [];
  const { items } = node;
  const slicesBefore = items.findIndex((one) => !(one.kind === "slice" && one.isAll));
  if (slicesBefore === -1 || items.slice(slicesBefore).some((one) => one.kind === "slice"))
    return null;
  const rest = items.slice(slicesBefore);
  if (updates === null && rest.every((one) => scope.number(one) !== null)) return null;
  const data = inputOf(scope, node.of, elsewhere);
  const values = updates === null ? null : inputOf(scope, updates, elsewhere);
  const [only] = rest;
  const isUnknown = rest.some((one) => scope.isElsewhere(one));
  if (isUnknown) for (const one of rest) if (scope.isElsewhere(one)) elsewhere.push(one);
  const parts = isUnknown ? null : scope.components(rest);
  const isTuple = rest.length > 1 || (parts !== null && parts.length > 1) || isTupleOf(only);
  if (isTuple && slicesBefore > 0) return null;
  if (parts?.some(({ dtype }) => dtype === "bool") === true) {
    throw new Misread(
      "a boolean mask is not supported here: use the indices where the mask is true",
      only,
    );
  }
  const index = parts === null ? null : isTuple ? tupled(parts) : parts[0];
  const target = pathOf(node.of);
  const draft =
    updates === null
      ? isTuple
        ? gatherND(data, index)
        : gather(data, index, slicesBefore)
      : isTuple
        ? tuples(data, index, values, reduction)
        : slices(data, index, values, slicesBefore, reduction);
  return { draft, node, target: updates === null ? null : target, elsewhere };
}

const isTupleOf = (node: Node): boolean => node.kind === "call" && pathOf(node.callee) === "tuple";

/** Drafts `helper.make_node("ScatterND", ["data", "indices", "updates"], ["output"], reduction="add")`. */
function onnxNode(scope: Scope, node: Node & { kind: "call" }): Found {
  const [type, inputs] = ["op_type", "inputs"].map(
    (name, position) =>
      node.arguments.find((one) => one.name === name)?.value ??
      node.arguments.filter((one) => one.name === null)[position]?.value,
  );
  const op = type?.kind === "text" ? type.text : "";
  const version = newestOf("ai.onnx", op);
  if (version === null)
    throw new Misread(
      `${op === "" ? "this node" : op} is not a scatter or gather that the page supports`,
      type ?? node,
    );
  const names = inputs?.kind === "list" ? inputs.items : [];
  const elsewhere: Node[] = [];
  const given = version.inputs.map((schema, position) => {
    const name = names[position];
    const text = name?.kind === "text" ? name.text : "";
    if (text === "") return [roleOf(schema), undefined] as const;
    const array = scope.names.get(text);
    if (array === undefined) elsewhere.push(name);
    return [roleOf(schema), array ?? null] as const;
  });
  const attributes: Record<string, string> = {};
  for (const { name, value } of node.arguments) {
    if (name === null || /^(?:op_type|inputs|outputs|name|doc_string|domain)$/.test(name)) continue;
    attributes[name] = attributeOf(scope, value);
  }
  const opset = opsetIn(scope.text);
  const draft: Draft = {
    domain: "ai.onnx",
    op,
    ...(opset === null ? {} : { opset }),
    attributes,
    inputs: Object.fromEntries(given.filter(([, array]) => array !== undefined)),
  };
  return { draft, node, target: null, elsewhere };
}

function attributeOf(scope: Scope, node: Node): string {
  if (node.kind === "text") return node.text;
  const number = scope.number(node);
  if (number !== null) return String(number);
  if (node.kind === "name") return node.name.toLowerCase();
  throw new Misread("an attribute must be a word or a number", node);
}

/** Returns the opset that an ONNX program imports, for example by `make_opsetid("", 18)` or `opset_version=18`. */
export function opsetIn(text: string): number | null {
  const found =
    /(?:make_opsetid|make_operatorsetid)\(\s{0,9}["'](?:ai\.onnx)?["']\s{0,9},\s{0,9}(\d{1,4})\s{0,9}\)/.exec(
      text,
    );
  return found === null ? null : Number(found[1]);
}

/** Drafts ndscatter's `run(node, [data, indices])`. */
function runCall(scope: Scope, node: Node & { kind: "call" }): Found | null {
  const [first, second] = node.arguments.map(({ value }) => value);
  const record = first?.kind === "name" ? scope.others.get(first.name) : first;
  if (record?.kind !== "record" || second?.kind !== "list") return null;
  const entries = new Map(record.entries);
  const word = (name: string): string => {
    const value = entries.get(name);
    return value === undefined ? "" : attributeOf(scope, value);
  };
  const op = word("op");
  const domain =
    word("domain") === "openvino" || (word("domain") === "" && newestOf("ai.onnx", op) === null)
      ? "openvino"
      : "ai.onnx";
  const version = newestOf(domain, op);
  if (version === null)
    throw new Misread(
      `${op === "" ? "the node" : op} is not an operator that the page supports`,
      record,
    );
  const attributes = entries.get("attributes");
  const listed = attributes?.kind === "record" ? attributes.entries : [];
  const elsewhere: Node[] = [];
  const inputs = version.inputs.flatMap((schema, position) => {
    const input = second.items[position];
    return input !== undefined && isGiven(input)
      ? [[roleOf(schema), inputOf(scope, input, elsewhere)] as const]
      : [];
  });
  const opset = Number(word("opset") || Number.NaN);
  const draft: Draft = {
    domain,
    op: version.name,
    ...(Number.isInteger(opset) ? { opset } : {}),
    attributes: Object.fromEntries(
      listed.map(([name, value]) => [name, attributeOf(scope, value)]),
    ),
    inputs: Object.fromEntries(inputs),
  };
  return { draft, node, target: null, elsewhere };
}

const isGiven = (node: Node): boolean => node.kind !== "name" || node.name !== "undefined";

const OWN: Readonly<Record<string, string | undefined>> = Object.assign(Object.create(null), {
  scatterND: "ScatterND",
  scatterElements: "ScatterElements",
  scatter: "ScatterElements",
  gatherND: "GatherND",
  gatherElements: "GatherElements",
  gather: "Gather",
  tensorScatter: "TensorScatter",
});

const SNAKE: Readonly<Record<string, string | undefined>> = { batchDims: "batch_dims" };

function ownCall(scope: Scope, node: Node & { kind: "call" }, op: string): Found | null {
  const version = newestOf("ai.onnx", op);
  if (version === null) return null;
  const values = node.arguments.map(({ value }) => value);
  const options = values.find((one) => one.kind === "record");
  const elsewhere: Node[] = [];
  const inputs = version.inputs.flatMap((schema, position) => {
    const value = values[position];
    return value === undefined || value === options
      ? []
      : [[roleOf(schema), inputOf(scope, value, elsewhere)] as const];
  });
  const entries = options?.kind === "record" ? options.entries : [];
  const draft: Draft = {
    domain: "ai.onnx",
    op,
    attributes: Object.fromEntries(
      entries.map(([name, value]) => [SNAKE[name] ?? name, attributeOf(scope, value)]),
    ),
    inputs: Object.fromEntries(inputs),
  };
  return { draft, node, target: null, elsewhere };
}
