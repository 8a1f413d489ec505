/** Exports a state as a Python program without loops, in the words of a library. */

import { DTYPES, type DType, type Scalar, type Tensor } from "ndscatter";
import { printScalar, roleOf } from "ndscatter/operators";
import type { State } from "../values/state.ts";
import { elementsOf } from "../values/tensor-text.ts";
import { factsOf, hasEmptyTuples, writesNothing, type CallFacts, type Form } from "./call-facts.ts";
import { oneLine, printNested, writableCall, type WritableCall } from "./source-text.ts";

/** The program's lines, or the reason why the library cannot express the call. */
export type Lines = readonly string[] | { readonly no: string };

export type Body = (facts: CallFacts) => Lines;

/** How a library writes the parts of a program. */
export interface Library {
  readonly name: string;
  /** The name under which the program imports the library. */
  readonly home: string;
  /** Returns the reason why the library cannot express a call with these inputs, or null. */
  refusal(call: WritableCall): string | null;
  imports(inputs: WritableCall["inputs"]): readonly string[];
  tensor(input: Tensor): string;
  /** Comments about how the library runs the call. */
  remarks(facts: CallFacts): readonly string[];
  print(output: string): string;
  copy(data: string): string;
  /** Indices in a type that the library accepts. */
  whole(facts: CallFacts): string;
  /** The components of index tuples, one array for each axis. */
  columns(indices: string): string;
  /** The coordinates of all elements of a shape, one array for each axis. */
  mesh(shape: string): string;
  /** Applies updates at the places `at`. */
  readonly apply: Body;
  readonly emptyTuples: Body;
  readonly gatherElements: Body;
  readonly gatherSlices: Body;
}

/** Returns Python code that prints the output, or only comments if the library cannot express the call. */
export function pythonProgram(state: State, library: Library): string {
  const call = writableCall(state, "#");
  if (typeof call === "string") return call;
  const facts = factsOf(call);
  const { version, inputs, refusal } = call;
  if (facts === null) return `# The page cannot write ${version.name} as ${library.name} code.\n`;
  const no = library.refusal(call);
  const lines = no === null ? linesOf(facts, library) : { no };
  if ("no" in lines) return `# ${lines.no}\n`;
  const arrays = version.inputs.flatMap((schema, position) => {
    const input = inputs[position];
    // The axis is a literal number in the code.
    return input === undefined || roleOf(schema) === "axis"
      ? []
      : [`${schema.name} = ${library.tensor(input)}`];
  });
  return [
    ...library.imports(inputs),
    "",
    ...arrays,
    "",
    ...(refusal === null ? [] : [`# ndscatter refuses this call: ${oneLine(refusal)}`]),
    ...library.remarks(facts),
    ...lines,
    library.print(facts.names.output),
    "",
  ].join("\n");
}

function linesOf(facts: CallFacts, library: Library): Lines {
  const { names, form } = facts;
  if (hasEmptyTuples(facts) && facts.batchDims === 0) return library.emptyTuples(facts);
  return writesNothing(facts)
    ? [`${names.output} = ${library.copy(names.data)}`]
    : BODIES[form](facts, library);
}

/** Joins lines. If the last part is a reason instead of lines, the result is this reason. */
export const after = (first: readonly string[], more: Lines): Lines =>
  "no" in more ? more : [...first, ...more];

/** Prints the elements as nested Python lists. `home` is the name of the library that has `nan` and `inf`. */
export const printPythonList = (input: Tensor, home: string): string =>
  printNested(
    input.shape,
    elementsOf(input).map((value) => printPython(input.dtype, value, home)),
  );

function printPython(dtype: DType, value: Scalar, home: string): string {
  if (typeof value === "boolean") return value ? "True" : "False";
  // JSON escapes are also valid in Python.
  if (typeof value === "string") return JSON.stringify(value);
  if (Array.isArray(value)) {
    const parts = value.map((part) => printFloat(printScalar(dtype, part as Scalar), home));
    return `complex(${parts.join(", ")})`;
  }
  const text = printScalar(dtype, value);
  return DTYPES[dtype].family.startsWith("int") ? text : printFloat(text, home);
}

/** Prints a float in Python's notation. A trailing `.0` is kept, because an integer would lose the sign of 0. */
function printFloat(text: string, home: string): string {
  if (text === "NaN") return `${home}.nan`;
  if (text.endsWith("Infinity")) return text.replace("Infinity", `${home}.inf`);
  return /^-?\d+$/.test(text) ? `${text}.0` : text;
}

/** Prints a shape as a Python tuple, such as `(3,)`. */
export const pythonShape = (shape: readonly number[]): string =>
  `(${shape.join(", ")}${shape.length === 1 ? "," : ""})`;

/** Prints `slice(None)` for each axis before the last part, for example as `(slice(None),) * 2 + (indices,)`. */
export const along = (axis: number, part: string): string =>
  axis === 0 ? part : `(slice(None),) * ${axis} + (${part},)`;

const ones = (count: number): number[] => Array.from({ length: count }, () => 1);

type SharedBody = (facts: CallFacts, library: Library) => Lines;

const scatterTuples: SharedBody = (facts, library) => {
  const { names, updates, isScalar } = facts;
  // OpenVINO accepts a one-element tensor of any rank instead of a scalar.
  const isRanked = isScalar && (updates?.shape.length ?? 0) > 0;
  const scalar = isRanked ? [`${names.updates} = ${names.updates}.reshape(())`] : [];
  const at = `at = tuple(${library.columns(library.whole(facts))})`;
  return after([...scalar, at], library.apply(facts));
};

const scatterElements: SharedBody = (facts, library) =>
  after(
    [
      `at = ${library.mesh(`${facts.names.indices}.shape`)}`,
      `at[${facts.axis}] = ${library.whole(facts)}`,
      "at = tuple(at)",
    ],
    library.apply(facts),
  );

/** Exports OpenVINO's ScatterUpdate. In updates, the axes of indices replace the axis. */
const scatterSlices: SharedBody = (facts, library) =>
  after([`at = ${along(facts.axis, library.whole(facts))}`], library.apply(facts));

const scatterSequences: SharedBody = (facts, library) => {
  const { names, axis, isRing, data, updates } = facts;
  const shape = pythonShape([-1, ...ones((updates?.shape.length ?? 1) - 1)]);
  const begin = names.indices === null ? "" : `${library.whole(facts)}.reshape(${shape}) + `;
  const place = `${begin}at[${axis}]`;
  return after(
    [
      `at = ${library.mesh(`${names.updates}.shape`)}`,
      `at[${axis}] = ${isRing ? `(${place}) % ${data.shape[axis]}` : place}`,
      "at = tuple(at)",
    ],
    library.apply(facts),
  );
};

const gatherTuples: SharedBody = (facts, library) => {
  const { names, batchDims: b, call, indices } = facts;
  const { data, output } = names;
  const columns = library.columns(library.whole(facts));
  if (b === 0) return [`${output} = ${data}[tuple(${columns})]`];
  const batches = (indices?.shape ?? []).slice(0, b).reduce((count, size) => count * size, 1);
  return [
    `batches = ${library.mesh(`${names.indices}.shape[:-1]`)}[:${b}]`,
    `${output} = ${data}[(*batches, *${columns})]`,
    ...(call.version.fusesBatches === true
      ? [
          "# Version 5 merges the batch axes into one.",
          `${output} = ${output}.reshape((${batches},) + ${output}.shape[${b}:])`,
        ]
      : []),
  ];
};

/** Exports OpenVINO's Gather with batches, which returns 0 or an empty string for an index out of range. */
const gatherOrZero: SharedBody = (facts, library) => {
  const { names, axis, data, indices, batchDims: b } = facts;
  const { home } = library;
  const own = indices?.shape ?? [];
  const behind = data.shape.slice(axis + 1);
  const shape = [...data.shape.slice(0, axis), ...own.slice(b), ...behind];
  // This shape aligns each axis of indices with its axis of the output.
  const spread = [...own.slice(0, b), ...ones(axis - b), ...own.slice(b), ...ones(behind.length)];
  const size = data.shape[axis];
  const isText = data.dtype === "string";
  if (size === 0 || shape.includes(0)) {
    const zeros = isText
      ? `${home}.full(${pythonShape(shape)}, "", dtype=object)`
      : `${home}.zeros(${pythonShape(shape)}, dtype=${names.data}.dtype)`;
    return [`${names.output} = ${zeros}`];
  }
  return [
    ...wrapped(facts, library),
    `index = index.reshape(${pythonShape(spread)})`,
    `inside = (index >= 0) & (index < ${size})`,
    `grid = ${library.mesh(pythonShape(shape))}`,
    `index = ${home}.where(inside, index, ${home}.zeros_like(index))`,
    `found = ${names.data}[(*grid[:${axis}], index, *grid[${axis + own.length - b}:])]`,
    `# An index out of range gives ${isText ? "empty text" : "0"}.`,
    `${names.output} = ${home}.where(inside, found, ${isText ? '""' : `${home}.zeros_like(found)`})`,
  ];
};

/** Converts negative indices to positive indices, for functions that do not accept negative indices. */
export const wrapped = (
  facts: CallFacts,
  library: Pick<Library, "home" | "whole">,
): readonly string[] => [
  `index = ${library.whole(facts)}`,
  `index = ${library.home}.where(index < 0, index + ${facts.data.shape[facts.axis]}, index)`,
];

const BODIES: Readonly<Record<Form, SharedBody>> = {
  "scatter-tuples": scatterTuples,
  "scatter-elements": scatterElements,
  "scatter-slices": scatterSlices,
  "scatter-sequences": scatterSequences,
  "gather-tuples": gatherTuples,
  "gather-elements": (facts, library) => library.gatherElements(facts),
  "gather-slices": (facts, library) => library.gatherSlices(facts),
  "gather-or-zero": gatherOrZero,
};
