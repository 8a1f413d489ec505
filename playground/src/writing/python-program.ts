/** Exports a program for a Python library: imports, tensors, and the lines that compute the output. */

import type { DType, Tensor } from "ndscatter";
import { roleOf } from "ndscatter/operators";
import type { State } from "../values/state.ts";
import { printPythonList } from "./as-numpy.ts";
import {
  factsOf,
  hasEmptyTuples,
  pythonShape,
  writesNothing,
  type CallFacts,
  type Form,
} from "./call-facts.ts";
import { oneLine, writableCall } from "./source-text.ts";

/** The program's lines, or the reason why the library cannot express the call. */
export type Lines = readonly string[] | { readonly no: string };

export interface Library {
  readonly name: string;
  readonly imports: readonly string[];
  /** The prefix of function names. */
  readonly home: string;
  /** The prefix of `nan` and `inf`. */
  readonly numbers: string;
  /** Returns the library's name for a data type; null if the library lacks the type. */
  dtypeOf(dtype: DType): string | null;
  /**
   * The function that creates a literal tensor, or `zeros` for a tensor without elements, whose literal has no shape.
   */
  readonly tensor: string;
  /** A sentence about how the library handles a call that ndscatter refuses. */
  readonly refuses: string;
  readonly bodies: Readonly<Record<Form, (facts: CallFacts) => Lines>>;
}

/** Returns Python code that prints the output, or only comments if the library cannot express the call. */
export function printProgram(state: State, library: Library): string {
  const call = writableCall(state, "#");
  if (typeof call === "string") return call;
  const facts = factsOf(call);
  const { version, inputs, refusal } = call;
  const { name, imports, bodies } = library;
  if (facts === null) return `# The page cannot write ${version.name} as ${name} code.\n`;
  const lacking = inputs.find((input) => input && library.dtypeOf(input.dtype) === null);
  if (lacking) return `# ${name} does not support ${lacking.dtype} for this call.\n`;
  if (hasEmptyTuples(facts)) return `# ${name} does not support empty index tuples.\n`;
  const lines = writesNothing(facts)
    ? [`${facts.names.output} = ${facts.names.data}`]
    : bodies[facts.form](facts);
  if ("no" in lines) return `# ${lines.no}\n`;
  const made = version.inputs.flatMap((schema, position) => {
    const input = inputs[position];
    // The axis is a literal number in the code.
    return input === undefined || roleOf(schema) === "axis"
      ? []
      : [`${schema.name} = ${tensorOf(input, library)}`];
  });
  return [
    ...imports,
    "",
    ...made,
    "",
    ...(refusal === null
      ? []
      : [`# ndscatter refuses this call: ${oneLine(refusal)}`, `# ${library.refuses}`]),
    ...(isOpenOrder(facts)
      ? [`# ${name} may combine updates in another order, so the last digits may differ.`]
      : []),
    ...lines,
    `print(${facts.names.output})`,
    "",
  ].join("\n");
}

function tensorOf(input: Tensor, { home, numbers, tensor, dtypeOf }: Library): string {
  const dtype = dtypeOf(input.dtype) ?? "";
  return input.shape.includes(0)
    ? `${home}zeros(${pythonShape(input.shape)}, dtype=${dtype})`
    : `${home}${tensor}(${printPythonList(input, numbers)}, dtype=${dtype})`;
}

/** Checks whether sums and products are rounded, so that their order matters. */
const isRounded = (dtype: DType): boolean => /^(?:b?float|complex)/.test(dtype);

const isOpenOrder = ({ hasRepeats, reduction, data }: CallFacts): boolean =>
  hasRepeats && ["add", "mul", "sub", "mean"].includes(reduction) && isRounded(data.dtype);

/** Returns the reason why an output is undefined: several updates of one target without a reduction. */
export const openRepeats = (name: string): { readonly no: string } => ({
  no:
    `${name} does not define which update wins if several have the same target,\n` +
    `# so a ${name} program may give another output.\n` +
    "# Omit the earlier updates of each target, or use a reduction.",
});

/** Joins lines. If a part is a reason instead of lines, the result is this reason. */
export const after = (first: Lines, more: Lines): Lines =>
  "no" in first ? first : "no" in more ? more : [...first, ...more];
