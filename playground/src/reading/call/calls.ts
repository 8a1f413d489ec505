/** Recognizes scatters and gathers: listed functions, `x.at[i].add(u)`, `x[i]` and `x[i] = u`. */

import type { Statement, Call, Index, Value } from "../literals.ts";
import { withRemark, type Draft } from "./draft.ts";
import { libraryCall, modeRemark } from "./forms.ts";
import { libraryOf, type Names } from "./names.ts";
import { ownCall, onnxNode, runCall } from "./nodes.ts";
import { reductionNamed, subscript } from "./subscript.ts";

/** Returns a statement's call, or null for any other statement. */
export function draftOf(names: Names, { target, sign, value }: Statement): Draft | null {
  if (target?.kind !== "index") return sign === "" || sign === "=" ? callOf(names, value) : null;
  const reduction = reductionNamed(sign);
  if (reduction === null) return null;
  const draft = subscript(names, { ...target, updates: value, reduction });
  if (sign === "=") return draft;
  const remark = `In NumPy and PyTorch, x[i] ${sign} u keeps only the last update of a repeated target; here every update counts.`;
  return withRemark(draft, remark);
}

function callOf(names: Names, value: Value): Draft | null {
  if (value.kind === "index")
    return subscript(names, { ...value, updates: null, reduction: "none" });
  if (value.kind !== "call") return null;
  const { name, self } = value;
  if (self?.kind === "index" && self.isAt) return atCall(names, value, self);
  if (/(?:^|\.)make_node$/.test(name)) return onnxNode(names, value);
  if (name === "run") return runCall(names, value);
  const own = self === null ? ownCall(names, value) : null;
  if (own !== null) return own;
  const library = self === null ? libraryOf(name) : null;
  if (library !== null) return libraryCall(names, value, library, value.arguments);
  const array = self ?? names.owner(value);
  if (array === null) return null;
  const method = { ...value, name: name.replace(/^.*\./, "") };
  return libraryCall(names, method, null, [{ name: null, value: array }, ...value.arguments]);
}

/** The methods of JAX's `x.at[i]` that are scatters. */
const AT = /^(?:set|add|subtract|multiply|mul|max|min)$/;

/** Drafts JAX's `x.at[i].add(u)`. */
function atCall(names: Names, call: Call, at: Index): Draft | null {
  const isGet = call.name === "get";
  if (!isGet && !AT.test(call.name)) return null;
  const reduction = isGet ? "none" : reductionNamed(call.name);
  if (reduction === null) return null;
  const given = call.arguments.find(({ name }) => name === null || name === "values");
  const updates = isGet ? null : (given?.value ?? null);
  const mode = call.arguments.find(({ name }) => name === "mode")?.value;
  const remark =
    mode?.kind === "word"
      ? modeRemark(mode.text)
      : "JAX ignores an index out of range without an error; the page reports the index.";
  return withRemark(subscript(names, { ...at, updates, reduction }), remark);
}
