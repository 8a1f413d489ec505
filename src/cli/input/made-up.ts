/** Generates model input tensors from reproducible random numbers. */

import * as os from "node:os";
import { isTensorError, tensor, zeros, type DType, type Tensor } from "../../entries/index.ts";
import { printShape } from "../../entries/operators.ts";
import { wrongUsage } from "../failure.ts";
import { quote } from "../text/layout.ts";

/** Range of random numbers, including both bounds. */
export interface Span {
  readonly low: number;
  readonly high: number;
  /** True for integers. */
  readonly isWhole: boolean;
}

/** Returns a random number in [0, 1). */
export type Random = () => number;

/**
 * Returns a random number generator, which mixes the bits of a counter with golden-ratio steps. Two random integers
 * provide the 53 bits of a double.
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

/** Range of random floats for inputs without options. */
const USUAL: Span = { low: -1, high: 1, isWhole: false };

/**
 * Number of elements generated at once. Larger float tensors repeat these elements, because generating is slower than
 * copying.
 */
const BLOCK = 2 ** 14;

/** Number of steps in a float range. Floats between -1 and 1 have three decimals. */
const STEPS = 2000;

/**
 * `spans` contains one range for all elements, or one range per component along the last axis. If `spans` is empty,
 * floats are between -1 and 1, and other elements are 0. Throws a `Failure` if the tensor does not fit in memory, and a
 * `TensorError` for numbers outside the data type.
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
 * Number of tensors of this size that must fit in memory, because the results and their comparison may need as much
 * memory as the input.
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
