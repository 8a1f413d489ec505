/** Random scatters, and the equivalent graphs that `fix` writes for them. */

import { run } from "../../src/core/functions.ts";
import type { DType } from "../../src/core/tensor/dtype.ts";
import { tensor, type Tensor } from "../../src/core/tensor/tensor.ts";
import {
  boolScatter,
  narrowScatter,
  orderedScatter,
  plainScatter,
  type Scatter,
} from "../../src/models/fix/scatters.ts";
import type { Words } from "../../src/models/fix/words.ts";
import { i64 } from "./node-models.ts";
import type { Random } from "./random.ts";

const KINDS: readonly (readonly [
  write: (words: Words, scatter: Scatter) => string,
  dtypes: readonly DType[],
  reductions: readonly Scatter["reduction"][],
])[] = [
  [plainScatter, ["float32", "int8", "uint64"], ["none", "add", "mul"]],
  [orderedScatter, ["float32", "float64", "float16", "bfloat16"], ["max", "min"]],
  [narrowScatter, ["float16", "bfloat16"], ["add", "mul"]],
  [boolScatter, ["bool"], ["max", "min"]],
];

const FLOATS = [NaN, 0, -0, 1, -1, 2.5, -3.25, 65504, 1e-7, Infinity, -Infinity, 0.1, 0.333];

/** A scatter to be rewritten. */
export interface WordedScatter {
  readonly write: (words: Words, scatter: Scatter) => string;
  readonly scatter: Omit<Scatter, "data" | "indices" | "updates">;
  /** Data, indices and updates. */
  readonly inputs: readonly Tensor[];
  readonly exact: Tensor;
  /** The opset of the rewritten graph. */
  readonly opset: number;
  readonly title: string;
}

/** @param nth determines the kind of rewriting */
export function randomScatter(random: Random, nth: number): WordedScatter {
  const [write, dtypes, reductions] = KINDS[nth % KINDS.length];
  const dtype = dtypes[random(dtypes.length)];
  const reduction = reductions[random(reductions.length)];
  const some = (shape: readonly number[]): Tensor => {
    const size = shape.reduce((a, b) => a * b, 1);
    // Sums of infinities are NaNs whose sign the specification leaves open.
    const floats = write === plainScatter ? [0.5, -2, 3, 1e-3] : FLOATS;
    const value = (): unknown => {
      if (dtype === "bool") return random(2) === 1;
      if (dtype.includes("float")) return floats[random(floats.length)];
      return dtype === "uint64" ? BigInt(random(100)) : random(100);
    };
    return tensor(dtype, shape, Array.from({ length: size }, value) as never) as Tensor;
  };
  const { form, axis, data, indices, updates } = randomCall(random, some);
  const op = form === "tuples" ? "ScatterND" : "ScatterElements";
  const attributes = { reduction, ...(form === "elements" && { axis }) };
  const inputs = [data, indices, updates];
  const [exact] = run({ op, opset: 18, attributes }, inputs);
  // ScatterElements supports reductions since opset 16.
  const opsets = write === plainScatter ? [reduction === "none" ? 14 : 16, 17, 26] : [18, 21, 26];
  const scatter = { form, axis, reduction, dtype, mayRace: random(2) === 0 };
  const opset = opsets[random(opsets.length)];
  return {
    write,
    scatter,
    inputs,
    exact,
    opset,
    title: `${op} ${dtype} ${reduction}, call ${nth}`,
  };
}

interface RandomCall {
  readonly form: Scatter["form"];
  readonly axis: number;
  readonly data: Tensor;
  readonly indices: Tensor;
  readonly updates: Tensor;
}

/** A call with repeats, negative indices, and sometimes sizes of 0. */
function randomCall(
  random: (below: number) => number,
  some: (shape: readonly number[]) => Tensor,
): RandomCall {
  const rank = 1 + random(3);
  const shape = Array.from({ length: rank }, () => 1 + random(3));
  const index = (size: number): bigint => BigInt(random(2 * size) - size);
  const data = some(shape);
  if (random(2) === 0) {
    const length = 1 + random(rank);
    const lead = Array.from({ length: random(3) }, () => random(5));
    const count = lead.reduce((a, b) => a * b, 1);
    const tuples = Array.from({ length: count }, () => shape.slice(0, length).map(index)).flat();
    const indices = i64([...lead, length], ...tuples);
    return {
      form: "tuples",
      axis: 0,
      data,
      indices,
      updates: some([...lead, ...shape.slice(length)]),
    };
  }
  const axis = random(2 * rank) - rank;
  const along = (axis + rank) % rank;
  const sizes = shape.map((size, at) => (at === along ? random(5) : 1 + random(size)));
  const count = sizes.reduce((a, b) => a * b, 1);
  const indices = i64(sizes, ...Array.from({ length: count }, () => index(shape[along])));
  return { form: "elements", axis, data, indices, updates: some(sizes) };
}
