/** Drafts the calls that name an operator: ONNX's `make_node`, and ndscatter's `run` and plain functions. */

import type { OperatorVersion, Role } from "ndscatter";
import { roleOf } from "ndscatter/operators";
import { numberIn } from "../blocks.ts";
import type { Argument, Call, Value } from "../literals.ts";
import { newestOf } from "../../values/schema.ts";
import type { Arr } from "./arrays.ts";
import type { Draft } from "./draft.ts";
import type { Names } from "./names.ts";

type Inputs = Partial<Record<Role, Arr>>;

/** Returns a node's inputs by role. An omitted input is `None`, `undefined` or an empty name. */
function inputsOf(names: Names, version: OperatorVersion, given: readonly Value[]): Inputs {
  const entries = version.inputs.flatMap((schema, position) => {
    const value = given[position];
    const isOmitted =
      value === undefined || (value.kind === "word" && /^(?:|None|undefined)$/.test(value.text));
    return isOmitted ? [] : [[roleOf(schema), names.array(value)] as const];
  });
  return Object.fromEntries(entries);
}

function attributeOf(names: Names, value: Value): string {
  const found = names.valueOf(value);
  if (found.kind !== "word")
    throw names.wrong("an attribute must be a word or a number", value.start);
  if (found.isQuoted) return found.text;
  return String(numberIn(found) ?? found.text.toLowerCase());
}

const attributesOf = (names: Names, all: readonly Argument[]): Record<string, string> =>
  Object.fromEntries(all.map(({ name, value }) => [name ?? "", attributeOf(names, value)]));

const NO_ATTRIBUTE = /^(?:op_type|inputs|outputs|name|doc_string|domain)$/;

/** Drafts `helper.make_node("ScatterND", ["data", "indices", "updates"], ["output"], reduction="add")`. */
export function onnxNode(names: Names, call: Call): Draft {
  const positional = call.arguments.filter(({ name }) => name === null);
  const [type, inputs] = ["op_type", "inputs"].map(
    (name, position) =>
      call.arguments.find((one) => one.name === name)?.value ?? positional[position]?.value,
  );
  const op = type?.kind === "word" ? type.text : "";
  const version = known(names, "ai.onnx", op, type ?? call);
  const given = inputs?.kind === "list" ? inputs.items.map(unquoted) : [];
  const rest = call.arguments.filter(({ name }) => name !== null && !NO_ATTRIBUTE.test(name));
  return {
    domain: "ai.onnx",
    op,
    attributes: attributesOf(names, rest),
    inputs: inputsOf(names, version, given),
  };
}

/** In ONNX, quoted text names an array. */
const unquoted = (value: Value): Value =>
  value.kind === "word" ? { ...value, isQuoted: false } : value;

function known(
  names: Names,
  domain: string,
  op: string,
  { start }: { readonly start: number },
): OperatorVersion {
  const version = newestOf(domain, op);
  if (version !== null) return version;
  const title = op === "" ? "this node" : op;
  throw names.wrong(`${title} is not a scatter or gather that the page supports`, start);
}

/** Drafts ndscatter's `run(node, [data, indices])`. */
export function runCall(names: Names, call: Call): Draft | null {
  const [first, second] = call.arguments.map(({ value }) => names.valueOf(value));
  if (first?.kind !== "call" || first.name !== "" || second?.kind !== "list") return null;
  const entries = new Map(first.arguments.map(({ name, value }) => [name, value]));
  const word = (name: string): string => {
    const value = entries.get(name);
    return value === undefined ? "" : attributeOf(names, value);
  };
  const op = word("op");
  const isOpenvino =
    word("domain") === "openvino" || (word("domain") === "" && newestOf("ai.onnx", op) === null);
  const domain = isOpenvino ? "openvino" : "ai.onnx";
  const version = known(names, domain, op, first);
  const attributes = entries.get("attributes");
  const opset = Number(word("opset") || Number.NaN);
  return {
    domain,
    op,
    ...(Number.isInteger(opset) ? { opset } : {}),
    attributes: attributes?.kind === "call" ? attributesOf(names, attributes.arguments) : {},
    inputs: inputsOf(names, version, second.items),
  };
}

const OWN: Readonly<Record<string, string | undefined>> = Object.assign(Object.create(null), {
  scatterND: "ScatterND",
  scatterElements: "ScatterElements",
  scatter: "ScatterElements",
  gatherND: "GatherND",
  gatherElements: "GatherElements",
  gather: "Gather",
  tensorScatter: "TensorScatter",
});

/** Drafts a plain function of ndscatter, whose last argument may be an object of settings. */
export function ownCall(names: Names, call: Call): Draft | null {
  const op = OWN[call.name];
  const version = op === undefined ? null : newestOf("ai.onnx", op);
  if (op === undefined || version === null) return null;
  const values = call.arguments.map(({ value }) => value);
  const last = values.at(-1);
  const options = last?.kind === "call" && last.name === "" ? last.arguments : [];
  const all = options.map((one) =>
    one.name === "batchDims" ? { ...one, name: "batch_dims" } : one,
  );
  return {
    domain: "ai.onnx",
    op,
    attributes: attributesOf(names, all),
    inputs: inputsOf(names, version, options.length === 0 ? values : values.slice(0, -1)),
  };
}
