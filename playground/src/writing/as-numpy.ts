/**
 * Exports a state as a NumPy program without loops. For repeated targets, an assignment keeps the last update, and a
 * function's `at` method applies all updates in order.
 */

import { DTYPES, type DType, type Scalar, type Tensor } from "ndscatter";
import { roleOf, printScalar } from "ndscatter/operators";
import {
  along,
  batchShape,
  factsOf,
  hasEmptyTuples,
  pythonShape,
  spreadOf,
  writesNothing,
  type CallFacts,
  type Form,
} from "./call-facts.ts";
import { writableCall, oneLine, printNested, type WritableCall } from "./source-text.ts";
import type { State } from "../values/state.ts";
import { elementsOf } from "../values/tensor-text.ts";

/** Returns Python code that prints the output, or only comments if a value must be corrected first. */
export function asNumPy(state: State): string {
  const call = writableCall(state, "#");
  if (typeof call === "string") return call;
  const facts = factsOf(call);
  const { version, inputs, refusal } = call;
  if (facts === null) return `# The page cannot write ${version.name} as NumPy code.\n`;
  const arrays = version.inputs.flatMap((schema, position) => {
    const input = inputs[position];
    // The axis is a literal number in the code.
    return input === undefined || roleOf(schema) === "axis"
      ? []
      : [`${schema.name} = ${printArray(input)}`];
  });
  return [
    ...importsOf(inputs),
    "",
    ...arrays,
    "",
    ...(refusal === null ? [] : [`# ndscatter refuses this call: ${oneLine(refusal)}`]),
    ...(writesNothing(facts)
      ? [`${facts.names.output} = ${facts.names.data}.copy()`]
      : BODIES[facts.form](facts)),
    `print(repr(${facts.names.output}))`,
    "",
  ].join("\n");
}

const importsOf = (inputs: WritableCall["inputs"]): string[] => [
  ...(inputs.some((input) => input && NAMES[input.dtype].startsWith("ml_dtypes."))
    ? ["import ml_dtypes"]
    : []),
  "import numpy as np",
];

/**
 * NumPy's data type names; types that NumPy lacks come from the package ml_dtypes. Strings become objects, because
 * NumPy's string type has a fixed maximum length.
 */
const NAMES: Readonly<Record<DType, string>> = {
  bool: "bool",
  string: "object",
  float16: "np.float16",
  bfloat16: "ml_dtypes.bfloat16",
  float32: "np.float32",
  float64: "np.float64",
  int8: "np.int8",
  int16: "np.int16",
  int32: "np.int32",
  int64: "np.int64",
  uint8: "np.uint8",
  uint16: "np.uint16",
  uint32: "np.uint32",
  uint64: "np.uint64",
  complex64: "np.complex64",
  complex128: "np.complex128",
  float8e4m3fn: "ml_dtypes.float8_e4m3fn",
  float8e4m3fnuz: "ml_dtypes.float8_e4m3fnuz",
  float8e5m2: "ml_dtypes.float8_e5m2",
  float8e5m2fnuz: "ml_dtypes.float8_e5m2fnuz",
  uint4: "ml_dtypes.uint4",
  int4: "ml_dtypes.int4",
  float4e2m1: "ml_dtypes.float4_e2m1fn",
  float8e8m0: "ml_dtypes.float8_e8m0fnu",
  uint2: "ml_dtypes.uint2",
  int2: "ml_dtypes.int2",
  float6e2m3: "ml_dtypes.float6_e2m3fn",
  float6e3m2: "ml_dtypes.float6_e3m2fn",
};

function printArray(input: Tensor): string {
  const { dtype, shape } = input;
  const name = NAMES[dtype];
  // In NumPy, an empty list has one axis, so the shape must be given.
  if (shape.includes(0))
    return `np.zeros((${shape.join(", ")}${shape.length === 1 ? "," : ""}), dtype=${name})`;
  return `np.array(${printPythonList(input, "np.")}, dtype=${name})`;
}

/** Prints the elements as nested Python lists. `home` is the prefix of `nan` and `inf`, such as `np.`. */
export function printPythonList(input: Tensor, home: string): string {
  const words = elementsOf(input).map((value) =>
    typeof value === "string"
      ? printPython(input.dtype, value)
      : printPython(input.dtype, value).replaceAll("np.", home),
  );
  return printNested(input.shape, words);
}

function printPython(dtype: DType, value: Scalar): string {
  if (typeof value === "boolean") return value ? "True" : "False";
  // JSON escapes are also valid in Python.
  if (typeof value === "string") return JSON.stringify(value);
  if (Array.isArray(value)) {
    return `complex(${value.map((part) => printFloat(printScalar(dtype, part as Scalar))).join(", ")})`;
  }
  const text = printScalar(dtype, value);
  return DTYPES[dtype].family.startsWith("int") ? text : printFloat(text);
}

/** Prints a float in Python's notation. A trailing `.0` is kept, because an integer would lose the sign of 0. */
function printFloat(text: string): string {
  if (text === "NaN") return "np.nan";
  if (text.endsWith("Infinity")) return text.replace("Infinity", "np.inf");
  return /^-?\d+$/.test(text) ? `${text}.0` : text;
}

type Body = (facts: CallFacts) => string[];

const UFUNCS = {
  add: "add",
  mean: "add",
  mul: "multiply",
  max: "maximum",
  min: "minimum",
  sub: "subtract",
} as const;

/**
 * Returns a line that applies updates to `target` at `where`. The function's `at` method applies updates one by one.
 */
function applied(facts: CallFacts, target: string, where: string, updates: string): string {
  const { reduction, data } = facts;
  if (reduction === "none") return `${target}[${where}] = ${updates}`;
  // NumPy does not support subtraction of booleans.
  const ufunc = data.dtype === "bool" && reduction === "sub" ? "logical_xor" : UFUNCS[reduction];
  return `np.${ufunc}.at(${target}, ${where}, ${updates})`;
}

/** Converts indices to a type that NumPy accepts. */
const whole = ({ names, indices }: CallFacts): string =>
  ["int32", "int64"].includes(indices?.dtype ?? "")
    ? `${names.indices}`
    : `${names.indices}.astype(np.int64)`;

const scatterTuples: Body = (facts) => {
  const { names, data, indices, updates } = facts;
  const { output } = names;
  // OpenVINO accepts a one-element tensor of any rank instead of a scalar.
  const isScalar = indices?.shape.length === 1 && indices.shape[0] === data.shape.length;
  const isRanked = isScalar && updates !== null && updates.shape.length > 0 && updates.size === 1;
  if (hasEmptyTuples(facts)) {
    return [
      "# Each empty tuple addresses all of data, here as row 0 of a one-row array.",
      `${output} = ${names.data}[np.newaxis].copy()`,
      `at = (np.zeros(${names.indices}.shape[:-1], dtype=int),)`,
      applied(facts, output, "at", names.updates),
      `${output} = ${output}[0]`,
    ];
  }
  return [
    ...(isRanked ? [`${names.updates} = ${names.updates}.reshape(())`] : []),
    `${output} = ${names.data}.copy()`,
    `at = tuple(np.moveaxis(${whole(facts)}, -1, 0))`,
    // NumPy would store the whole string array as one object in one element.
    applied(facts, output, "at", isScalar ? `${names.updates}[()]` : names.updates),
  ];
};

const scatterElements: Body = (facts) => {
  const { names, axis, reduction, isFresh } = facts;
  const { data, output, updates } = names;
  const isSplit = reduction !== "none" && (isFresh || reduction === "mean");
  const places = [
    `${output} = ${data}.copy()`,
    `at = list(np.indices(${names.indices}.shape, sparse=True))`,
    `at[${axis}] = ${whole(facts)}${isSplit ? ` % ${data}.shape[${axis}]` : ""}`,
  ];
  if (!isSplit) return [...places, applied(facts, output, "tuple(at)", updates)];
  return [
    ...places,
    `flat = np.ravel_multi_index(np.broadcast_arrays(*at), ${data}.shape).ravel()`,
    `values = ${updates}.ravel()`,
    ...(isFresh
      ? [
          "# The first update of each target replaces data; later updates are combined with it.",
          "_, first = np.unique(flat, return_index=True)",
          "later = np.delete(np.arange(flat.size), first)",
          `${output}.reshape(-1)[flat[first]] = values[first]`,
          applied(facts, `${output}.reshape(-1)`, "flat[later]", "values[later]"),
        ]
      : [applied(facts, `${output}.reshape(-1)`, "flat", "values")]),
    ...(reduction === "mean"
      ? [
          `count = np.bincount(flat, minlength=${data}.size).reshape(${data}.shape)${isFresh ? "" : " + 1"}`,
          ...division(facts),
        ]
      : []),
  ];
};

/** Divides sums by their counts. Integers are rounded down; other types are divided as doubles. */
function division({ names: { output }, data: { dtype } }: CallFacts): string[] {
  const { family } = DTYPES[dtype];
  const isWhole = family === "int" || family === "int64";
  const wide = family === "complex" ? "np.complex128" : "np.float64";
  const divided = isWhole
    ? dtype === "uint64"
      ? `${output}[hit] // count[hit].astype(np.uint64)`
      : `${output}[hit] // count[hit]`
    : `${output}[hit].astype(${wide}) / count[hit]`;
  return ["hit = count > 1", `${output}[hit] = (${divided}).astype(${output}.dtype)`];
}

/** Exports OpenVINO's ScatterUpdate. In updates, the axes of indices replace the axis. */
const scatterSlices: Body = (facts) => {
  const { names, axis } = facts;
  return [
    `${names.output} = ${names.data}.copy()`,
    `${names.output}[${along(axis, whole(facts))}] = ${names.updates}`,
  ];
};

const scatterSequences: Body = (facts) => {
  const { names, axis, isRing } = facts;
  const { data, output } = names;
  const begin = names.indices === null ? "" : `${names.indices}.reshape(${batchShape(facts)}) + `;
  const place = `${begin}at[${axis}]`;
  return [
    `${output} = ${data}.copy()`,
    `at = list(np.indices(${names.updates}.shape, sparse=True))`,
    `at[${axis}] = ${isRing ? `(${place}) % ${data}.shape[${axis}]` : place}`,
    `${output}[tuple(at)] = ${names.updates}`,
  ];
};

const gatherTuples: Body = (facts) => {
  const { names, batchDims: b, call } = facts;
  const { data, output } = names;
  if (hasEmptyTuples(facts)) {
    const shape = `${names.indices}.shape[:-1] + ${data}.shape[${b}:]`;
    if (b === 0) return [`${output} = np.broadcast_to(${data}, ${shape})`];
  }
  const tuples = `np.moveaxis(${whole(facts)}, -1, 0)`;
  if (b === 0) return [`${output} = ${data}[tuple(${tuples})]`];
  return [
    `batches = np.indices(${names.indices}.shape[:-1], sparse=True)[:${b}]`,
    `${output} = ${data}[(*batches, *${tuples})]`,
    ...(call.version.fusesBatches === true
      ? [
          "# Version 5 merges the batch axes into one.",
          `${output} = ${output}.reshape((np.prod(${names.indices}.shape[:${b}], dtype=int),) + ${output}.shape[${b}:])`,
        ]
      : []),
  ];
};

const gatherElements: Body = (facts) => {
  const { names, axis } = facts;
  return [
    "# Along other axes, indices may be smaller than data.",
    `part = tuple(slice(None) if d == ${axis} else slice(n) for d, n in enumerate(${names.indices}.shape))`,
    `${names.output} = np.take_along_axis(${names.data}[part], ${whole(facts)}, ${axis})`,
  ];
};

const gatherSlices: Body = (facts) => [
  `${facts.names.output} = np.take(${facts.names.data}, ${whole(facts)}, axis=${facts.axis})`,
];

/** Exports OpenVINO's Gather with batches, which returns 0 or an empty string for an index out of range. */
const gatherOrZero: Body = (facts) => {
  const { names, axis } = facts;
  const { data, output } = names;
  const { output: shape, indices: spread, after, size } = spreadOf(facts);
  const blanks = (dims: readonly number[]): string =>
    facts.data.dtype === "string"
      ? `np.full(${pythonShape(dims)}, "", dtype=object)`
      : `np.zeros(${pythonShape(dims)}, dtype=${data}.dtype)`;
  if (size === 0) return [`${output} = ${blanks(shape)}`];
  return [
    `grid = np.indices(${pythonShape(shape)}, sparse=True)`,
    `places = ${whole(facts)}.reshape(${pythonShape(spread)})`,
    `inside = (-${size} <= places) & (places < ${size})`,
    `found = ${data}[(*grid[:${axis}], np.where(inside, places, 0), *grid[${after}:])]`,
    `# An index out of range gives ${facts.data.dtype === "string" ? "empty text" : "0"}.`,
    `${output} = np.where(inside, found, ${blanks([])})`,
  ];
};

const BODIES: Readonly<Record<Form, Body>> = {
  "scatter-tuples": scatterTuples,
  "scatter-elements": scatterElements,
  "scatter-slices": scatterSlices,
  "scatter-sequences": scatterSequences,
  "gather-tuples": gatherTuples,
  "gather-elements": gatherElements,
  "gather-slices": gatherSlices,
  "gather-or-zero": gatherOrZero,
};
