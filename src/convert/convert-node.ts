/** One node of the family in the words of a target. */

import { isTensorError } from "../errors.ts";
import { quote } from "../model/graph.ts";
import type { Attribute, ModelNode } from "../model/model.ts";
import { settingOf } from "../operators/settings.ts";
import {
  roleOf,
  type AttributeSchema,
  type OperatorVersion,
  type Role,
} from "../operators/operator.ts";
import { infer } from "../call/infer.ts";
import { tensor } from "../tensor/tensor.ts";
import type { Additions } from "./additions.ts";
import { adaptIndices } from "./indices.ts";
import {
  adviceFor,
  dataTypes,
  meaningOf,
  objectionTo,
  opsetOf,
  refusal,
  siblingsOf,
  targetVersion,
  titleOf,
  wordOf,
  type Meaning,
} from "./meaning.ts";
import { reword } from "./reword.ts";
import type { Scope } from "./scope.ts";
import { printTarget, type Target } from "./target.ts";

/** A node as the target has it: the same object where nothing changes. */
export interface Converted {
  readonly node: ModelNode;
  readonly from: OperatorVersion;
  readonly to: OperatorVersion;
  /** What had to be taken on trust. */
  readonly notes: readonly string[];
}

/** @throws TensorError `unsupported-model` with what the target cannot say; else what is wrong with the node. */
export function convertNode(
  node: ModelNode,
  opset: number,
  target: Target,
  scope: Scope,
  additions: Additions,
): Converted {
  const own = meaningOf(node, opset, scope);
  const meaning = reword(own, target, scope, additions);
  const row = targetVersion(meaning.op, target);
  if (row === null) throw refusal(noVersion(meaning.op, target));
  const objection = objectionTo(row, meaning);
  if (objection !== null) {
    throw refusal(`${titleOf(row)} ${objection}${adviceFor(meaning, target)}`);
  }
  const isForeign = row.domain !== node.domain;
  const inputs: Partial<Record<Role, string>> = {
    ...meaning.inputs,
    indices: adaptIndices(row, meaning, target, scope, additions) ?? "",
  };
  if (row.inputs.some((input) => roleOf(input) === "axis") && meaning.settings.axis !== null) {
    inputs.axis ??= axisConstant(meaning.settings.axis, node, additions);
  }
  const names = row.inputs.map((input) => inputs[roleOf(input)] ?? "");
  while (names[names.length - 1] === "") names.pop();
  const attributes = attributesFor(row, meaning, isForeign);
  const notes = trustOf(row, meaning);
  const to = { from: own.version, to: row, notes };
  // A node of ONNX does not say its version.
  const says = row.domain === "ai.onnx" ? {} : { opset: opsetOf(row) };
  const isKept = row === own.version || row.domain === "ai.onnx";
  if (!isForeign && isKept && isSame(node, row, names, attributes)) return { node, ...to };
  const { name, outputs } = node;
  const common = { name, op: row.name, domain: row.domain, inputs: names, outputs, attributes };
  if (!isForeign) return { node: { ...node, ...common, ...says }, ...to };
  const foreign = { ...common, ...says };
  checkTypes(foreign, row, scope);
  return { node: foreign, ...to };
}

function noVersion(op: string, target: Target): string {
  const [first] = siblingsOf(op, target.domain);
  if (first === undefined) return `${target.domain} has no operator that does what ${op} does`;
  return `${printTarget(target)} does not have ${first.name} yet; opset ${opsetOf(first)} has it`;
}

const axisConstant = (axis: number, { outputs, op }: ModelNode, additions: Additions): string =>
  additions.constant(outputs[0] ?? op, "axis", () => tensor("int64", [], axis));

/** The attributes that say the same in a version; those that say it already are kept as they are. */
function attributesFor(
  row: OperatorVersion,
  { node, settings }: Meaning,
  isForeign: boolean,
): Record<string, Attribute> {
  const wanted = (schema: AttributeSchema): number | string | boolean => {
    const setting = settingOf(schema) as keyof typeof settings;
    const value = setting === "reduction" ? wordOf(row, settings.reduction) : settings[setting];
    return value ?? 0;
  };
  const made = new Map<string, Attribute>();
  const given = Object.entries(node.attributes);
  for (const [name, attribute] of given) {
    const schema = row.attributes.find((one) => one.name === name);
    if (schema === undefined) continue;
    const value = wanted(schema);
    const isKept = !isForeign && plainValue(attribute) === value;
    made.set(name, isKept ? attribute : attributeOf(schema, value));
  }
  for (const schema of row.attributes) {
    const value = wanted(schema);
    if (made.has(schema.name) || value === schema.default) continue;
    made.set(schema.name, attributeOf(schema, value));
  }
  return Object.fromEntries(made);
}

const plainValue = ({ type, value }: Attribute): unknown =>
  type === "int" ? Number(value) : value;

function attributeOf({ type }: AttributeSchema, value: number | string | boolean): Attribute {
  if (type === "int") return { type, value: Number(value) };
  return type === "boolean" ? { type, value: value === true } : { type, value: String(value) };
}

function isSame(
  node: ModelNode,
  row: OperatorVersion,
  inputs: readonly string[],
  attributes: Readonly<Record<string, Attribute>>,
): boolean {
  const before = Object.entries(node.attributes);
  return (
    node.op === row.name &&
    before.length === Object.keys(attributes).length &&
    before.every(([name, attribute]) => attributes[name] === attribute) &&
    // Optional ones at the end may be left out in two ways.
    node.inputs.every((name, position) => name === (inputs[position] ?? ""))
  );
}

/** A data type that nobody declared may be one that the target does not take. */
function trustOf(row: OperatorVersion, { version, inputs, dtype }: Meaning): string[] {
  if (dtype !== null) return [];
  const lost = dataTypes(version).filter((dtype) => !dataTypes(row).includes(dtype));
  if (lost.length === 0) return [];
  return [
    `the data type of ${quote(inputs.data ?? "")} is not declared; ${titleOf(row)} takes all that ${titleOf(version)} does but ${lost.join(", ")}`,
  ];
}

/** What the target's version says of the types, as far as they are known: it may be stricter on shapes. */
function checkTypes(node: ModelNode, row: OperatorVersion, scope: Scope): void {
  const types = node.inputs.map((name) => (name === "" ? undefined : scope.typeOf(name)));
  if (types.includes(null)) return;
  const attributes = Object.fromEntries(
    Object.entries(node.attributes).map(([name, { value }]) => [name, value]),
  );
  const known = types.map((type) => type ?? undefined);
  try {
    infer({ domain: row.domain, op: row.name, opset: row.sinceVersion, attributes }, known);
  } catch (cause) {
    if (isTensorError(cause)) throw refusal(cause.message);
    throw cause;
  }
}
