/** Converts a scatter or gather: its operator, inputs and attributes become those of the target version. */

import { infer } from "../../core/call/check.ts";
import { recovering } from "../../core/errors.ts";
import { quote } from "../model/graph.ts";
import type { Attribute, ModelNode } from "../model/model.ts";
import type { Scope } from "../model/values.ts";
import type { AttributeSchema, OperatorVersion, Role } from "../../core/operators/operator.ts";
import { settingOf } from "../../core/operators/settings.ts";
import { signatureOf } from "../../core/operators/signature.ts";
import { tensor } from "../../core/tensor/tensor.ts";
import type { Additions, GraphContext } from "./context.ts";
import { adaptIndices } from "./indices.ts";
import {
  adviceFor,
  comparisonNotes,
  dataTypes,
  firstOpset,
  meaningOf,
  objectionTo,
  refusal,
  siblingsOf,
  targetVersion,
  versionTitle,
  wordOf,
  type Meaning,
} from "./meaning.ts";
import { cutData, reword } from "./reword.ts";
import { printTarget, type CheckedTarget } from "./target.ts";

/**
 * Throws `unsupported-model` for a feature that the target cannot express; other codes for a node that is invalid in
 * its own version.
 */
export function convertNode(
  node: ModelNode,
  opset: number,
  context: GraphContext,
): readonly ModelNode[] {
  const { target, scope, log } = context;
  const own = meaningOf(node, opset, scope);
  const meaning = reword(own, context);
  const row = targetVersion(meaning.op, target);
  if (row === null) throw refusal(noVersion(meaning.op, target));
  const objection = objectionTo(row, meaning);
  if (objection !== null) throw refusal(`${objection}${adviceFor(meaning, target)}`);
  const { name, domain, outputs } = node;
  const isForeign = row.domain !== domain;
  const inputs = inputsFor(row, meaning, context);
  const attributes = attributesFor(row, meaning, isForeign);
  const undeclared = undeclaredType(row, meaning, log.force);
  const notes = [...meaning.trusted, ...undeclared, ...comparisonNotes(row, meaning)];
  const titles = { from: versionTitle(own.version), to: versionTitle(row) };
  // ONNX nodes do not store a version.
  const isOnnx = row.domain === "ai.onnx";
  const isKept = !isForeign && (isOnnx || row === own.version);
  if (isKept && isUnchanged(node, row, inputs, attributes))
    return log.converted(node, [node], titles, notes);
  const common = { name, op: row.name, domain: row.domain, inputs, outputs, attributes };
  const version = isOnnx ? {} : { opset: firstOpset(row) };
  const converted = { ...(isForeign ? {} : node), ...common, ...version };
  if (isForeign) checkAccepted(converted, row, scope);
  return log.converted(node, [converted], titles, notes);
}

function noVersion(op: string, target: CheckedTarget): string {
  const [first] = siblingsOf(op, target.domain);
  if (first === undefined) return `${target.domain} has no operator equivalent to ${op}`;
  return `${printTarget(target)} does not have ${first.name} yet; opset ${firstOpset(first)} has it`;
}

/** Returns the input names in the target version's order, and adds constants and casts if they are needed. */
function inputsFor(row: OperatorVersion, meaning: Meaning, context: GraphContext): string[] {
  const { node, settings } = meaning;
  const indices = adaptIndices(row, meaning, context) ?? "";
  const data = cutData(row, meaning, context) ?? "";
  const inputs: Partial<Record<Role, string>> = { ...meaning.inputs, data, indices };
  const { inputs: rules, positions } = signatureOf(row);
  if (positions.axis >= 0 && settings.axis !== null)
    inputs.axis ??= axisConstant(settings.axis, node, context.additions);
  const names = rules.map(({ role }) => inputs[role] ?? "");
  while (names[names.length - 1] === "") names.pop();
  return names;
}

const axisConstant = (axis: number, { outputs, op }: ModelNode, additions: Additions): string =>
  additions.constant(outputs[0] || op, "axis", () => tensor("int64", [], axis), axis);

/**
 * Returns the attributes that keep the node's meaning in another version. An attribute that already has this meaning is
 * not rewritten.
 */
function attributesFor(
  row: OperatorVersion,
  { node, settings, version }: Meaning,
  isForeign: boolean,
): Record<string, Attribute> {
  if (row === version) return node.attributes;
  const wanted = (schema: AttributeSchema): number | string | boolean => {
    const setting = settingOf(schema) as keyof typeof settings;
    const value = setting === "reduction" ? wordOf(row, settings.reduction) : settings[setting];
    return value ?? 0;
  };
  const kept = Object.entries(node.attributes).flatMap(([name, attribute]) => {
    const schema = row.attributes.find((one) => one.name === name);
    if (schema === undefined) return [];
    const value = wanted(schema);
    const isKept = !isForeign && plainValue(attribute) === value;
    return [[name, isKept ? attribute : makeAttribute(schema, value)] as const];
  });
  const added = row.attributes
    .filter((one) => !Object.hasOwn(node.attributes, one.name) && wanted(one) !== one.default)
    .map((one) => [one.name, makeAttribute(one, wanted(one))] as const);
  return Object.fromEntries([...kept, ...added]);
}

const plainValue = ({ type, value }: Attribute): unknown =>
  type === "int" ? Number(value) : value;

function makeAttribute({ type }: AttributeSchema, value: number | string | boolean): Attribute {
  if (type === "int") return { type, value: Number(value) };
  return type === "boolean" ? { type, value: value === true } : { type, value: String(value) };
}

function isUnchanged(
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
    // An omitted last input may have an empty name or be absent.
    node.inputs.every((name, position) => name === (inputs[position] ?? ""))
  );
}

/**
 * Returns a note if the node's data type is unknown, and the target version accepts fewer data types than the node's
 * version. Throws `unsupported-model` without `force`.
 */
function undeclaredType(
  row: OperatorVersion,
  { version, inputs, dtype }: Meaning,
  force: boolean,
): string[] {
  if (dtype !== null) return [];
  const lost = dataTypes(version).filter((dtype) => !dataTypes(row).includes(dtype));
  if (lost.length === 0) return [];
  const [to, from] = [row, version].map(versionTitle);
  const takes = `${to} accepts all data types of ${from} except ${lost.join(", ")}`;
  const sentence = `the data type of ${quote(inputs.data ?? "")} is not declared; ${takes}`;
  if (!force) throw refusal(sentence);
  return [sentence];
}

/** Infers the output type in the target version, which may have stricter shape rules. */
function checkAccepted(node: ModelNode, row: OperatorVersion, scope: Scope): void {
  const types = node.inputs.map((name) => (name === "" ? undefined : scope.typeOf(name)));
  if (types.includes(null)) return;
  const attributes = Object.fromEntries(
    Object.entries(node.attributes).map(([name, { value }]) => [name, value]),
  );
  const known = types.map((type) => type ?? undefined);
  const call = { domain: row.domain, op: row.name, opset: row.sinceVersion, attributes };
  recovering(
    () => void infer(call, known),
    ({ message }) => {
      throw refusal(message);
    },
  );
}
