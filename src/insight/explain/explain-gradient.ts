/**
 * Explains which output cells each input cell affects, and with which factor. Each factor is a gradient of the output's
 * sum, so factors are computed with the same steps as gradients.
 */

import { printCount, wrongOption, optionsOf } from "../../core/foreign.ts";
import { isTensorError, type TensorError } from "../../core/errors.ts";
import { fieldsOf, type NodeSpec } from "../../core/call/call.ts";
import type { GradientOptions } from "../../core/call/gradient-options.ts";
import { vjpOn } from "../../core/call/vjp.ts";
import { Executor } from "../../core/engines/executor.ts";
import { reader } from "../../core/tensor/scalar.ts";
import { printShape, product } from "../../core/tensor/shape.ts";
import { DTYPES, type Scalar } from "../../core/tensor/dtype.ts";
import { asTensor, full, type RuntimeTensor, type Tensor } from "../../core/tensor/tensor.ts";
import { explain } from "./explain.ts";
import type { Explanation, GatherStory, Lazy, ScatterStory, Update } from "./explanation.ts";
import { elementAt, flatOf, lazyList } from "./places.ts";

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
  const { version, output, story } = call;
  try {
    if (version === null || output === null || story === null) throw call.error;
    // Foreign tensors are converted once, so that their getters are called only once.
    const given = asTensor(outputGradient, fieldsOf(version), "outputGradient");
    const gradients = gradientsOf(given);
    const { dtype, shape } = output;
    const one = DTYPES[dtype].lanes === 2 ? ([1, 0] as [number, number]) : 1;
    const ones = full(dtype, shape, one);
    const factors = gradientsOf(ones);
    const isExtreme = story.kind === "scatter" && /^(max|min)$/.test(story.reduction);
    const equal = isExtreme ? gradientsOf(ones, "all") : factors;
    const parts = { call, output, gradients, factors, equal, given, one };
    return { call, error: null, gradients, cell: (input, at) => cellOf(parts, story, input, at) };
  } catch (error) {
    if (!isTensorError(error)) throw error;
    const cell = (): never => {
      throw error;
    };
    return { call, error, gradients: [], cell };
  }
}

/** Data for explaining gradient cells. */
interface Parts {
  readonly call: Explanation;
  readonly output: Tensor;
  readonly gradients: readonly (Tensor | null)[];
  /** Gradients of the output's sum, one per input. */
  readonly factors: readonly (Tensor | null)[];
  /** Tensors that contain 1 where an operand of `max` or `min` equals the result. */
  readonly equal: readonly (Tensor | null)[];
  /** Gradient of the output. */
  readonly given: Tensor;
  /** The number 1 in the data type of the output. */
  readonly one: Scalar;
}

const valueAt = ({ dtype, data }: Tensor, element: number): Scalar => reader(dtype, data)(element);

const realOf = (value: Scalar): number => Number(Array.isArray(value) ? value[0] : value);

/**
 * Throws an `attribute` error for an input without a gradient, and a `rank` or `index-out-of-range` error for
 * coordinates outside the input.
 */
function cellOf(
  parts: Parts,
  story: ScatterStory | GatherStory,
  input: string | number,
  coordinates: readonly number[],
): GradientCell {
  const { call, gradients } = parts;
  const position = call.inputs.findIndex(({ name }, at) => name === input || at === input);
  const gradient = gradients[position];
  if (!gradient) {
    const names = call.inputs.flatMap(({ name }, at) => (gradients[at] === null ? [] : [name]));
    const must = `${names.join(" or ")}, which have gradients`;
    throw wrongOption("input", must, input, { allowed: names });
  }
  const { name } = call.inputs[position];
  const element = elementAt(name, coordinates, gradient.shape, { input: name });
  const terms =
    story.kind === "gather"
      ? gatherTerms(parts, story, coordinates)
      : lazyList(1, () => scatterTerm(parts, story, position, element, coordinates));
  return { input: name, coordinates, value: valueAt(gradient, element), terms };
}

/** Returns one term for each output element that a gather reads from a data element. */
function gatherTerms(
  { output, given, one }: Parts,
  { addressed, target }: GatherStory,
  coordinates: readonly number[],
): Lazy<GradientTerm> {
  const rest = coordinates.slice(addressed);
  const reads = [...(target(coordinates.slice(0, addressed))?.reads() ?? [])];
  return lazyList(reads.length, (nth) => {
    const at = [...reads[nth].at, ...rest];
    const outputGradient = valueAt(given, flatOf(at, output.shape) as number);
    return { output: at, outputGradient, factor: one, reason: "it is gathered" };
  });
}

/** Returns the term for the output element that receives an element of data or updates. */
function scatterTerm(
  { call, output: { shape }, given, factors, equal }: Parts,
  story: ScatterStory,
  position: number,
  element: number,
  coordinates: readonly number[],
): GradientTerm {
  const { addressed } = story;
  const { name, role } = call.inputs[position];
  const isData = role === "data";
  const update = story.updates.at(Math.floor(element / product(shape, addressed)));
  // Updates of a single element may have any rank, but then all axes of data are addressed.
  const rest = coordinates.slice(coordinates.length - (shape.length - addressed));
  const output = isData ? coordinates : [...(update as Update).target, ...rest];
  const hit = story.target(output.slice(0, addressed));
  const last = [...(hit?.updates.at(-1)?.at ?? []), ...output.slice(addressed)];
  const updates = call.inputs.find((input) => input.role === "updates")?.name;
  const factor = valueAt(factors[position] as Tensor, element);
  const isEqual = realOf(valueAt(equal[position] as Tensor, element)) === 1;
  const reason = reasonOf(
    story,
    isData ? name : null,
    hit?.count ?? 0,
    realOf(factor),
    isEqual,
    `${updates}${printShape(last)}`,
  );
  return {
    output,
    outputGradient: valueAt(given, flatOf(output, shape) as number),
    factor,
    reason,
  };
}

/**
 * Returns the reason for a factor.
 * @param data the name of data if the factor belongs to an element of data; null for an element of updates
 * @param count number of updates to the output cell
 * @param factor the factor, or its real part
 * @param isEqual true if the operand equals the result of a max or min
 * @param last the last applied element of updates, such as `updates[5, 0]`
 */
function reasonOf(
  { reduction, includeSelf, stays }: ScatterStory,
  data: string | null,
  count: number,
  factor: number,
  isEqual: boolean,
  last: string,
): string {
  if (data !== null) {
    if (count === 0) return "no update reaches it";
    if (reduction === "none") return `${last} replaces it`;
    if (!includeSelf) return `the result at a target does not include ${data}`;
  }
  const which = reduction === "max" ? "greatest" : "least";
  switch (reduction) {
    case "none":
      return factor === 1
        ? "it is the last update of its target"
        : `a later update, ${last}, replaces it`;
    case "add":
      return "it is added";
    case "sub":
      return factor === 1 ? "the others are subtracted from it" : "it is subtracted";
    case "mean":
      return `it is one of ${printCount(count + (includeSelf ? 1 : 0), "value")} of a mean`;
    case "mul":
      return "the product of the other values";
    default:
      if (!isEqual)
        return `it ${stays === null ? `is not the ${which} value` : "does not equal the result"}`;
      if (factor === 1) return `it is the ${which} value`;
      if (factor === 0) return "another equal value receives the gradient";
      return `it is one of ${Math.round(1 / factor)} equal values that are the ${which}`;
  }
}
