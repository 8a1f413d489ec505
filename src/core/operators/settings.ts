/**
 * Converts a call's attributes to settings, and checks them against the operator version. Data types are checked in
 * `signature.ts`.
 */

import { REDUCTIONS, type Reduction } from "../tensor/dtype.ts";
import { factOf, printValue, wrongOption, nearestName } from "../foreign.ts";
import { oneOf, TensorError, type ErrorContext } from "../errors.ts";
import { isKnown, printShape, product } from "../tensor/shape.ts";
import { asTensor, Tensor } from "../tensor/tensor.ts";
import {
  roleOf,
  type AttributeSchema,
  type OperatorVersion,
  type Settings,
  type TensorType,
} from "./operator.ts";
import { T_ANY, TIND } from "./schemas.ts";

export type Attributes = Readonly<Record<string, unknown>>;

type SettingValue = number | string | boolean;

/** Reduction names in the specifications that differ from the package's own names. */
const OTHER_WORDS: Readonly<Record<string, Reduction>> = { sum: "add", prod: "mul" };

/** Options of PyTorch and NumPy, with the options of the plain functions that do the same. */
const OTHER_NAMES: Readonly<Record<string, string>> = {
  reduce: "reduction",
  op: "reduction",
  mode: "reduction",
  dim: "axis",
  inplace: "out",
};

/** Settings of a call whose version has no attributes. */
const DEFAULTS = {
  axis: 0,
  batchDims: 0,
  reduction: "none",
  includeSelf: true,
  mode: "linear",
} as const;

/**
 * Parses the attributes of a call into settings, with the defaults of the version.
 * @param siblings all versions of the operator, so that an error can name the version that has an attribute or value
 * @param options names of a plain function's other options, which are ignored; undefined for a node
 * @throws TensorError `attribute` or `reduction`
 */
export function settingsOf(
  version: OperatorVersion,
  siblings: readonly OperatorVersion[],
  attributes: Attributes,
  fields: ErrorContext,
  options?: readonly string[],
): Settings {
  const values: Record<string, SettingValue> = { ...DEFAULTS };
  for (const schema of version.attributes) {
    const { name, default: initial } = schema;
    if (initial !== undefined) values[settingOf(schema)] = initial;
    else if (attributes[name] === undefined) {
      throw new TensorError("attribute", `the attribute ${name} must be given`, {
        ...fields,
        key: name,
      });
    }
  }
  for (const name of Object.keys(attributes)) {
    const given = attributes[name];
    if (given === undefined || options?.includes(name)) continue;
    const schema = version.attributes.find((attribute) => attribute.name === name);
    if (schema === undefined) throw unknownName(version, siblings, name, fields, options);
    values[settingOf(schema)] = attributeValue(schema, given, siblings, fields);
  }
  const { axis, batchDims, reduction, includeSelf, mode } = values;
  return {
    // If the axis is an input, it becomes a setting when that input is read.
    axis: version.inputs.some((input) => roleOf(input) === "axis") ? null : Number(axis),
    batchDims: Number(batchDims),
    reduction: reductionOf(String(reduction)),
    includeSelf: includeSelf === true,
    stays: version.stays,
    mode: mode === "circular" ? mode : "linear",
  };
}

/** Returns the name of the setting that an attribute sets. */
export const settingOf = ({ name, setting }: AttributeSchema): string => setting ?? camelCase(name);

const camelCase = (name: string): string =>
  name.includes("_") ? name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase()) : name;

/** Returns the reduction for a name in either domain's specification or in the plain functions. */
export const reductionOf = (word: string): Reduction =>
  REDUCTIONS.find((reduction) => reduction === word) ?? OTHER_WORDS[word];

function unknownName(
  { attributes }: OperatorVersion,
  siblings: readonly OperatorVersion[],
  name: string,
  fields: ErrorContext,
  options: readonly string[] | undefined,
): TensorError {
  const known = [...attributes.map((attribute) => attribute.name), ...(options ?? [])];
  const what = options ? "option" : "attribute";
  const there =
    known.length === 0 ? "this version has no attributes" : `its ${what}s are ${known.join(", ")}`;
  const since = siblings.find((other) => other.attributes.some((one) => one.name === name));
  const came = since === undefined ? "" : `; ${name} came with version ${since.sinceVersion}`;
  const near = nearestName(Object.hasOwn(OTHER_NAMES, name) ? OTHER_NAMES[name] : name, known);
  const hint = near === null ? there : `did you mean "${near}"?`;
  const sentence = `unknown ${what} ${printValue(name)}; ${hint}${came}`;
  return new TensorError("attribute", sentence, {
    ...fields,
    key: name,
    allowed: known,
    nearest: near ?? undefined,
  });
}

function attributeValue(
  schema: AttributeSchema,
  given: unknown,
  siblings: readonly OperatorVersion[],
  fields: ErrorContext,
): SettingValue {
  const { name, type } = schema;
  if (type === "int") return integerValue(schema, given, fields);
  if (type === "boolean" && typeof given === "boolean") return given;
  if (type === "string" && typeof given === "string") {
    return wordValue(schema, given, siblings, fields);
  }
  const must = type === "boolean" ? "true or false" : "a string";
  throw wrongOption(name, must, given, fields);
}

function integerValue(
  { name, minimum = -Infinity }: AttributeSchema,
  given: unknown,
  fields: ErrorContext,
): number {
  const number = typeof given === "bigint" ? Number(given) : given;
  if (typeof number !== "number" || !Number.isSafeInteger(number)) {
    throw wrongOption(name, "an integer", given, fields);
  }
  // The sum is 0 for -0, which must not come back in an error's fields.
  if (number >= minimum) return number + 0;
  throw wrongOption(name, `at least ${minimum}`, number, {
    ...fields,
    expected: [minimum, Infinity],
  });
}

function wordValue(
  { name, values }: AttributeSchema,
  given: string,
  siblings: readonly OperatorVersion[],
  fields: ErrorContext,
): string {
  if (values === undefined || values.includes(given)) return given;
  const since = siblings.find((other) =>
    other.attributes.some((one) => one.name === name && one.values?.includes(given)),
  );
  const shown = printValue(given);
  const came = since === undefined ? "" : `; ${shown} came with version ${since.sinceVersion}`;
  const isReduction = name === "reduction";
  const same = reductionOf(given);
  const meant =
    isReduction && same
      ? values.find((one) => reductionOf(one) === same)
      : (nearestName(given, values) ?? values.find((one) => given.startsWith(one)));
  const hint = meant ? `; did you mean "${meant}"?` : came;
  const sentence = `${name} must be ${oneOf(values)}, got ${shown}${hint}`;
  const facts = {
    ...fields,
    got: factOf(given),
    allowed: values,
    nearest: meant ?? undefined,
  };
  throw isReduction
    ? new TensorError("reduction", sentence, facts)
    : new TensorError("attribute", sentence, { ...facts, key: name });
}

/**
 * Creates the version for a plain function: the newest version without restrictions. The version of a plain function
 * accepts every data type, int32 and int64 indices, and every reduction. The attributes have camelCase names.
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
    typeConstraints: [T_ANY, TIND],
  };
}

/**
 * Returns the value of an axis input; null if only the type of the input is known.
 * @throws TensorError `shape-mismatch` if the input is neither a scalar nor of shape [1], `disposed` if its memory is
 *   gone
 */
export function axisFrom(axis: TensorType, fields: ErrorContext): number | null {
  const { shape } = axis;
  const isOne = !isKnown(shape) || product(shape) === 1;
  if (!isOne || (shape !== null && shape.length > 1)) {
    throw new TensorError(
      "shape-mismatch",
      `axis must be a scalar or have the shape [1], got ${printShape(shape)}`,
      { ...fields, input: "axis", got: shape ?? undefined, expected: [1] },
    );
  }
  return Tensor.isTensor(axis) ? Number(asTensor(axis, fields, "axis").data[0]) : null;
}
