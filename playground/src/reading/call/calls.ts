/** Recognizes scatters and gathers: listed functions, `x.at[i].add(u)`, `x[i]` and `x[i] = u`. */

import type { Statement, Argument, Call, Index, Value } from "../literals.ts";
import { numberIn } from "../blocks.ts";
import { stacked, type Arr } from "./arrays.ts";
import { gather, gatherND, slices, tuples, type Draft } from "./draft.ts";
import { formOf, type Bound } from "./forms.ts";
import { libraryOf, type Names } from "./names.ts";
import { ownCall, onnxNode, runCall } from "./nodes.ts";

/** Returns a statement's call, or null for any other statement. */
export function draftOf(names: Names, { target, sign, value }: Statement): Draft | null {
  if (target?.kind !== "index") return sign === "" || sign === "=" ? callOf(names, value) : null;
  const reduction = { "=": "none", "+=": "add", "*=": "mul", "-=": "sub" }[sign];
  if (reduction === undefined) return null;
  const draft = subscript(names, target, value, reduction);
  if (draft === null || sign === "=") return draft;
  const remark = `In NumPy and PyTorch, x[i] ${sign} u keeps only the last update of a repeated target; here every update counts.`;
  return { ...draft, remarks: [...(draft.remarks ?? []), remark] };
}

function callOf(names: Names, value: Value): Draft | null {
  if (value.kind === "index") return subscript(names, value, null, "none");
  if (value.kind !== "call") return null;
  const { name, self } = value;
  if (self?.kind === "index" && self.isAt) return atCall(names, value, self);
  if (/(?:^|\.)make_node$/.test(name)) return onnxNode(names, value);
  if (name === "run") return runCall(names, value);
  const own = self === null ? ownCall(names, value) : null;
  if (own !== null) return own;
  const library = self === null ? libraryOf(name) : null;
  if (library !== null) return tableCall(names, value, library, value.arguments);
  const array = self ?? names.owner(value);
  if (array === null) return null;
  const method = { ...value, name: name.replace(/^.*\./, "") };
  return tableCall(names, method, null, [{ name: null, value: array }, ...value.arguments]);
}

function tableCall(
  names: Names,
  call: Call,
  library: string | null,
  given: readonly Argument[],
): Draft | null {
  const found = formOf(library, call.name);
  if (found === null) return null;
  return found.form.make(boundOf(names, call, found.form.parameters, given, found.name));
}

function boundOf(
  names: Names,
  call: Call,
  parameters: string,
  given: readonly Argument[],
  name: string,
): Bound {
  const values = argumentsOf(names, parameters, given, name);
  const get = (parameter: string): Value => {
    const value = values.get(parameter);
    if (value === undefined)
      throw names.wrong(`${name} needs the argument ${parameter}`, call.start);
    return value;
  };
  const wordIn = (parameter: string): string => {
    const value = values.get(parameter);
    return value?.kind === "word" ? value.text : "";
  };
  if (values.has("alpha") && wordIn("alpha") !== "1") {
    const sentence = "alpha is not supported here: multiply the source by alpha";
    throw names.wrong(sentence, get("alpha").start);
  }
  return {
    name,
    has: (parameter) => values.has(parameter) && wordIn(parameter) !== "None",
    array: (parameter) => names.array(get(parameter)),
    word: wordIn,
    number(parameter, otherwise) {
      if (otherwise !== undefined && !values.has(parameter)) return otherwise;
      return names.integer(get(parameter), parameter);
    },
    index(parameter) {
      const value = names.valueOf(get(parameter));
      const isTuple = value.kind === "list" && value.bracket === "(";
      return {
        isTuple,
        array: isTuple ? stacked(value.items.map(names.array)) : names.array(value),
      };
    },
  };
}

/** Returns a call's arguments by parameter name; throws if the call has too many arguments. */
function argumentsOf(
  names: Names,
  parameters: string,
  given: readonly Argument[],
  name: string,
): ReadonlyMap<string, Value> {
  const known = parameters.split(", ").map((one) => one.split("|"));
  const values = new Map<string, Value>();
  let position = 0;
  for (const { name: keyword, value } of given) {
    const parameter =
      keyword === null ? known[position++] : known.find((all) => all.includes(keyword));
    if (parameter === undefined || values.has(parameter[0])) {
      const title = keyword === null ? `${position}` : keyword;
      throw names.wrong(`${name} has no parameter for the argument ${title}`, value.start);
    }
    values.set(parameter[0], value);
  }
  return values;
}

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

const JAX = "JAX ignores an index out of range without an error; the page reports the index.";

/** Drafts JAX's `x.at[i].add(u)`. Its argument `mode` affects only an index out of range. */
function atCall(names: Names, call: Call, at: Index): Draft | null {
  const reduction = AT[call.name];
  if (reduction === undefined) return null;
  const updates = call.arguments.find(({ name }) => name === null || name === "values");
  const found =
    reduction === "get"
      ? subscript(names, at, null, "none")
      : subscript(names, at, updates?.value ?? null, reduction);
  return found === null ? null : { ...found, remarks: [...(found.remarks ?? []), JAX] };
}

const isSlice = (value: Value): boolean =>
  value.kind === "word" && (value.text === ":" || value.text === "...") && !value.isQuoted;

/** Drafts `x[i]`, or `x[i] = u` if updates are given. Returns null if the index is not an array. */
function subscript(
  names: Names,
  { of, items, start }: Index,
  updates: Value | null,
  reduction: string,
): Draft | null {
  const [only] = items;
  const isOne = items.length === 1 && only.kind === "list" && only.bracket === "(";
  const all = isOne ? only.items : items;
  const slicesBefore = all.findIndex((one) => !isSlice(one));
  const rest = all.slice(slicesBefore);
  if (slicesBefore === -1 || rest.some(isSlice)) return null;
  if (updates === null && rest.every((one) => numberIn(names.valueOf(one)) !== null)) return null;
  const parts = rest.map(names.array);
  const isTuple = parts.length > 1;
  if (isTuple && slicesBefore > 0) return null;
  if (parts.some(({ dtype }) => dtype === "bool")) {
    const sentence = "a boolean mask is not supported here: use the indices where the mask is true";
    throw names.wrong(sentence, start);
  }
  const data = names.array(of);
  const index: Arr = isTuple ? stacked(parts) : parts[0];
  if (updates === null) return isTuple ? gatherND(data, index) : gather(data, index, slicesBefore);
  const values = names.array(updates);
  return isTuple
    ? tuples(data, index, values, reduction)
    : slices(data, index, values, slicesBefore, reduction);
}
