import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { Engine } from "../../src/core/create-engine.ts";
import { DTYPE_NAMES, reductionsOf, type DType } from "../../src/core/tensor/dtype.ts";
import * as reference from "../support/reference.ts";
import { copy } from "../../src/core/tensor/storage.ts";
import { equals } from "../../src/core/tensor/compare.ts";
import { zeros, type Tensor } from "../../src/core/tensor/tensor.ts";
import { ENGINES } from "../support/engines.ts";
import { withLimits } from "../support/limits.ts";
import { randomFrom, randomIndices, randomTensor, type Random } from "../support/random.ts";

/**
 * Shapes that are large enough for each way in which work is split among threads and slices are moved: the properties
 * draw small ones.
 */
interface Row {
  readonly name: string;
  readonly data: readonly number[];
  readonly indices: readonly number[];
  /** Of elements; absent for tuples. */
  readonly axis?: number;
  /** Of gathers of tuples. */
  readonly batchDims?: number;
  /** Whether each row of indices holds one index. */
  readonly uniform?: boolean;
}

// prettier-ignore
const ROWS: readonly Row[] = [
  { name: "columns of long slices", data: [7, 211], indices: [12, 1] },
  { name: "slices of no whole vectors", data: [20, 37], indices: [30, 1] },
  { name: "slices that are copied whole", data: [3, 75], indices: [4, 1] },
  { name: "slices of which half are kept", data: [6, 75], indices: [3, 1] },
  { name: "vectors with many updates each", data: [5, 104], indices: [40, 1] },
  { name: "single targets", data: [31, 17], indices: [100, 2] },
  { name: "lanes of elements", data: [6, 3, 211], indices: [3, 3, 211], axis: 0 },
  { name: "elements on fewer lanes than data", data: [6, 4, 90], indices: [4, 3, 77], axis: 0 },
  { name: "batches of elements", data: [12, 40], indices: [12, 33], axis: 1 },
  { name: "rows of one index", data: [9, 2, 40], indices: [11, 2, 40], axis: 0, uniform: true },
  { name: "rows of one index, batch by batch", data: [8, 9, 20], indices: [8, 5, 20], axis: 1, uniform: true },
  { name: "batches of tuples", data: [9, 5, 30], indices: [9, 11, 1], batchDims: 1 },
];

const random = randomFrom(7);

for (const row of ROWS) {
  test(`${row.name}, on every engine, on the heap and in its memory`, () => {
    for (const [turn, dtype] of DTYPE_NAMES.entries()) withLimits(turn, () => split(row, dtype));
  });
}

function split(row: Row, dtype: DType): void {
  const indices = indicesOf(row, random);
  const data = randomTensor(dtype, row.data, random);
  const { axis, batchDims = 0 } = row;
  const gathered =
    axis === undefined
      ? reference.gatherND(data, indices, batchDims)
      : reference.gatherElements(data, indices, axis);
  everywhere([data, indices], gathered, `${dtype}, gathered`, (engine, [data, indices], out) =>
    axis === undefined
      ? engine.gatherND(data, indices, { batchDims, out })
      : engine.gatherElements(data, indices, { axis, out }),
  );
  if (row.batchDims !== undefined) return;
  const updates = randomTensor(dtype, updatesShape(row), random);
  for (const reduction of reductionsOf(dtype)) {
    const expected =
      axis === undefined
        ? reference.scatterND(data, indices, updates, reduction)
        : reference.scatterElements(data, indices, updates, axis, reduction);
    everywhere(
      [data, indices, updates],
      expected,
      `${dtype}, ${reduction}`,
      (engine, [data, indices, updates], out) =>
        axis === undefined
          ? engine.scatterND(data, indices, updates, { reduction, out })
          : engine.scatterElements(data, indices, updates, { reduction, axis, out }),
    );
  }
}

type Call = (engine: Engine, inputs: readonly Tensor[], out: Tensor) => Tensor;

/** Where tensors of the heap go through each kernel, and tensors of the engine; ways.test.ts has all other ways. */
const ON_HEAP = new Set(["js", "wasm for all"]);
const RESIDENT = new Set(["wasm for all, 3 threads"]);

/** Compares what `call` gives with `expected`. */
function everywhere(inputs: readonly Tensor[], expected: Tensor, what: string, call: Call): void {
  for (const [name, engine] of Object.entries(ENGINES)) {
    if (ON_HEAP.has(name)) {
      const out = zeros(expected.dtype, expected.shape);
      assert.ok(equals(call(engine, inputs, out), expected), `${what}, ${name}, heap`);
    }
    if (!RESIDENT.has(name)) continue;
    const given = zeros(expected.dtype, expected.shape);
    const resident = [...inputs, given].map((one) => inEngine(engine, one));
    const result = call(engine, resident.slice(0, -1), resident[inputs.length]);
    assert.ok(equals(result, expected), `${what}, ${name}, resident`);
    for (const one of resident) one.dispose();
  }
}

after(() => {
  for (const engine of Object.values(ENGINES)) engine.dispose();
});

function indicesOf(
  { data, indices: shape, axis, batchDims = 0, uniform = false }: Row,
  random: Random,
): Tensor {
  const k = shape[shape.length - 1];
  const limit = (p: number): number =>
    axis === undefined ? data[batchDims + (p % k)] : data[axis];
  const indices = randomIndices("int64", shape, limit, random);
  if (uniform) {
    const values = indices.data as BigInt64Array;
    for (let p = 0; p < values.length; p++) values[p] = values[p - (p % k)];
  }
  return indices;
}

const updatesShape = ({ axis, indices, data }: Row): readonly number[] =>
  axis === undefined
    ? [...indices.slice(0, -1), ...data.slice(indices[indices.length - 1])]
    : indices;

function inEngine(engine: Engine, tensor: Tensor): Tensor {
  const resident: Tensor = engine.alloc<DType, readonly number[]>(tensor.dtype, tensor.shape);
  copy(tensor.data, resident.data);
  return resident;
}
