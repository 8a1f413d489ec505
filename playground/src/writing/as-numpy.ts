/**
 * A state as a program with NumPy. A scatter is a loop in the order of the updates, as the documents define it. An
 * assignment through an array of indices would not do: NumPy leaves its order open where targets repeat.
 */

import { roleOf, DTYPES, printScalar, type DType, type Scalar, type Tensor } from "ndscatter";
import { headerOf, writableCall, oneLine, printNested, type WritableCall } from "./source-text.ts";
import type { State } from "../values/state.ts";
import { elementsOf } from "../values/tensor-text.ts";
import { defaultText } from "../values/schema.ts";

/** Python that prints the output; only comments where a value must be corrected first. */
export function asNumPy(state: State): string {
  const call = writableCall(state, "#");
  if (typeof call === "string") return call;
  const { version, inputs, refusal } = call;
  const body = BODIES[`${version.domain}/${version.name}`];
  if (body === undefined) return `# There is no NumPy for ${version.name} here.\n`;
  const facts = factsOf(call);
  const arrays = version.inputs.flatMap((schema, position) => {
    const input = inputs[position];
    // The axis is a number in the code.
    return input === undefined || roleOf(schema) === "axis"
      ? []
      : [`${schema.name} = ${printArray(input)}`];
  });
  return [
    headerOf(state, "#"),
    ...importsOf(inputs),
    "",
    ...arrays,
    "",
    ...(refusal === null ? [] : [`# ndscatter refuses this call: ${oneLine(refusal)}`]),
    ...body(facts),
    `print(repr(${version.outputs[0].name}))`,
    "",
  ].join("\n");
}

export const importsOf = (inputs: WritableCall["inputs"]): string[] => [
  ...(inputs.some((input) => input && NAMES[input.dtype].startsWith("ml_dtypes."))
    ? ["import ml_dtypes"]
    : []),
  "import numpy as np",
];

/**
 * How a NumPy program names data types: those that NumPy lacks are of the package ml_dtypes. Text is an object, because
 * NumPy's own text has a greatest length.
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
};

export function printArray(input: Tensor): string {
  const { dtype, shape } = input;
  const name = NAMES[dtype];
  // In NumPy an empty list has one axis, so the shape has to be given.
  if (shape.includes(0))
    return `np.zeros((${shape.join(", ")}${shape.length === 1 ? "," : ""}), dtype=${name})`;
  const words = elementsOf(input).map((value) => printPython(dtype, value));
  return `np.array(${printNested(shape, words)}, dtype=${name})`;
}

function printPython(dtype: DType, value: Scalar): string {
  if (typeof value === "boolean") return value ? "True" : "False";
  // JSON's escapes are Python's too.
  if (typeof value === "string") return JSON.stringify(value);
  if (Array.isArray(value)) {
    return `complex(${value.map((part) => printFloat(printScalar(dtype, part as Scalar))).join(", ")})`;
  }
  const text = printScalar(dtype, value);
  return DTYPES[dtype].family.startsWith("int") ? text : printFloat(text);
}

/** A float as Python writes it. With `.0`, because an integer would lose the sign of 0. */
function printFloat(text: string): string {
  if (text === "NaN") return "np.nan";
  if (text.endsWith("Infinity")) return text.replace("Infinity", "np.inf");
  return /^-?\d+$/.test(text) ? `${text}.0` : text;
}

/** The parts of a call that the loops are written with. */
interface Facts {
  readonly names: {
    readonly data: string;
    readonly indices: string | null;
    readonly updates: string;
    readonly output: string;
  };
  readonly attribute: (name: string) => string;
  /** An expression; `-1 % data.ndim` for a negative axis. */
  readonly axis: string;
  readonly call: WritableCall;
}

function factsOf(call: WritableCall): Facts {
  const { version, node, inputs } = call;
  const nameOf = (role: string): string | null => {
    const position = version.inputs.findIndex((one) => roleOf(one) === role);
    return inputs[position] === undefined ? null : version.inputs[position].name;
  };
  const attribute = (name: string): string =>
    String(node.attributes?.[name] ?? defaultText(version, name) ?? "");
  const names = {
    data: nameOf("data") ?? "data",
    indices: nameOf("indices"),
    updates: nameOf("updates") ?? "updates",
    output: version.outputs[0].name,
  };
  const position = version.inputs.findIndex((one) => roleOf(one) === "axis");
  const typed = inputs[position];
  const axis = Number(typed === undefined ? attribute("axis") || 0 : elementsOf(typed)[0]);
  return { names, attribute, axis: axis < 0 ? `${axis} % ${names.data}.ndim` : String(axis), call };
}

type Body = (facts: Facts) => string[];

/** NumPy's functions by the words for reductions. */
const UFUNCS: Readonly<Record<string, string>> = {
  add: "add",
  sum: "add",
  mean: "add",
  mul: "multiply",
  prod: "multiply",
  max: "maximum",
  min: "minimum",
  sub: "subtract",
};

/** A line that applies one update to `target`. It uses `at` of a function, which is not buffered. */
function applied({ names, attribute, call }: Facts, update: string): string {
  const ufunc = UFUNCS[attribute("reduction")];
  if (ufunc === undefined) return `${names.output}[target] = ${update}`;
  // NumPy does not subtract booleans.
  const isBool = call.inputs[0]?.dtype === "bool" && ufunc === "subtract";
  return `np.${isBool ? "logical_xor" : ufunc}.at(${names.output}, target, ${update})`;
}

const scatterND: Body = (facts) => {
  const { data, updates, output } = facts.names;
  const position = facts.call.version.inputs.findIndex((one) => roleOf(one) === "updates");
  const [tensor, indices, given] = [
    facts.call.inputs[0],
    facts.call.inputs[1],
    facts.call.inputs[position],
  ];
  // OpenVINO takes one element of any rank in place of a scalar.
  const isScalar = indices?.shape.length === 1 && indices.shape[0] === tensor?.shape.length;
  const isRanked = isScalar && given !== undefined && given.shape.length > 0 && given.size === 1;
  return [
    ...(isRanked ? [`${updates} = ${updates}.reshape(())`] : []),
    `${output} = ${data}.copy()`,
    "for at in np.ndindex(indices.shape[:-1]):",
    "    target = tuple(indices[at])",
    `    ${applied(facts, `${updates}[at]`)}`,
  ];
};

const scatterElements: Body = (facts) => {
  const { data, updates, output } = facts.names;
  const isReduced = facts.attribute("reduction") !== "none" && facts.attribute("reduction") !== "";
  const isFresh = isReduced && facts.attribute("use_init_val") === "false";
  const isMean = facts.attribute("reduction") === "mean";
  const lines = [
    `axis = ${facts.axis}`,
    `${output} = ${data}.copy()`,
    ...(isFresh || isMean
      ? [`count = np.${isFresh ? "zeros" : "ones"}(${data}.shape, dtype=np.int64)`]
      : []),
    "for at in np.ndindex(indices.shape):",
    "    target = at[:axis] + (indices[at],) + at[axis + 1 :]",
  ];
  const apply = applied(facts, `${updates}[at]`);
  if (isFresh) {
    lines.push("    if count[target] == 0:");
    lines.push(`        ${output}[target] = ${updates}[at]`);
    lines.push("    else:");
    lines.push(`        ${apply}`);
  } else lines.push(`    ${apply}`);
  if (isFresh || isMean) lines.push("    count[target] += 1");
  if (isMean) lines.push(...division(facts));
  return lines;
};

/** Divides sums by their counts: integers are rounded down, others are divided as doubles. */
function division({ names: { output }, call }: Facts): string[] {
  const dtype = call.inputs[0]?.dtype ?? "float32";
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

/** OpenVINO's ScatterUpdate: in updates the axes of indices replace the axis. */
const scatterUpdate: Body = (facts) => {
  const { data, updates, output } = facts.names;
  return [
    `axis = ${facts.axis}`,
    `${output} = ${data}.copy()`,
    "before = (slice(None),) * axis",
    "for at in np.ndindex(indices.shape):",
    `    ${output}[before + (indices[at],)] = ${updates}[before + at]`,
  ];
};

const tensorScatter: Body = (facts) => {
  const { data, indices, updates, output } = facts.names;
  const begin = indices === null ? "0" : `${indices}[batch[0]]`;
  const isRing = facts.attribute("mode") === "circular";
  return [
    `axis = ${facts.axis}`,
    `${output} = ${data}.copy()`,
    `for batch in np.ndindex(${updates}.shape[:axis]):`,
    `    for step in range(${updates}.shape[axis]):`,
    isRing
      ? `        place = (${begin} + step) % ${data}.shape[axis]`
      : `        place = ${begin} + step`,
    `        ${output}[batch + (place,)] = ${updates}[batch + (step,)]`,
  ];
};

const gatherND: Body = (facts) => {
  const { data, output } = facts.names;
  const b = Number(facts.attribute("batch_dims") || 0);
  if (b === 0) return [`${output} = ${data}[tuple(np.moveaxis(indices, -1, 0))]`];
  const { fusesBatches } = facts.call.version;
  return [
    `b = ${b}`,
    "k = indices.shape[-1]",
    `${output} = np.empty(indices.shape[:-1] + ${data}.shape[b + k :], dtype=${data}.dtype)`,
    "for at in np.ndindex(indices.shape[:-1]):",
    `    ${output}[at] = ${data}[at[:b] + tuple(indices[at])]`,
    ...(fusesBatches === true
      ? [
          "# Version 5 makes one axis of the batches.",
          `${output} = ${output}.reshape((np.prod(indices.shape[:b], dtype=int),) + ${output}.shape[b:])`,
        ]
      : []),
  ];
};

const gatherElements: Body = (facts) => {
  const { data, output } = facts.names;
  return [
    `axis = ${facts.axis}`,
    "# Off the axis indices may be smaller than data.",
    `part = tuple(slice(None) if d == axis else slice(n) for d, n in enumerate(indices.shape))`,
    `${output} = np.take_along_axis(${data}[part], indices, axis)`,
  ];
};

const gather: Body = (facts) => [
  `axis = ${facts.axis}`,
  `${facts.names.output} = np.take(${facts.names.data}, indices, axis=axis)`,
];

/** OpenVINO's Gather, with batches, and 0 for an index out of range. */
const gatherOrZero: Body = (facts) => {
  const { data, output } = facts.names;
  const b = Number(facts.attribute("batch_dims"));
  return [
    `axis = ${facts.axis}`,
    `b = ${b < 0 ? `${b} % indices.ndim` : b}`,
    `shape = ${data}.shape[:axis] + indices.shape[b:] + ${data}.shape[axis + 1 :]`,
    `${output} = np.zeros(shape, dtype=${data}.dtype)`,
    "between = (slice(None),) * (axis - b)",
    "for at in np.ndindex(indices.shape):",
    `    if -${data}.shape[axis] <= indices[at] < ${data}.shape[axis]:`,
    `        ${output}[at[:b] + between + at[b:]] = ${data}[at[:b] + between + (indices[at],)]`,
  ];
};

const BODIES: Readonly<Record<string, Body | undefined>> = {
  "ai.onnx/ScatterND": scatterND,
  "ai.onnx/ScatterElements": scatterElements,
  "ai.onnx/Scatter": scatterElements,
  "ai.onnx/GatherND": gatherND,
  "ai.onnx/GatherElements": gatherElements,
  "ai.onnx/Gather": gather,
  "ai.onnx/TensorScatter": tensorScatter,
  "openvino/ScatterNDUpdate": scatterND,
  "openvino/ScatterElementsUpdate": scatterElements,
  "openvino/ScatterUpdate": scatterUpdate,
  "openvino/Gather": gatherOrZero,
  "openvino/GatherND": gatherND,
  "openvino/GatherElements": gatherElements,
};
