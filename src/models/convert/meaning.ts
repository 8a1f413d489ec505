/** The meaning of a scatter or gather, independent of its version, and the target version with the same meaning. */

import { printCount } from "../../core/foreign.ts";
import { malformed, TensorError } from "../../core/errors.ts";
import { stepOf } from "../../core/call/steps.ts";
import { attributesOf, meantVersion } from "../model/attributes.ts";
import { quote } from "../model/graph.ts";
import { readConstant, type Constant, type ModelNode } from "../model/model.ts";
import { missingParameter } from "../model/family.ts";
import type { Scope } from "../model/values.ts";
import {
  type AttributeSchema,
  type OperatorVersion,
  type Role,
  type Settings,
} from "../../core/operators/operator.ts";
import { findVersion, lookUp, operators } from "../../core/operators/registry.ts";
import { byRole, signatureOf, typesIn } from "../../core/operators/signature.ts";
import { reductionOf, settingOf, settingsOf } from "../../core/operators/settings.ts";
import type { DType } from "../../core/tensor/dtype.ts";
import { product, type PartialShape } from "../../core/tensor/shape.ts";
import type { CheckedTarget } from "./target.ts";

export interface Meaning {
  readonly node: ModelNode;
  /** The node's operator, or an equivalent operator. */
  readonly op: string;
  readonly version: OperatorVersion;
  readonly settings: Settings;
  readonly inputs: Readonly<Partial<Record<Role, string>>>;
  /** The element type of data, from data itself or from another value of the same type. */
  readonly dtype: DType | null;
  /** Sentences about declared types on which the conversion relies. */
  readonly trusted: Set<string>;
}

/** Throws for a node that is invalid in its own version. */
export function meaningOf(node: ModelNode, opset: number, scope: Scope): Meaning {
  const { domain, op } = node;
  const { operator, version: own } = lookUp({ domain, op, opset });
  const version = meantVersion(node, own, operator.versions);
  const fields = { op, opset: version.sinceVersion };
  const settings = settingsOf(version, operator.versions, attributesOf(node), fields);
  const inputs = inputNames(node, version);
  const known = [inputs.data, inputs.updates, node.outputs[0]].map(
    (name) => scope.typeOf(name ?? "")?.dtype ?? null,
  );
  const axis = inputs.axis === undefined ? settings.axis : constantAxis(inputs.axis, scope);
  const batchDims = fromFront(settings.batchDims, inputs.indices ?? "", scope);
  return {
    node,
    op,
    version,
    settings: { ...settings, axis, batchDims },
    inputs,
    dtype: known.find((dtype) => dtype !== null) ?? null,
    trusted: new Set(version === own ? [] : [newerReduction(settings, own, version.sinceVersion)]),
  };
}

function newerReduction({ reduction }: Settings, own: OperatorVersion, since: number): string {
  const what = `${versionTitle(own)} does not have its reduction ${quote(reduction)}`;
  return `${what}, which came with opset ${since}; it was converted with the meaning of opset ${since}`;
}

/** Throws `malformed-file` for too many inputs, and for a missing required input. */
function inputNames(node: ModelNode, version: OperatorVersion): Meaning["inputs"] {
  if (node.inputs.length > version.inputs.length) {
    const title = versionTitle(version);
    const { length: got } = node.inputs;
    const sentence = `it has ${printCount(got, "input")}, but ${title} takes fewer`;
    throw malformed(sentence, { key: "inputs", got });
  }
  const missing = missingParameter(node, version);
  if (missing !== null) throw malformed(`its input ${missing} is left out`);
  return byRole(
    version,
    node.inputs.map((name) => name || undefined),
  );
}

function constantAxis(name: string, scope: Scope): number | null {
  const constant = constantAt(name, scope);
  if (constant === null || product(constant.shape) !== 1) return null;
  const axis = Number(readConstant(constant).data[0]);
  return Number.isInteger(axis) ? axis : null;
}

/**
 * Returns the number of batch axes. A negative number is counted from the rank of the indices if the rank is certain.
 */
function fromFront(batchDims: number, indices: string, scope: Scope): number {
  const rank = certainShape(indices, scope)?.length;
  return batchDims < 0 && rank !== undefined ? batchDims + rank : batchDims;
}

/** Returns the part of a value's shape that does not depend on declarations. */
export const certainShape = (name: string, scope: Scope): PartialShape =>
  scope.get(name).certain.type?.shape ?? null;

export const onlyDeclared = (what: string, name: string, use: string): string =>
  `the ${what} of ${quote(name)} is only declared; ${use}`;

/** Returns the constant that a value is; null for other values, and for a data type that this package lacks. */
export function constantAt(name: string, scope: Scope): Constant | null {
  const found = scope.constantOf(name);
  return found === null || found.dtype === null ? null : found;
}

export const familyVersion = ({ domain, op }: ModelNode, opset: number): OperatorVersion | null =>
  findVersion({ domain, op, opset });

export const versionTitle = ({ name, sinceVersion }: OperatorVersion): string =>
  `${name}-${sinceVersion}`;

/** ONNX's names of operators, by OpenVINO's names that differ. */
const ONNX_NAMES: Readonly<Record<string, string>> = {
  ScatterNDUpdate: "ScatterND",
  ScatterElementsUpdate: "ScatterElements",
};

/** The current names of operators, by deprecated names. */
const CURRENT_NAMES: ReadonlyMap<string, string> = /* @__PURE__ */ new Map(
  /* @__PURE__ */ operators().flatMap(({ name, deprecated }) =>
    deprecated === undefined ? [] : [[name, deprecated]],
  ),
);

/** Returns the name that an operator shares with its equivalents in the other format and under deprecated names. */
function commonName(op: string): string {
  const current = CURRENT_NAMES.get(op) ?? op;
  return ONNX_NAMES[current] ?? current;
}

/**
 * The versions of each operator under current and deprecated names, by domain and common name. Current names come
 * first, and older versions come before newer versions.
 */
const SIBLINGS: ReadonlyMap<string, readonly OperatorVersion[]> = /* @__PURE__ */ siblings();

function siblings(): Map<string, readonly OperatorVersion[]> {
  const found = new Map<string, readonly OperatorVersion[]>();
  for (const isOld of [false, true])
    for (const one of operators()) {
      if (CURRENT_NAMES.has(one.name) !== isOld) continue;
      const key = `${one.domain} ${commonName(one.name)}`;
      found.set(key, [...(found.get(key) ?? []), one]);
    }
  return found;
}

/** Returns all versions of an operator in a domain, in the order of the table. */
export const siblingsOf = (op: string, domain: string): readonly OperatorVersion[] =>
  SIBLINGS.get(`${domain} ${commonName(op)}`) ?? [];

export const firstOpset = ({ opset, sinceVersion }: OperatorVersion): number =>
  opset ?? sinceVersion;

/**
 * Returns the newest version of `op`, or of an equivalent operator, in the target's opset; null if the target has no
 * such version.
 */
export function targetVersion(
  op: string,
  { domain, opset }: CheckedTarget,
): OperatorVersion | null {
  const rows = siblingsOf(op, domain).filter((row) => firstOpset(row) <= opset);
  return rows.findLast(({ name }) => name === rows[0].name) ?? null;
}

/**
 * Returns a note if the target compares NaN or signed zeros by another rule in a max or min of floats; none if the
 * result cannot differ.
 */
export function comparisonNotes(row: OperatorVersion, meaning: Meaning): readonly string[] {
  const { version, settings, dtype } = meaning;
  const { reduction } = settings;
  if (row.stays === version.stays || (reduction !== "max" && reduction !== "min")) return [];
  const isFloat = dtype === null || stepOf({ ...settings, stays: "data" }, dtype) !== reduction;
  if (!isFloat) return [];
  const [before, after] = [version, row].map((one) => {
    const kept = one.stays === "data" ? "the old value" : "the update";
    const rule =
      one.stays === undefined
        ? "returns NaN if an operand is NaN, and orders -0 below 0"
        : `keeps ${kept}`;
    return `${reduction} of ${versionTitle(one)} ${rule}`;
  });
  return [`the results differ for NaN, and when 0 is compared with -0: ${before}, but ${after}`];
}

/** Returns the version's name for a reduction; null if the version does not support the reduction. */
export function wordOf(version: OperatorVersion, reduction: Settings["reduction"]): string | null {
  const { values = ["none"] } = attributeFor(version, "reduction") ?? {};
  return values.find((word) => reductionOf(word) === reduction) ?? null;
}

const attributeFor = (
  version: OperatorVersion,
  setting: keyof Settings,
): AttributeSchema | undefined =>
  version.attributes.find((schema) => settingOf(schema) === setting);

/** Explains why a version cannot express a node with these attributes and data types; null if it can. */
export function objectionTo(
  row: OperatorVersion,
  { version, settings, dtype }: Meaning,
): string | null {
  const { reduction, includeSelf, batchDims, mode, axis } = settings;
  const title = versionTitle(row);
  const has = (setting: keyof Settings): boolean => attributeFor(row, setting) !== undefined;
  if (wordOf(row, reduction) === null) {
    return `${title} has no reduction ${quote(wordOf(version, reduction) ?? reduction)}`;
  }
  if (reduction !== "none" && !includeSelf && !has("includeSelf")) {
    return `${title} always includes data in a reduction, but use_init_val is false`;
  }
  if (batchDims < 0 && attributeFor(row, "batchDims")?.minimum !== undefined) {
    return `${title} does not accept a negative batch_dims, and the rank of indices is unknown`;
  }
  if (batchDims !== 0 && !has("batchDims"))
    return `${title} has no batch_dims, but the node has batch_dims ${batchDims}`;
  if (batchDims > 1 && row.fusesBatches !== version.fusesBatches) {
    const makes = row.fusesBatches === true ? "merges" : "does not merge";
    return `${title} ${makes} the ${batchDims} batch axes of its output`;
  }
  if (mode !== "linear" && !has("mode")) return `${title} has no mode ${quote(mode)}`;
  if (axis === null && has("axis")) return `${title} needs a constant axis`;
  return dtype === null || dataTypes(row).includes(dtype)
    ? null
    : `${title} does not accept ${dtype}`;
}

export const dataTypes = (row: OperatorVersion): readonly string[] =>
  typesIn(row, row.inputs[0].type);

/** Returns advice that names the first later opset that can express the node; empty if no opset can. */
export function adviceFor(
  meaning: Meaning,
  { domain, opset }: CheckedTarget,
  isAble: (row: OperatorVersion) => boolean = () => true,
): string {
  const able = siblingsOf(meaning.op, domain)
    .filter((row) => firstOpset(row) > opset && objectionTo(row, meaning) === null && isAble(row))
    .map(firstOpset);
  return able.length === 0 ? "" : `; opset ${Math.min(...able)} supports it`;
}

export const refusal = (reason: string): TensorError =>
  new TensorError("unsupported-model", reason);

/** Returns true if indices address one axis, and false if they are tuples with one component per axis. */
export const hasAxis = (version: OperatorVersion): boolean =>
  attributeFor(version, "axis") !== undefined || signatureOf(version).positions.axis >= 0;
