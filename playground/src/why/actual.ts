/** Compares another runtime's output with the exact output, and finds candidate causes for the differences. */

import {
  diagnose,
  dialects,
  DTYPES,
  infer,
  tensor,
  type Diagnosis,
  type Dialect,
  type DialectId,
  type DType,
  type Explanation,
  type Tensor,
} from "ndscatter";
import { printShape } from "ndscatter/operators";
import { attempt } from "../values/attempt.ts";
import { printNames } from "../values/names.ts";
import { counted, DIALECT_NAMES } from "./dialect-names.ts";
import { rulesOf, type Rule, type Rules } from "./dialect-view.ts";
import { withText } from "../reading/paste.ts";
import { isPrintedAs, roundingOf, type Rounding } from "./printed-digits.ts";
import type { ExplainedState, Reading } from "../document/read-state.ts";
import { parseScalar } from "../values/scalar-text.ts";
import { rolePosition } from "../values/schema.ts";
import { coordinatesOf, sizeOf } from "../values/shape.ts";
import type { TensorText } from "../values/state.ts";
import { tensorOf, valueTexts } from "../values/tensor-text.ts";

/** An output's data type and shape. */
export interface OutputType {
  readonly dtype: DType;
  readonly shape: readonly number[];
}

export interface Actual {
  /** The output, converted to the call's output type and shape. */
  readonly text: TensorText;
  /** The rounding of the printed values; null if all digits are printed. */
  readonly rounding: Rounding | null;
  /** Remarks about how the output was read. */
  readonly remarks: readonly string[];
  /** The system that returned the output, if it is known. Its own faults are the likeliest causes. */
  readonly dialect?: DialectId | undefined;
  /** The same tensor with its own shape, if the shape differs. */
  readonly unfit?: TensorText;
}

/**
 * An error for a text or tensor that is not an output of the call. A tensor that differs only in shape is preserved.
 */
export type ReadActual = Actual | { readonly error: string; readonly unfit?: TensorText };

/** Returns a call's output type, even if an index is out of range; or the reason why the call has no output. */
export function outputTypeOf({
  node,
  inputs,
  faults,
}: Reading): OutputType | { readonly error: string } {
  if (faults.length > 0) return { error: `First correct the call: ${faults[0].sentence}` };
  const found = attempt(() => infer(node, inputs)[0]);
  if ("error" in found) return { error: `First correct the call: ${found.error}` };
  return { dtype: found.dtype, shape: found.shape as number[] };
}

export const isOfType = (one: OutputType, other: OutputType): boolean =>
  one.dtype === other.dtype && String(one.shape) === String(other.shape);

/** Reads the output in a pasted text. The function never throws. */
export function readActual(text: string, output: OutputType): ReadActual {
  if (text.trim() === "") return { error: "First paste the output of the other runtime." };
  const read = withText({ dtype: output.dtype, shape: output.shape, values: [] }, text);
  if ("error" in read) return { error: `The text cannot be read: ${read.error}` };
  const isFloating = ["float", "half"].includes(DTYPES[output.dtype].family);
  return fitActual(read.input, output, isFloating ? roundingOf(text) : null, "The text");
}

/** Returns a tensor from a text, file or link as the call's output. */
export function fitActual(
  input: TensorText,
  output: OutputType,
  rounding: Rounding | null = null,
  what = "The file",
): ReadActual {
  const { dtype, shape } = output;
  const wanted = `${dtype} ${printShape(shape)}`;
  if (input.dtype !== dtype) {
    return { error: `${what} is ${input.dtype}, but the output of this call is ${wanted}.` };
  }
  const got = input.values.length;
  if (got !== sizeOf(shape)) {
    return {
      error: `${what} has ${counted(got, "element")}, but the output of this call, ${wanted}, has ${sizeOf(shape)}.`,
      unfit: input,
    };
  }
  const { tensor: flat, wrong } = flatOf(input);
  if (wrong.length > 0) {
    return { error: `${what} has a value that is not a ${dtype}: ${wrong[0].sentence}` };
  }
  const isReshaped = String(input.shape) !== String(shape);
  const remark = `${what} has the shape ${printShape(input.shape)}; its ${counted(got, "element")} are taken as ${printShape(shape)}, in order.`;
  return {
    text: { dtype, shape, values: valueTexts(flat) },
    rounding,
    remarks: isReshaped ? [remark] : [],
    ...(isReshaped && { unfit: input }),
  };
}

/** Returns the elements as a list, because an output may have more axes than the page can read. */
const flatOf = ({ dtype, values }: TensorText): ReturnType<typeof tensorOf> =>
  tensorOf({ dtype, shape: [values.length], values }, "the tensor");

/** A call that was read, and its explanation. */
type Explained = Pick<ExplainedState, "node" | "version" | "inputs" | "explanation">;

/** The result of a comparison with the exact output. */
export interface Comparison {
  /** The texts of all elements, for the stage. */
  readonly texts: readonly string[];
  readonly differing: ReadonlySet<number>;
  /** A sentence such as `3 of 12 cells differ.`, with remarks about this count. */
  readonly sentences: readonly string[];
  /** The first element that differs, or null. */
  readonly first: {
    readonly at: readonly number[];
    readonly actual: string;
    /** The exact element; null if the exact call does not determine it. */
    readonly exact: string | null;
  } | null;
  /** Candidate causes, most likely first. */
  readonly causes: readonly Cause[];
  /** The other runtime's output, in the call's output shape unless the shapes differ. */
  readonly output: Tensor;
  /** An element without an exact value is null; if no element has an exact value, the whole list is null. */
  readonly base: Base | null;
  /** True if the shapes differ, so that cells cannot be compared. */
  readonly isOtherShape: boolean;
}

export interface Cause {
  readonly id: Diagnosis["id"];
  readonly sentence: string;
  /** The share of cells that the cause explains, such as `explains all 3 cells`. */
  readonly share: string;
  /** True if the cause explains every element that differs. */
  readonly isWhole: boolean;
  readonly dialects: readonly DialectId[];
  /** A sentence about the systems with this behaviour. */
  readonly who: string;
}

/**
 * Compares another runtime's output with the exact output of a call, bit for bit; all NaNs are equal. The output has the
 * call's output type. `rules` are other systems' results.
 */
export function compareActual(
  call: Explained,
  { text, rounding, dialect }: Actual,
  rules: Rules = rulesOf(call.node, call.inputs),
): Comparison | { readonly error: string } {
  const { node, inputs, explanation } = call;
  const { dtype, shape } = text;
  return attempt(() => {
    const base = baseOf(explanation, rules);
    const values = asExact(text, base, rounding);
    const output = tensor(dtype, shape, flatOf({ ...text, values }).tensor.data);
    const differing =
      base === null ? [] : values.flatMap((value, p) => (base[p] === value ? [] : [p]));
    const [at] = differing;
    // An invalid call has no correct result, so a result that ignores its bad indices proves nothing.
    const isExact = (explanation?.output ?? null) !== null;
    const causes =
      isExact && at === undefined
        ? []
        : diagnose(node, inputs, output, dialect === undefined ? {} : { dialect });
    const lost = values.filter((value, p) => value !== text.values[p]).length;
    return {
      texts: text.values,
      differing: new Set(differing),
      sentences: [
        verdictOf(call, base, differing.length, isExact),
        ...(lost > 0 ? [lostOf(lost, rounding)] : []),
      ],
      first:
        at === undefined
          ? null
          : {
              at: coordinatesOf(at, shape),
              actual: values[at],
              exact: isExact && base ? base[at] : null,
            },
      causes: causesOf(causes, isScatter(call), rules),
      output,
      base,
      isOtherShape: false,
    };
  });
}

/** Compares an output of another shape; returns null if no known cause explains its shape and all its elements. */
export function compareShape(
  call: Explained,
  unfit: TensorText,
  { shape }: OutputType,
  rules: Rules,
): Comparison | null {
  const found = attempt(() => {
    const { tensor: flat, wrong } = flatOf(unfit);
    const output = tensor(unfit.dtype, unfit.shape, flat.data);
    return wrong.length > 0 ? null : { output, causes: diagnose(call.node, call.inputs, output) };
  });
  if (found === null || "error" in found || found.causes.length === 0) return null;
  const { output, causes } = found;
  return {
    texts: valueTexts(output),
    differing: new Set(),
    sentences: [
      `Yours has the shape ${printShape(unfit.shape)}; the exact output has ${printShape(shape)}.`,
    ],
    first: null,
    causes: causesOf(causes, isScatter(call), rules),
    output,
    base: null,
    isOtherShape: true,
  };
}

/** Each element of the exact output as text; null for an element without an exact value. */
export type Base = readonly (string | null)[];

/**
 * Returns the exact output. For an invalid call, the output is determined by a system that accepts the call; otherwise
 * null.
 */
function baseOf(explanation: Explanation | null, found: Rules): Base | null {
  const { output = null } = explanation ?? {};
  if (output !== null) return valueTexts(output);
  const rules = "error" in found ? [] : found.choices.flatMap(({ rule }) => rule ?? []);
  const [nearest] = rules.toSorted((a, b) => a.differing.size - b.differing.size);
  if (nearest === undefined) return null;
  return valueTexts(nearest.output).map((text, p) => (nearest.differing.has(p) ? null : text));
}

/** Returns the values, in which each rounded value is replaced by the exact value that it matches. */
function asExact(text: TensorText, base: Base | null, rounding: Rounding | null): string[] {
  const { dtype, values } = text;
  if (rounding === null || base === null) return [...values];
  const numberOf = (value: string): number => Number(parseScalar(dtype, value));
  return values.map((value, p) => {
    const exact = base[p];
    if (exact === null) return value;
    return isPrintedAs(numberOf(exact), numberOf(value), rounding) ? exact : value;
  });
}

const isScatter = ({ version }: Explained): boolean =>
  version !== null && rolePosition(version, "updates") !== -1;

function verdictOf(
  call: Explained,
  base: Base | null,
  differing: number,
  isExact: boolean,
): string {
  if (base === null) return "The call is invalid, so no cell has an exact value to compare with.";
  const some = `${differing.toLocaleString("en")} of ${counted(base.length, "cell")} ${differing === 1 ? "differs" : "differ"}`;
  if (isExact) return differing === 0 ? "All cells are equal, bit for bit." : `${some}.`;
  const how = isScatter(call) ? "without its bad indices" : "with 0 for its bad indices";
  return `The call is invalid. ${differing === 0 ? "No cell differs" : some} from the result ${how}.`;
}

const lostOf = (count: number, rounding: Rounding | null): string =>
  `${counted(count, "cell")} ${count === 1 ? "counts" : "count"} as equal, because the text shows only ${rounding?.decimals ?? 0} decimals.`;

function causesOf(
  found: readonly Diagnosis[],
  isOfScatter: boolean,
  rules: Rules,
): readonly Cause[] {
  // A system that returns the exact result does not show its usual fault in this call.
  const agreeing = new Set(
    "error" in rules
      ? []
      : rules.choices.flatMap(({ agrees, rows }) => (agrees ? rows.map(({ id }) => id) : [])),
  );
  const systems = found.length === 0 ? [] : dialects().filter(({ id }) => !agreeing.has(id));
  return found.map(({ id, sentence, cells: { explained, differing }, dialects: named }) => {
    const known = systems
      .filter((one) => named.includes(one.id) && isKnownFor(one, id, isOfScatter))
      .map((one) => one.id);
    const names = known.map((one) => DIALECT_NAMES[one]);
    const isWhole = explained === differing;
    const all = differing === 1 ? "the cell" : `all ${counted(differing, "cell")}`;
    return {
      id,
      sentence,
      share: `explains ${isWhole ? all : `${explained} of ${counted(differing, "cell")}`}`,
      isWhole,
      dialects: known,
      who:
        names.length === 0
          ? "No known runtime or library returns this result."
          : `${printNames(names)} ${names.length === 1 ? "returns" : "return"} this result.`,
    };
  });
}

/**
 * Checks whether a system shows this behaviour in calls of this kind. The library lists a system even if only other
 * kinds of calls show the behaviour. For example, JAX clips gather indices but skips scatter updates.
 */
function isKnownFor({ facts }: Dialect, id: string, isOfScatter: boolean): boolean {
  const other = isOfScatter ? "gathers" : "scatters";
  const known = facts.filter(({ aspect }) => aspect !== other);
  return id.split("+").every((part) => known.some(({ does }) => does.includes(part)));
}

/**
 * Checks whether the other runtime's output is a result of systems: it equals their result, or it differs only where
 * their result is undecided, and a cause that explains the whole output fits one of them.
 */
export function isResultOf(
  { output, undecided }: Pick<Rule, "output" | "undecided">,
  systems: readonly DialectId[],
  comparison: Comparison,
): boolean {
  const [one, other] = [output, comparison.output].map(valueTexts);
  const differing = one.flatMap((text, p) => (text === other[p] ? [] : [p]));
  if (differing.length === 0) return true;
  // The first update is one of those that a system may keep if it keeps any.
  const isPossible = ({ id, isWhole, dialects }: Cause): boolean =>
    isWhole && (id === "first-wins" || dialects.some((one) => systems.includes(one)));
  return differing.every((p) => undecided.has(p)) && comparison.causes.some(isPossible);
}
