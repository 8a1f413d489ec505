/** Parses an operator call from the command line: the operator name, `--domain`, `--opset` and `--attr`. */

import type { Command } from "commander";
import type { AttributeSchema, NodeSpec, OperatorVersion, Tensor } from "../../entries/index.ts";
import { asUsage, wrongUsage } from "../failure.ts";
import { quote } from "../text/layout.ts";
import { parseInteger, repeatable, wholeOption } from "./arguments.ts";
import { infer } from "../../core/call/check.ts";
import { NEWEST_OPSETS } from "../../core/operators/operator.ts";
import { operators, resolve } from "../../core/operators/registry.ts";
import { roleOf, typesOf } from "../../core/operators/rows.ts";
import { isDType } from "../../core/tensor/dtype.ts";
import { tensor } from "../../core/tensor/tensor.ts";

export interface CallOptions {
  readonly domain?: string;
  readonly opset?: number;
  readonly attr?: readonly string[];
  /** Shorthand for the axis attribute. For chunked arrays, the axis may be a dimension name. */
  readonly axis?: string;
}

/** A call without its inputs, after all checks that need no inputs. */
export interface Call {
  readonly node: NodeSpec;
  readonly version: OperatorVersion;
  /** Title of the call, such as `ScatterND-18`. */
  readonly title: string;
  /** Input values from the command line. For example, an input axis may be specified like an attribute. */
  readonly given: ReadonlyMap<string, Tensor>;
}

export const addVersionOptions = (command: Command): Command =>
  command
    .option("--domain <name>", "ai.onnx or openvino (default: the domain that has the operator)")
    .addOption(
      wholeOption(
        "--opset <number>",
        "the opset, which determines the operator version (default: the newest)",
        1,
      ),
    );

export function addCallOptions(command: Command): Command {
  return addVersionOptions(command)
    .addOption(
      repeatable(
        "--attr <name=value>",
        "an attribute of the operator, or the value of its input axis; repeatable",
      ),
    )
    .option("--axis <axis>", "short for --attr axis=..., or the name of an axis of a Zarr array");
}

export const isOperator = (name: string): boolean => operators().some((one) => one.name === name);

/**
 * Returns all versions of an operator, oldest first. A call without a domain uses the first domain that has the
 * operator.
 */
export function versionsOf(op: string, domain?: string): readonly OperatorVersion[] {
  const newest = resolveTyped(op, undefined, domain);
  return operators().filter((one) => one.name === op && one.domain === newest.domain);
}

/**
 * Returns the operator version for an opset. The default is the newest version. Throws a `Failure` for an unknown
 * operator or opset.
 */
export function resolveTyped(op: string, opset?: number, domain?: string): OperatorVersion {
  const named = operators().filter(({ name }) => name === op);
  const home = domain ?? named[0]?.domain;
  const newest = named.findLast((version) => version.domain === home)?.sinceVersion ?? 1;
  const version = asUsage(() => resolve({ domain: home, op, opset: opset ?? newest }));
  const known = NEWEST_OPSETS[version.domain];
  if (opset === undefined || opset <= known) return version;
  throw wrongUsage(
    `opset ${opset} of ${version.domain} is unknown; the newest known opset is ${known}`,
  );
}

export const versionTitle = ({ name, sinceVersion }: OperatorVersion): string =>
  `${name}-${sinceVersion}`;

/** Throws a `Failure` for an unknown operator, opset or attribute. */
export function parseCall(op: string, { domain, opset, attr = [], axis }: CallOptions): Call {
  const version = resolveTyped(op, opset, domain);
  const values = parseValues(axis === undefined ? attr : [...attr, `axis=${axis}`], version);
  const given = new Map(
    [...values].flatMap(([name, value]) =>
      isAxisInput(version, name) ? [[name, tensor("int64", [], Number(value))] as const] : [],
    ),
  );
  const node: NodeSpec = {
    domain: version.domain,
    op,
    opset: opset ?? version.sinceVersion,
    attributes: Object.fromEntries([...values].filter(([name]) => !isAxisInput(version, name))),
  };
  // Without input shapes, only the attributes can cause an error.
  const types = version.inputs.map(({ name, type }) => {
    const value = given.get(name);
    if (value !== undefined) return value;
    const types = typesOf(version, type);
    // Every reduction supports float32, so the data type cannot cause an error.
    const dtype = types.includes("float32") ? "float32" : types[0];
    return { dtype: isDType(dtype) ? dtype : "int64", shape: null } as const;
  });
  asUsage(() => infer(node, types));
  return { node, version, title: versionTitle(version), given };
}

function parseValues(
  texts: readonly string[],
  version: OperatorVersion,
): Map<string, AttributeValue> {
  const attributes = new Map<string, AttributeValue>();
  for (const text of texts) {
    const [, name, value] = /^([^=]+)=(.*)$/s.exec(text) ?? [];
    if (name === undefined) {
      throw wrongUsage(`--attr takes NAME=VALUE, such as reduction=add, got ${quote(text)}`);
    }
    if (attributes.has(name)) throw wrongUsage(`--attr gives ${name} twice; leave one of them out`);
    const schema = version.attributes.find((one) => one.name === name);
    attributes.set(
      name,
      parseValue(name, value, isAxisInput(version, name) ? "int" : schema?.type),
    );
  }
  return attributes;
}

/** Parses an attribute value of `type`. Values of unknown attributes remain text. */
function parseValue(name: string, text: string, type?: AttributeSchema["type"]): AttributeValue {
  if (type === undefined || type === "string") return text;
  if (type === "boolean" && (text === "true" || text === "false")) return text === "true";
  const value = type === "int" ? parseInteger(text) : null;
  if (value !== null) return value;
  const must = type === "int" ? "an integer" : "true or false";
  throw wrongUsage(`--attr ${name} must be ${must}, got ${quote(text)}`);
}

const isAxisInput = ({ inputs }: OperatorVersion, name: string): boolean =>
  inputs.some((input) => input.name === name && roleOf(input) === "axis");

type AttributeValue = number | string | boolean;
