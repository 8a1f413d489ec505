/**
 * Explains which output cells each input cell affects, and with which factor. Each factor is a gradient of the output's
 * sum, so factors are computed with the same steps as gradients.
 */

import { printCount, wrongOption, optionsOf } from "../../core/foreign.ts";
import { isTensorError, TensorError } from "../../core/errors.ts";
import { fieldsOf, type NodeSpec } from "../../core/call/call.ts";
import type { GradientOptions } from "../../core/call/gradient-options.ts";
import { vjpOn } from "../../core/call/vjp.ts";
import { Executor } from "../../core/engines/executor.ts";
import { reader } from "../../core/tensor/scalar.ts";
import { coordinatesOf, printShape, product } from "../../core/tensor/shape.ts";
import { DTYPES, type Reduction, type Scalar } from "../../core/tensor/dtype.ts";
import { asTensor, full, type RuntimeTensor, type Tensor } from "../../core/tensor/tensor.ts";
import { explain } from "./explain.ts";
import type {
  ExplainedInput,
  Explanation,
  GatherStory,
  Lazy,
  ScatterStory,
  Target,
  Update,
} from "./explanation.ts";
import { lazyList } from "./lazy-list.ts";
import { noElement, flatOf } from "./places.ts";

/** The gradients of a call, with an explanation for each cell. */
export interface GradientExplanation {
  /** The explanation of the call, without gradients. */
  readonly call: Explanation;
  /** The error that `vjp` throws; null if `vjp` succeeds. */
  readonly error: TensorError | null;
  /** The result of `vjp`, bit for bit: one gradient or null per input. The list is empty if `vjp` fails. */
  readonly gradients: readonly (Tensor | null)[];
  /**
   * Explains one cell of an input's gradient.
   * @param input the input's name, such as `updates`, or its position
   * @throws TensorError `attribute` for an input without a gradient; `index-out-of-range` for coordinates outside it
   */
  cell(input: string | number, coordinates: readonly number[]): GradientCell;
}

/** Explains one cell of an input's gradient. */
export interface GradientCell {
  /** The name of the input. */
  readonly input: string;
  readonly coordinates: readonly number[];
  /** The gradient of this cell. */
  readonly value: Scalar;
  /**
   * The output cells that the input cell affects, in row-major order. An input cell of a scatter affects one output
   * cell, and an input cell of a gather any number. Apart from rounding, the gradient is the sum of `factor` times
   * `outputGradient` over all terms.
   */
  readonly terms: Lazy<GradientTerm>;
}

/** One output cell's contribution to a gradient. */
export interface GradientTerm {
  /** The coordinates of the output cell. */
  readonly output: readonly number[];
  /** The gradient of the output cell. */
  readonly outputGradient: Scalar;
  /** The derivative of the output cell with respect to the input cell; for complex numbers, its conjugate. */
  readonly factor: Scalar;
  /** The reason for the factor, such as `a later update, updates[5], replaces it`. */
  readonly reason: string;
}

/**
 * Explains how each gradient from `vjp` depends on the output cells: with which factors, and why.
 *
 * If `vjp` would throw an error, the explanation ends at the failure, and `error` contains the error. Cells are
 * computed from the inputs on demand, so do not change the inputs while using an explanation.
 *
 * @param node the node, as for `vjp`
 * @param inputs tensors in the order of the version's inputs; `undefined` for an omitted optional input
 * @param outputGradient a tensor with data's type and the output's shape
 * @param options `ties`, which determines the operands that receive the gradient of a `max` or `min` if several
 * operands equal the result
 * @throws TensorError `attribute` for an unknown option
 *
 * @example
 * ```ts
 * const node = { op: "ScatterND", opset: 18, attributes: { reduction: "max" } };
 * const inputs = [tensor("float32", [2], [1, 5]), tensor("int64", [2, 1], [1, 1]), tensor("float32", [2], [7, 2])];
 * const { cell } = explainGradient(node, inputs, tensor("float32", [2], [10, 20]));
 * const [term] = cell("updates", [0]).terms;
 * console.log(`${term?.factor} times ${term?.outputGradient}: ${term?.reason}`); // 1 times 20: it is the greatest value
 * ```
 */
export function explainGradient(
  node: NodeSpec,
  inputs: readonly unknown[],
  outputGradient: Tensor | RuntimeTensor,
  options: Pick<GradientOptions, "ties"> = {},
): GradientExplanation {
  const { ties } = optionsOf(options, ["ties"], {}) as Pick<GradientOptions, "ties">;
  const call = explain(node, inputs);
  const tensors = call.inputs.map(({ tensor }) => tensor ?? undefined);
  const gradientsOf = (gradient: unknown, given = ties): readonly (Tensor | null)[] =>
    vjpOn(() => new Executor(), node, tensors, gradient, { ties: given });
  const refused = (error: TensorError): GradientExplanation => ({
    ...{ call, error, gradients: [] },
    cell: () => {
      throw error;
    },
  });
  const { version, output, story } = call;
  if (version === null || output === null || story === null)
    return refused(call.error as TensorError);
  try {
    // Foreign tensors are converted once, so that their getters are called only once.
    const given = asTensor(outputGradient, fieldsOf(version), "outputGradient");
    const gradients = gradientsOf(given);
    const ones = onesLike(output);
    const factors = gradientsOf(ones);
    const isExtreme = story.kind === "scatter" && isExtremal(story.reduction);
    const equal = isExtreme ? gradientsOf(ones, "all") : factors;
    const parts = { call, output, story, gradients, factors, equal, given, ones };
    return { call, error: null, gradients, cell: (input, at) => cellOf(parts, input, at) };
  } catch (error) {
    if (isTensorError(error)) return refused(error);
    throw error;
  }
}

/** Returns a tensor of ones for computing factors. */
const onesLike = ({ dtype, shape }: Tensor): Tensor =>
  full(dtype, shape, DTYPES[dtype].lanes === 2 ? [1, 0] : 1) as Tensor;

const isExtremal = (reduction: Reduction): reduction is "max" | "min" =>
  reduction === "max" || reduction === "min";

/** Data for explaining gradient cells. */
interface Parts {
  readonly call: Explanation;
  readonly output: Tensor;
  readonly story: ScatterStory | GatherStory;
  readonly gradients: readonly (Tensor | null)[];
  readonly factors: readonly (Tensor | null)[];
  /** Tensors that contain 1 where an operand of `max` or `min` equals the result. */
  readonly equal: readonly (Tensor | null)[];
  /** Gradient of the output. */
  readonly given: Tensor;
  /** Tensor of ones with the output's shape, for computing factors. */
  readonly ones: Tensor;
}

/** Returns a function that reads elements of a tensor. */
const readerOf = ({ dtype, data }: Tensor): ((element: number) => Scalar) => reader(dtype, data);

function cellOf(
  parts: Parts,
  input: string | number,
  coordinates: readonly number[],
): GradientCell {
  const { call, gradients } = parts;
  const position = positionOf(call, gradients, input);
  const gradient = gradients[position] as Tensor;
  const { name, role } = call.inputs[position];
  const element = elementOf(name, coordinates, gradient);
  const terms =
    parts.story.kind === "gather"
      ? gatherTerms(parts, parts.story, coordinates)
      : scatterTerms(parts, parts.story, position, role === "data", element);
  return { input: name, coordinates, value: readerOf(gradient)(element), terms };
}

/** Throws an `attribute` error for an input without a gradient. */
function positionOf(
  { inputs }: Explanation,
  gradients: readonly (Tensor | null)[],
  input: string | number,
): number {
  const position = inputs.findIndex(({ name }, at) => name === input || at === input);
  if (position !== -1 && gradients[position] !== null) return position;
  const names = inputs.flatMap(({ name }, at) => (gradients[at] === null ? [] : [name]));
  const must = `${names.join(" or ")}, which have gradients`;
  throw wrongOption("input", must, input, { allowed: names });
}

/** Throws a `rank` or `index-out-of-range` error for coordinates outside the input. */
function elementOf(name: string, coordinates: readonly number[], { shape }: Tensor): number {
  const element = Array.isArray(coordinates) ? flatOf(coordinates, shape) : null;
  if (element !== null) return element;
  throw noElement(name, coordinates, shape, { input: name });
}

/** Returns one term for each output element that a gather reads from a data element. */
function gatherTerms(
  { output, given, ones }: Parts,
  story: GatherStory,
  coordinates: readonly number[],
): Lazy<GradientTerm> {
  const target = story.target(coordinates.slice(0, story.addressed));
  const rest = coordinates.slice(story.addressed);
  const reads = target === null ? [] : [...target.reads()];
  return lazyList(reads.length, (nth) => {
    const at = [...reads[nth].at, ...rest];
    const element = flatOf(at, output.shape) as number;
    const factor = readerOf(ones)(element);
    return {
      output: at,
      outputGradient: readerOf(given)(element),
      factor,
      reason: "it is gathered",
    };
  });
}

/** Returns the term for the output element that receives an element of data or updates. */
function scatterTerms(
  { call, output, given, factors, equal }: Parts,
  story: ScatterStory,
  position: number,
  isData: boolean,
  element: number,
): Lazy<GradientTerm> {
  const { shape } = output;
  const slice = product(shape, story.addressed);
  const { target } = isData
    ? { target: null }
    : (story.updates.at(Math.floor(element / slice)) as Update);
  const at =
    target === null
      ? coordinatesOf(element, shape)
      : [...target, ...coordinatesOf(element % slice, shape.slice(story.addressed))];
  return lazyList(1, () => {
    const to = flatOf(at, shape) as number;
    const factor = readerOf(factors[position] as Tensor)(element);
    const isEqual = isOne(readerOf(equal[position] as Tensor)(element));
    const hit = story.target(at.slice(0, story.addressed));
    const last = hit === null ? "" : lastUpdate(call, hit, to % slice, slice);
    const facts = { isData, count: hit?.count ?? 0, factor, isEqual, last };
    const reason = reasonOf(story, facts, call);
    return { output: at, outputGradient: readerOf(given)(to), factor, reason };
  });
}

/** Names the last update element that a target element receives, such as `updates[5, 0]`. */
function lastUpdate({ inputs }: Explanation, hit: Target, within: number, slice: number): string {
  const { name, tensor } = inputs.find(({ role }) => role === "updates") as ExplainedInput;
  const { order } = hit.updates.at(-1) as Update;
  const at = coordinatesOf(order * slice + within, (tensor as Tensor).shape);
  return name + printShape(at);
}

const realOf = (value: Scalar): number => Number(Array.isArray(value) ? value[0] : value);
const isOne = (value: Scalar): boolean => realOf(value) === 1;

/** Facts that determine the reason for a factor. */
interface Facts {
  readonly isData: boolean;
  /** Number of updates to the output cell. */
  readonly count: number;
  readonly factor: Scalar;
  readonly isEqual: boolean;
  /** The last applied element of updates; empty if no update was applied. */
  readonly last: string;
}

function reasonOf(
  { reduction, includeSelf, stays }: ScatterStory,
  facts: Facts,
  call: Explanation,
): string {
  const { isData, count, factor, isEqual, last } = facts;
  if (isData && count === 0) return "no update reaches it";
  if (isData && reduction === "none") return `${last} replaces it`;
  if (isData && !includeSelf)
    return `the result at a target does not include ${call.inputs[0].name}`;
  switch (reduction) {
    case "none":
      return isOne(factor)
        ? "it is the last update of its target"
        : `a later update, ${last}, replaces it`;
    case "add":
      return "it is added";
    case "sub":
      return isOne(factor) ? "the others are subtracted from it" : "it is subtracted";
    case "mean":
      return `it is one of ${printCount(count + (includeSelf ? 1 : 0), "value")} of a mean`;
    case "mul":
      return "the product of the other values";
    default:
      if (stays !== null && !isEqual) return "it does not equal the result";
      return extremeReason(reduction === "max" ? "greatest" : "least", factor, isEqual);
  }
}

function extremeReason(which: string, factor: Scalar, isEqual: boolean): string {
  if (!isEqual) return `it is not the ${which} value`;
  const share = realOf(factor);
  if (share === 1) return `it is the ${which} value`;
  if (share === 0) return "another equal value receives the gradient";
  return `it is one of ${Math.round(1 / share)} equal values that are the ${which}`;
}
