/** What a node of the family does, in the words of no version; and which version of a target can say it. */

import type { DType } from "../tensor/dtype.ts";
import { malformed, TensorError } from "../errors.ts";
import { attributesOf } from "../model/run-model.ts";
import type { ModelNode } from "../model/model.ts";
import { typesOf } from "../operators/dtypes.ts";
import { reductionOf, settingOf, settingsOf } from "../operators/settings.ts";
import {
  roleOf,
  type AttributeSchema,
  type OperatorVersion,
  type Role,
  type Settings,
} from "../operators/operator.ts";
import { lookUp, operators } from "../operators/registry.ts";
import { quote } from "../model/graph.ts";
import type { Scope } from "./scope.ts";
import type { Target } from "./target.ts";

export interface Meaning {
  readonly node: ModelNode;
  /** The operator that says it: that of the node, unless it was put into another one's words. */
  readonly op: string;
  /** The version that the node is of. */
  readonly version: OperatorVersion;
  readonly settings: Settings;
  /** The names of its inputs. */
  readonly inputs: Readonly<Partial<Record<Role, string>>>;
  /** The data type of data, as far as that, or what has the same type, is declared. */
  readonly dtype: DType | null;
}

/** @throws TensorError for a node that is wrong by its own version */
export function meaningOf(node: ModelNode, opset: number, scope: Scope): Meaning {
  const { domain, op } = node;
  const { operator, version } = lookUp({ domain, op, opset });
  const fields = { op, opset: version.sinceVersion };
  const settings = settingsOf(version, operator.versions, attributesOf(node), fields);
  if (node.inputs.length > version.inputs.length) {
    throw malformed(`it has ${node.inputs.length} inputs, but ${titleOf(version)} takes fewer`);
  }
  const inputs: Partial<Record<Role, string>> = {};
  for (const [position, schema] of version.inputs.entries()) {
    const { [position]: name = "" } = node.inputs;
    if (name !== "") inputs[roleOf(schema)] = name;
    else if (schema.optional !== true) throw malformed(`its input ${schema.name} is left out`);
  }
  const known = [inputs.data, inputs.updates, node.outputs[0]].map(
    (name) => scope.typeOf(name ?? "")?.dtype ?? null,
  );
  return {
    node,
    op,
    version,
    settings: {
      ...settings,
      axis: inputs.axis === undefined ? settings.axis : axisOf(inputs.axis, scope),
      batchDims: fromFront(settings.batchDims, inputs.indices ?? "", scope),
    },
    inputs,
    dtype: known.find((dtype) => dtype !== null) ?? null,
  };
}

/** The value of an axis that is a constant, null for others. */
function axisOf(name: string, scope: Scope): number | null {
  const one = scope.constantOf(name);
  if (one === null || one.dtype === null) return null;
  const { size, data } = one.read();
  return size === 1 ? Number(data[0]) : null;
}

/** Batch axes that are counted from the back of indices, from the front where their rank is known. */
function fromFront(batchDims: number, indices: string, scope: Scope): number {
  const rank = scope.typeOf(indices)?.shape?.length;
  return batchDims < 0 && rank !== undefined ? batchDims + rank : batchDims;
}

/** The version of the family that a node is of, or null. */
export const versionOf = ({ domain, op }: ModelNode, opset: number): OperatorVersion | null =>
  operators().findLast(
    (row) => row.domain === domain && row.name === op && row.sinceVersion <= opset,
  ) ?? null;

/** `ScatterND-16`. */
export const titleOf = ({ name, sinceVersion }: OperatorVersion): string =>
  `${name}-${sinceVersion}`;

/** What ai.onnx and openvino call one operator where they do not call it the same. */
const OTHER_NAMES: Readonly<Record<string, string>> = {
  ScatterND: "ScatterNDUpdate",
  ScatterElements: "ScatterElementsUpdate",
};

/** All names of an operator, those that are deprecated last. */
function namesOf(op: string): readonly string[] {
  const plain = operators().find(({ name }) => name === op)?.deprecated ?? op;
  const [base] = Object.entries(OTHER_NAMES).find(([, other]) => other === plain) ?? [plain];
  const old = operators().filter(({ deprecated }) => deprecated === base);
  return [...new Set([base, OTHER_NAMES[base] ?? base, ...old.map(({ name }) => name)])];
}

/** The versions of a domain that are of one operator with `op`, in the order of {@link namesOf}, oldest first. */
export function siblingsOf(op: string, domain: string): readonly OperatorVersion[] {
  return namesOf(op).flatMap((name) =>
    operators().filter((one) => one.domain === domain && one.name === name),
  );
}

/** The opset that a version came with. */
export const opsetOf = ({ opset, sinceVersion }: OperatorVersion): number => opset ?? sinceVersion;

/** The version that a target has for `op`, null where it has none. */
export function targetVersion(op: string, { domain, opset }: Target): OperatorVersion | null {
  const rows = siblingsOf(op, domain).filter((row) => opsetOf(row) <= opset);
  return rows.findLast(({ name }) => name === rows[0].name) ?? null;
}

/** The word of a version for a reduction, null where it has none. */
export function wordOf(version: OperatorVersion, reduction: Settings["reduction"]): string | null {
  const { values = ["none"] } = attributeFor(version, "reduction") ?? {};
  return values.find((word) => reductionOf(word) === reduction) ?? null;
}

/** The attribute of a version that is a setting. */
const attributeFor = (
  version: OperatorVersion,
  setting: keyof Settings,
): AttributeSchema | undefined =>
  version.attributes.find((schema) => settingOf(schema) === setting);

/** Why a version cannot say what a node does, as far as attributes and data types go; null where it can. */
export function objectionTo(
  row: OperatorVersion,
  { version, settings, dtype }: Meaning,
): string | null {
  const { reduction, includeSelf, batchDims, mode, axis } = settings;
  const has = (setting: keyof Settings): boolean => attributeFor(row, setting) !== undefined;
  if (wordOf(row, reduction) === null) {
    return `has no reduction ${quote(wordOf(version, reduction) ?? reduction)}`;
  }
  if (reduction !== "none" && !includeSelf && !has("includeSelf")) {
    return "cannot leave data out of a reduction, as use_init_val false does";
  }
  if (batchDims < 0 && attributeFor(row, "batchDims")?.minimum !== undefined) {
    return "takes no negative batch_dims, and the rank of indices is not known";
  }
  if (batchDims !== 0 && !has("batchDims")) return `has no batch_dims, which are ${batchDims}`;
  if (batchDims > 1 && row.fusesBatches !== version.fusesBatches) {
    return `${row.fusesBatches === true ? "makes" : "does not make"} one axis of the ${batchDims} batch axes of its output`;
  }
  if (mode !== "linear" && !has("mode")) return `has no mode ${quote(mode)}`;
  if (axis === null && has("axis"))
    return "has its axis as an attribute, but here it is no constant";
  return dtype === null || dataTypes(row).includes(dtype) ? null : `does not take ${dtype}`;
}

export const dataTypes = (row: OperatorVersion): readonly string[] =>
  typesOf(row, row.inputs[0].type);

/** The opset that can say what a node does where the target's cannot. */
export function adviceFor(
  meaning: Meaning,
  { domain, opset }: Target,
  isAble: (row: OperatorVersion) => boolean = () => true,
): string {
  const able = siblingsOf(meaning.op, domain)
    .filter((row) => opsetOf(row) > opset && objectionTo(row, meaning) === null && isAble(row))
    .map(opsetOf);
  return able.length === 0 ? "" : `; opset ${Math.min(...able)} can say it`;
}

/** Said of a node that stays behind. */
export const refusal = (reason: string): TensorError =>
  new TensorError("unsupported-model", reason);

/** Whether indices count along one axis; else tuples of them have a place for each axis. */
export const hasAxis = (version: OperatorVersion): boolean =>
  attributeFor(version, "axis") !== undefined ||
  version.inputs.some((input) => roleOf(input) === "axis");
