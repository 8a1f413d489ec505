/** A call held against a version: its attributes and its data types. Shapes and indices are the operator's. */

import { reductionsOf, REDUCTIONS, type DType, type Reduction } from "../tensor/dtype.ts";
import { printValue, TensorError, type ErrorFields } from "../errors.ts";
import { isKnown, printShape, product } from "../tensor/shape.ts";
import { Tensor } from "../tensor/tensor.ts";
import {
  roleOf,
  type AttributeSchema,
  type OperatorVersion,
  type Settings,
  type TensorType,
} from "./operator.ts";
import { T24, TIND } from "./types.ts";

export type Attributes = Readonly<Record<string, unknown>>;

/** The words that documents have for reductions, beyond our own. */
const WORDS: Readonly<Record<string, Reduction>> = { sum: "add", prod: "mul" };

/**
 * The attributes of a node as settings: known to the version, of the right type, with defaults filled in.
 * @param siblings all versions of the operator, to say with which one an attribute or a word came
 * @param others names beside the attributes that are not meant here
 * @throws TensorError `attribute` or `reduction`
 */
export function settingsOf(
  version: OperatorVersion,
  siblings: readonly OperatorVersion[],
  attributes: Attributes,
  fields: ErrorFields,
  others: readonly string[] = [],
): Settings {
  const values: Record<string, AttributeValue> = { ...DEFAULTS };
  for (const schema of version.attributes) {
    const { name, default: initial } = schema;
    if (initial !== undefined) values[settingOf(schema)] = initial;
    else if (attributes[name] === undefined) {
      throw new TensorError("attribute", `the attribute ${name} must be given`, fields);
    }
  }
  for (const name of Object.keys(attributes)) {
    const given = attributes[name];
    if (given === undefined || others.includes(name)) continue;
    const schema = version.attributes.find((attribute) => attribute.name === name);
    if (schema === undefined) {
      const known = version.attributes.map((attribute) => attribute.name);
      const there = known.length === 0 ? "it has none" : `it has ${known.join(", ")}`;
      const since = siblings.find((other) => other.attributes.some((one) => one.name === name));
      const came = since === undefined ? "" : `; ${name} is in version ${since.sinceVersion}`;
      throw new TensorError(
        "attribute",
        `there is no attribute ${JSON.stringify(name)}: ${there}${came}`,
        fields,
      );
    }
    values[settingOf(schema)] = attributeValue(schema, given, siblings, fields);
  }
  const { axis, batchDims, reduction, includeSelf, mode } = values;
  return {
    // Where it is an input, its value comes with that.
    axis: version.inputs.some((input) => roleOf(input) === "axis") ? null : Number(axis),
    batchDims: Number(batchDims),
    reduction: reductionOf(String(reduction)),
    includeSelf: includeSelf === true,
    mode: mode === "circular" ? mode : "linear",
  };
}

type AttributeValue = number | string | boolean;

/** The settings of a version without attributes. */
const DEFAULTS = {
  axis: 0,
  batchDims: 0,
  reduction: "none",
  includeSelf: true,
  mode: "linear",
} as const;

/** Which setting an attribute is. */
export const settingOf = ({ name, setting }: AttributeSchema): string => setting ?? camelCase(name);

function attributeValue(
  { name, type, values, minimum = -Infinity }: AttributeSchema,
  given: unknown,
  siblings: readonly OperatorVersion[],
  fields: ErrorFields,
): AttributeValue {
  if (type === "boolean") {
    if (typeof given === "boolean") return given;
    const sentence = `${name} must be true or false, got ${printValue(given)}`;
    throw new TensorError("attribute", sentence, fields);
  }
  if (type === "int") {
    const number = typeof given === "bigint" ? Number(given) : given;
    if (typeof number !== "number" || !Number.isSafeInteger(number)) {
      throw new TensorError(
        "attribute",
        `${name} must be an integer, got ${printValue(given)}`,
        fields,
      );
    }
    if (number < minimum) {
      throw new TensorError("attribute", `${name} must be at least ${minimum}, got ${number}`, {
        ...fields,
        got: number,
      });
    }
    return number;
  }
  if (typeof given !== "string") {
    throw new TensorError(
      "attribute",
      `${name} must be a string, got ${printValue(given)}`,
      fields,
    );
  }
  if (values === undefined || values.includes(given)) return given;
  const since = siblings.find((other) =>
    other.attributes.some((one) => one.name === name && one.values?.includes(given)),
  );
  const came = since === undefined ? "" : `; it is in version ${since.sinceVersion}`;
  throw new TensorError(
    name === "reduction" ? "reduction" : "attribute",
    `there is no ${name} ${JSON.stringify(given)}: it is one of ${values.join(", ")}${came}`,
    fields,
  );
}

/**
 * The newest version without its limits, for the plain functions: every data type, int32 and int64 indices, every
 * reduction. Its attributes are named as in JavaScript.
 */
export function plainVersion(
  versions: readonly OperatorVersion[],
  attributes = versions[versions.length - 1].attributes,
): OperatorVersion {
  const newest = versions[versions.length - 1];
  return {
    ...newest,
    attributes: attributes.map((attribute) => ({
      ...attribute,
      name: camelCase(attribute.name),
      ...(attribute.name === "reduction" ? { values: REDUCTIONS } : {}),
    })),
    inputs: newest.inputs.map((input) =>
      roleOf(input) === "indices" ? { ...input, type: TIND.name } : input,
    ),
    typeConstraints: [T24, TIND],
  };
}

const camelCase = (name: string): string =>
  name.includes("_") ? name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase()) : name;

export const reductionOf = (word: string): Reduction =>
  REDUCTIONS.find((reduction) => reduction === word) ?? WORDS[word];

/**
 * Whether the version takes the data types of the inputs, and the data type the reduction.
 * @throws TensorError `dtype` or `reduction`
 */
export function checkDTypes(
  version: OperatorVersion,
  siblings: readonly OperatorVersion[],
  inputs: readonly ({ readonly dtype: DType } | undefined)[],
  reduction: Reduction,
  fields: ErrorFields,
): void {
  // Data is never left out.
  const common = (inputs[0] as { readonly dtype: DType }).dtype;
  const reductions = reductionsOf(common);
  if (!reductions.includes(reduction)) {
    const sentence = `${common} has no reduction ${JSON.stringify(reduction)}, only ${reductions.join(", ")}`;
    throw new TensorError("reduction", sentence, fields);
  }
  for (let position = 0; position < version.inputs.length; position++) {
    const { name: input, type } = version.inputs[position];
    const dtype = inputs[position]?.dtype;
    if (dtype === undefined) continue;
    const types = typesOf(version, type);
    if (!types.includes(dtype)) {
      const since = siblings.find((other) => typesOf(other, type).includes(dtype));
      const came = since === undefined ? "" : `; version ${since.sinceVersion} takes it`;
      throw new TensorError("dtype", `${input} must be ${oneOf(types)}, got ${dtype}${came}`, {
        ...fields,
        input,
      });
    }
    const first = version.inputs.findIndex((other) => other.type === type);
    if (inputs[first]?.dtype !== dtype) {
      const expected = `${version.inputs[first].name}, ${inputs[first]?.dtype}`;
      const sentence = `${input} must have the data type of ${expected}, got ${dtype}`;
      throw new TensorError("dtype", sentence, { ...fields, input });
    }
  }
}

/** The data types that a constraint of a version names; one that is none is a data type itself. */
export const typesOf = (version: OperatorVersion, type: string): readonly string[] =>
  version.typeConstraints.find(({ name }) => name === type)?.types ?? [type];

const oneOf = (types: readonly string[]): string =>
  types.length === 1 ? types[0] : `one of ${types.join(", ")}`;

/**
 * The value of an axis that is an input; null where only its type is known.
 * @throws TensorError `shape-mismatch` for anything but a scalar and a list of one
 */
export function axisOf(axis: TensorType, fields: ErrorFields): number | null {
  const { shape } = axis;
  const isOne = shape === null || (isKnown(shape) ? product(shape) === 1 : true);
  if (!isOne || (shape !== null && shape.length > 1)) {
    throw new TensorError(
      "shape-mismatch",
      `axis must be a scalar or have the shape [1], got ${printShape(shape)}`,
      { ...fields, input: "axis" },
    );
  }
  return axis instanceof Tensor ? Number(axis.data[0]) : null;
}
