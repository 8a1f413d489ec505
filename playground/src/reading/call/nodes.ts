/** Drafts the calls that name an operator: ONNX's `make_node`, and ndscatter's `run` and plain functions. */

import { roleOf } from "ndscatter/operators";
import { numberIn } from "../blocks.ts";
import type { Argument, Call, Value } from "../literals.ts";
import { newestOf } from "../../values/schema.ts";
import type { Draft } from "./draft.ts";
import type { Names } from "./names.ts";

interface Node extends Pick<Draft, "domain" | "op" | "opset"> {
  readonly inputs: readonly Value[];
  readonly attributes: readonly Argument[];
}

/** An omitted input is `None`, `undefined` or an empty name. */
const isOmitted = (value: Value | undefined): boolean =>
  value === undefined || (value.kind === "word" && /^(?:|None|undefined)$/.test(value.text));

function nodeOf(names: Names, { inputs, attributes, ...id }: Node, start: number): Draft {
  const version = newestOf(id.domain, id.op);
  if (version === null) {
    const title = id.op === "" ? "this node" : id.op;
    throw names.wrong(`${title} is not a scatter or gather that the page supports`, start);
  }
  const arrays = version.inputs.flatMap((schema, position) =>
    isOmitted(inputs[position]) ? [] : [[roleOf(schema), names.array(inputs[position])]],
  );
  const texts = attributes.map(({ name, value }) => [name ?? "", attributeOf(names, value)]);
  return { ...id, attributes: Object.fromEntries(texts), inputs: Object.fromEntries(arrays) };
}

function attributeOf(names: Names, value: Value): string {
  const found = names.valueOf(value);
  if (found.kind !== "word")
    throw names.wrong("an attribute must be a word or a number", value.start);
  if (found.isQuoted) return found.text;
  return String(numberIn(found) ?? found.text.toLowerCase());
}

const NO_ATTRIBUTE = /^(?:op_type|inputs|outputs|name|doc_string|domain)$/;

/** Drafts `helper.make_node("ScatterND", ["data", "indices", "updates"], ["output"], reduction="add")`. */
export function onnxNode(names: Names, { arguments: all, start }: Call): Draft {
  const positional = all.filter(({ name }) => name === null);
  const [type, inputs] = ["op_type", "inputs"].map(
    (name, position) => all.find((one) => one.name === name)?.value ?? positional[position]?.value,
  );
  // In ONNX, quoted text names an array.
  const arrays = (inputs?.kind === "list" ? inputs.items : []).map((value) =>
    value.kind === "word" ? { ...value, isQuoted: false } : value,
  );
  const node = {
    domain: "ai.onnx",
    op: type?.kind === "word" ? type.text : "",
    inputs: arrays,
    attributes: all.filter(({ name }) => name !== null && !NO_ATTRIBUTE.test(name)),
  } as const;
  return nodeOf(names, node, type?.start ?? start);
}

/** Drafts ndscatter's `run(node, [data, indices])`. */
export function runCall(names: Names, call: Call): Draft | null {
  const [first, second] = call.arguments.map(({ value }) => names.valueOf(value));
  if (first?.kind !== "call" || first.name !== "" || second?.kind !== "list") return null;
  const entries = new Map(first.arguments.map(({ name, value }) => [name, value]));
  const [op, domain, opset] = ["op", "domain", "opset"].map((name) => {
    const value = entries.get(name);
    return value === undefined ? "" : attributeOf(names, value);
  });
  const isOpenvino = domain === "openvino" || (domain === "" && newestOf("ai.onnx", op) === null);
  const attributes = entries.get("attributes");
  const node = {
    domain: isOpenvino ? "openvino" : "ai.onnx",
    op,
    ...(/^-?\d+$/.test(opset) ? { opset: Number(opset) } : {}),
    inputs: second.items,
    attributes: attributes?.kind === "call" ? attributes.arguments : [],
  } as const;
  return nodeOf(names, node, first.start);
}

/** The plain functions of ndscatter. */
const OWN: ReadonlyMap<string, string> = new Map([
  ["scatterND", "ScatterND"],
  ["scatterElements", "ScatterElements"],
  ["scatter", "ScatterElements"],
  ["gatherND", "GatherND"],
  ["gatherElements", "GatherElements"],
  ["gather", "Gather"],
  ["tensorScatter", "TensorScatter"],
]);

/** Drafts a plain function of ndscatter, whose last argument may be an object of settings. */
export function ownCall(names: Names, { name, arguments: all, start }: Call): Draft | null {
  const op = OWN.get(name);
  if (op === undefined) return null;
  const values = all.map(({ value }) => value);
  const last = values.at(-1);
  const settings = last?.kind === "call" && last.name === "" ? last.arguments : [];
  const attributes = settings.map((one) =>
    one.name === "batchDims" ? { ...one, name: "batch_dims" } : one,
  );
  const inputs = settings.length === 0 ? values : values.slice(0, -1);
  return nodeOf(names, { domain: "ai.onnx", op, inputs, attributes }, start);
}
