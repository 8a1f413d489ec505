/** Generates tensors for the inputs of a model from random numbers that are the same in every run. */

import * as os from "node:os";
import { isTensorError, tensor, zeros, type DType, type Tensor } from "../../entries/index.ts";
import { printShape } from "../../entries/operators.ts";
import { wrongUsage } from "../failure.ts";
import { quote } from "../text/layout.ts";

/** The range of random numbers, both ends included. */
export interface Span {
  readonly low: number;
  readonly high: number;
  /** True for integers. */
  readonly isWhole: boolean;
}

/** A number in [0, 1). */
export type Random = () => number;

/**
 * Returns a generator for a seed: a counter with golden-ratio steps, whose bits are mixed. Two draws give the 53 bits
 * of a number.
 */
export function randomFrom(seed: number): Random {
  let counter = seed >>> 0;
  const bits = (): number => {
    counter = (counter + 0x9e3779b9) >>> 0;
    let mixed = Math.imul(counter ^ (counter >>> 15), 0x2c1b3c6d);
    mixed = Math.imul(mixed ^ (mixed >>> 12), 0x297a2d39);
    return (mixed ^ (mixed >>> 15)) >>> 0;
  };
  return () => ((bits() >>> 5) * 2 ** 26 + (bits() >>> 6)) / 2 ** 53;
}

const isFloat = (dtype: DType): boolean => dtype.includes("float");

/** The range of floats for inputs without an option. */
const USUAL: Span = { low: -1, high: 1, isWhole: false };

/**
 * The number of elements generated at once. Floats of a larger tensor repeat, because generating is slower than
 * copying.
 */
const BLOCK = 2 ** 14;

/** The number of steps in a range of floats, so that floats between -1 and 1 have three decimals. */
const STEPS = 2000;

/**
 * @param spans a span for all elements, or a span per component along the last axis; empty for floats between -1 and 1,
 *   and for zeros of other types
 * @throws Failure for a tensor that does not fit in memory, TensorError for numbers outside the data type
 */
export function madeUp(
  name: string,
  { dtype, shape }: { readonly dtype: DType; readonly shape: readonly number[] },
  spans: readonly Span[],
  random: Random,
): Tensor {
  const made = zerosOf(name, dtype, shape);
  const used = spans.length === 0 && isFloat(dtype) ? [USUAL] : spans;
  if (used.length === 0) return made;
  const data = made.data as Float64Array;
  const count = Math.min(made.size, used.length * BLOCK);
  const repeats = used.every(({ isWhole }) => !isWhole);
  for (let done = 0; done < made.size; done += count) {
    const length = Math.min(count, made.size - done);
    if (repeats && done > 0) {
      data.copyWithin(done, 0, length);
      continue;
    }
    const values = Array.from({ length }, (_, at) => draw(used[at % used.length], random));
    data.set(tensor(dtype, [length], values as never).data as never, done);
  }
  return made;
}

const draw = ({ low, high, isWhole }: Span, random: Random): number =>
  isWhole
    ? low + Math.floor(random() * (high - low + 1))
    : low + ((high - low) * Math.floor(random() * (STEPS + 1))) / STEPS;

/**
 * The number of tensors of the input's size that must fit in memory: the runtime's result and the exact result may be
 * as large, and comparing takes memory too.
 */
const COPIES = 4;

/**
 * Returns zeros for an input. A tensor that exceeds the machine's memory is refused here, because Linux grants more
 * memory than the machine has.
 */
function zerosOf(name: string, dtype: DType, shape: readonly number[]): Tensor {
  const title = `the input ${quote(name)}`;
  const advice = "use --dim to give smaller sizes, or --feed to give the tensor";
  try {
    const made = zeros(dtype, shape);
    const bytes = ArrayBuffer.isView(made.data) ? made.data.byteLength : 0;
    if (COPIES * bytes <= os.totalmem()) return made;
  } catch (error) {
    if (!isTensorError(error, "too-large")) throw error;
    throw wrongUsage(`${title}: ${error.message}; ${advice}`, error);
  }
  const sentence = `${title} of shape ${printShape(shape)} does not fit in memory; ${advice}`;
  throw wrongUsage(sentence);
}
