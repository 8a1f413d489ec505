/** Boxes of row-major memory, compared with loops over single elements. */

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { areContiguous, contiguousChunks, defaultChunks } from "../../src/arrays/boxes/grid.ts";
import {
  chunksOf,
  clippedShape,
  copyBox,
  copyTransposed,
  fillBox,
  fillBytes,
  gridOf,
  isFilled,
  isRun,
  offsetOf,
} from "../../src/arrays/boxes/boxes.ts";
import { setLimits } from "../support/limits.ts";

const size = (shape: readonly number[]): number => shape.reduce((all, dim) => all * dim, 1);

/** All coordinates of a shape, row-major. */
function coordinates(shape: readonly number[]): number[][] {
  return shape.reduce<number[][]>(
    (all, dim) => all.flatMap((one) => Array.from({ length: dim }, (_, i) => [...one, i])),
    [[]],
  );
}

const plus = (a: readonly number[], b: readonly number[]): number[] =>
  a.map((one, d) => one + b[d]);

/** Bytes that all differ from their neighbours, at an address that may be odd. */
function bytesFor(length: number, skew: number): Uint8Array {
  const bytes = new Uint8Array(new ArrayBuffer(length + skew), skew, length);
  // In place: what `map` returns begins at an even address.
  for (let i = 0; i < length; i++) bytes[i] = i * 7 + 3;
  return bytes;
}

/** The bytes of the element at coordinates. */
const elementAt = (
  bytes: Uint8Array,
  shape: readonly number[],
  at: readonly number[],
  width: number,
): number[] => {
  let position = 0;
  for (let d = 0; d < shape.length; d++) position = position * shape[d] + at[d];
  return [...bytes.subarray(position * width, (position + 1) * width)];
};

/** A box, two arrays that hold it, and where it begins in each. */
const boxes = fc
  .array(
    fc.record({
      box: fc.integer({ min: 0, max: 5 }),
      before: fc.tuple(fc.integer({ min: 0, max: 2 }), fc.integer({ min: 0, max: 2 })),
      after: fc.tuple(fc.integer({ min: 0, max: 2 }), fc.integer({ min: 0, max: 2 })),
    }),
    { maxLength: 4 },
  )
  .map((axes) => ({
    box: axes.map(({ box }) => box),
    start: [0, 1].map((side) => axes.map(({ before }) => before[side])),
    shape: [0, 1].map((side) =>
      axes.map(({ box, before, after }) => box + before[side] + after[side]),
    ),
  }));

const widths = fc.constantFrom(1, 2, 4, 8, 16);
const skews = fc.constantFrom(0, 1, 2, 4);

test("a box is copied element by element, and nothing beside it", () => {
  fc.assert(
    fc.property(boxes, widths, skews, skews, ({ box, start, shape }, width, skew, other) => {
      const from = bytesFor(size(shape[0]) * width, skew);
      const into = bytesFor(size(shape[1]) * width, other);
      for (let i = 0; i < into.length; i++) into[i] ^= 0xff;
      const before = into.slice();
      copyBox(
        { bytes: from, shape: shape[0], start: start[0] },
        { bytes: into, shape: shape[1], start: start[1] },
        box,
        width,
      );
      const isInside = (at: readonly number[]): boolean =>
        at.every((one, d) => one >= start[1][d] && one < start[1][d] + box[d]);
      for (const at of coordinates(shape[1])) {
        const expected = isInside(at)
          ? elementAt(
              from,
              shape[0],
              at.map((one, d) => one - start[1][d] + start[0][d]),
              width,
            )
          : elementAt(before, shape[1], at, width);
        assert.deepEqual(elementAt(into, shape[1], at, width), expected);
      }
    }),
  );
});

test("runs of any length are copied at any address, by words and as a whole", () => {
  fc.assert(
    fc.property(widths, skews, skews, fc.boolean(), (width, skew, other, isWhole) => {
      const restore = setLimits({ ARRAYS: { run: isWhole ? 1 : 2 ** 20 } });
      try {
        const from = bytesFor(3 * 5 * width, skew);
        const into = bytesFor(2 * 3 * width, other);
        const places = [
          { bytes: from, shape: [3, 5], start: [1, 2] },
          { bytes: into, shape: [2, 3], start: [0, 0] },
        ] as const;
        copyBox(...places, [2, 3], width);
        const rows = [7, 12].map((at) => from.subarray(at * width, (at + 3) * width));
        assert.deepEqual([...into], [...rows[0], ...rows[1]]);
      } finally {
        restore();
      }
    }),
  );
});

test("memory that ends in a part of a word is copied, and its last bytes stay", () => {
  for (const [width, left] of [
    [2, 1],
    [4, 3],
  ]) {
    const from = bytesFor(4 * width + left, 0);
    const into = new Uint8Array(2 * width + left).fill(0xff);
    copyBox(
      { bytes: from, shape: [2, 2], start: [0, 1] },
      { bytes: into, shape: [2, 1], start: [0, 0] },
      [2, 1],
      width,
    );
    const column = [1, 3].flatMap((at) => [...from.subarray(at * width, (at + 1) * width)]);
    assert.deepEqual([...into], [...column, ...Array.from({ length: left }, () => 0xff)]);
  }
});

test("long rows are copied too", () => {
  const from = bytesFor(3 * 1000 * 4, 0);
  const into = new Uint8Array(2 * 900 * 4);
  copyBox(
    { bytes: from, shape: [3, 1000], start: [1, 50] },
    { bytes: into, shape: [2, 900], start: [0, 0] },
    [2, 900],
    4,
  );
  for (const row of [0, 1]) {
    const first = ((row + 1) * 1000 + 50) * 4;
    assert.deepEqual(
      into.subarray(row * 3600, row * 3600 + 3600),
      from.subarray(first, first + 3600),
    );
  }
});

test("axes change their order", () => {
  const orders = fc.array(fc.integer({ min: 1, max: 4 }), { maxLength: 4 }).chain((shape) =>
    fc.tuple(
      fc.constant(shape),
      fc.shuffledSubarray(
        shape.map((_, d) => d),
        { minLength: shape.length },
      ),
    ),
  );
  fc.assert(
    fc.property(orders, widths, fc.integer({ min: 1, max: 3 }), ([shape, order], width, tile) => {
      // What is copied has its axes in `order`; the target has them from 0 on.
      const stored = order.map((axis) => shape[axis]);
      const from = bytesFor(size(shape) * width, 0);
      const into = new Uint8Array(size(shape) * width);
      // So small that most arrays have several tiles, of which the last ones are cut off.
      const restore = setLimits({ ARRAYS: { tile } });
      copyTransposed(from, { bytes: into, shape, start: shape.map(() => 0) }, stored, order, width);
      restore();
      for (const at of coordinates(stored)) {
        const target = shape.map((_, axis) => at[order.indexOf(axis)]);
        assert.deepEqual(elementAt(into, shape, target, width), elementAt(from, stored, at, width));
      }
    }),
  );
});

test("a box is filled with an element, and nothing beside it", () => {
  fc.assert(
    fc.property(
      boxes,
      fc.uint8Array({ minLength: 1, maxLength: 4 }),
      ({ box, start, shape }, element) => {
        const width = element.length;
        const into = bytesFor(size(shape[0]) * width, 0);
        const before = into.slice();
        fillBox({ bytes: into, shape: shape[0], start: start[0] }, box, element);
        for (const at of coordinates(shape[0])) {
          const isInside = at.every((one, d) => one >= start[0][d] && one < start[0][d] + box[d]);
          const expected = isInside ? [...element] : elementAt(before, shape[0], at, width);
          assert.deepEqual(elementAt(into, shape[0], at, width), expected);
        }
      },
    ),
  );
});

test("bytes are filled, and known to be filled", () => {
  const lengths = fc.integer({ min: 1, max: 40 });
  fc.assert(
    fc.property(widths, skews, lengths, fc.nat(), (width, skew, count, at) => {
      const element = Uint8Array.from({ length: width }, (_, i) => (i === 0 ? 1 : i));
      const bytes = bytesFor(width * count, skew);
      fillBytes(bytes, element);
      assert.deepEqual([...bytes], Array.from({ length: count }, () => [...element]).flat());
      assert.ok(isFilled(bytes, element));
      bytes[at % bytes.length] ^= 0x80;
      assert.ok(!isFilled(bytes, element), "one other byte was not seen");
    }),
  );
});

test("a box is divided into the parts that chunks have, in order, each element once", () => {
  const grids = boxes.chain(({ box, start, shape }) =>
    fc.tuple(
      fc.constant({ box, start: start[0], shape: shape[0] }),
      fc.array(fc.integer({ min: 1, max: 4 }), { minLength: box.length, maxLength: box.length }),
    ),
  );
  fc.assert(
    fc.property(grids, ([{ box, start, shape }, chunkShape]) => {
      const seen: string[] = [];
      let previous = -1;
      const grid = gridOf(shape, chunkShape);
      for (const part of chunksOf(start, box, chunkShape)) {
        const number = offsetOf(part.at, grid);
        assert.ok(number > previous);
        previous = number;
        const clipped = clippedShape(part.at, shape, chunkShape);
        for (const at of coordinates(part.shape)) {
          const inChunk = plus(part.chunkStart, at);
          assert.ok(inChunk.every((one, d) => one < clipped[d]));
          const inArray = inChunk.map((one, d) => one + part.at[d] * chunkShape[d]);
          assert.deepEqual(plus(plus(part.boxStart, at), start), inArray);
          seen.push(inArray.join());
        }
      }
      const expected = coordinates(box).map((at) => plus(at, start).join());
      assert.deepEqual(seen.toSorted(), expected.toSorted());
    }),
  );
});

for (const [shape, whole, expected] of [
  [[], [], true],
  [[3], [5], true],
  [[2, 5], [4, 5], true],
  [[1, 3], [4, 5], true],
  [[2, 3], [4, 5], false],
  [[1, 2, 5], [3, 4, 5], true],
  [[2, 2, 5], [3, 4, 5], false],
  [[2, 4, 5], [3, 4, 5], true],
] as const) {
  test(`a box [${shape}] is ${expected ? "" : "not "}one run of [${whole}]`, () => {
    assert.equal(isRun(shape, whole), expected);
  });
}

/** A shape, the most elements of a chunk, and the largest chunk that is contiguous. */
// prettier-ignore
const LARGEST: readonly (readonly [shape: readonly number[], most: number, expected: readonly number[]])[] = [
  [[], 5, []],
  [[4], 3, [3]],
  [[4], 9, [4]],
  [[4, 5, 6], 1, [1, 1, 1]],
  [[4, 5, 6], 5, [1, 1, 5]],
  [[4, 5, 6], 6, [1, 1, 6]],
  [[4, 5, 6], 11, [1, 1, 6]],
  [[4, 5, 6], 12, [1, 2, 6]],
  [[4, 5, 6], 29, [1, 4, 6]],
  [[4, 5, 6], 30, [1, 5, 6]],
  [[4, 5, 6], 89, [2, 5, 6]],
  [[4, 5, 6], 120, [4, 5, 6]],
  [[4, 5, 6], 1000, [4, 5, 6]],
  // A chunk has elements where the array has none.
  [[0, 3], 2, [1, 2]],
  [[0, 3], 6, [1, 3]],
  [[2, 0, 3], 6, [2, 1, 3]],
];

for (const [shape, most, expected] of LARGEST) {
  test(`[${expected}] is the largest contiguous chunk of [${shape}] with at most ${most} elements`, () => {
    assert.deepEqual(contiguousChunks(shape, most), expected);
    assert.ok(areContiguous(expected, shape));
  });
}

// prettier-ignore
const DEFAULTS: readonly (readonly [bytes: number, elementBytes: number, expected: readonly number[]])[] = [
  [60, 2, [1, 5, 6]], [59, 2, [1, 4, 6]], [61, 2, [1, 5, 6]], [1, 8, [1, 1, 1]],
  // Text may have no characters.
  [12, 0, [1, 2, 6]],
];

for (const [bytes, elementBytes, expected] of DEFAULTS) {
  test(`chunks of ${bytes} bytes hold [${expected}] of [4, 5, 6] elements of ${elementBytes} bytes`, () => {
    const restore = setLimits({ ARRAYS: { chunk: bytes } });
    try {
      assert.deepEqual(defaultChunks([4, 5, 6], elementBytes), expected);
    } finally {
      restore();
    }
  });
}

for (const [chunkShape, shape, expected] of [
  [[], [], true],
  [[2], [5], true],
  [[7], [5], true],
  [[1, 2, 6], [4, 5, 6], true],
  [[3, 5, 6], [4, 5, 6], true],
  [[2, 9, 9], [4, 5, 6], true],
  [[1, 1, 4], [4, 5, 6], true],
  [[2, 5, 5], [4, 5, 6], false],
  [[2, 4, 6], [4, 5, 6], false],
  [[1, 2, 5], [4, 5, 6], false],
  // An axis of one element, or of none, is whole whatever a chunk has there.
  [[3, 2, 6], [1, 5, 6], true],
  [[3, 2, 6], [0, 5, 6], true],
  [[1, 2, 3], [1, 2], false],
  [[1], [1, 2], false],
  [[0, 2], [1, 2], false],
  [[1.5], [2], false],
] as const) {
  test(`chunks [${chunkShape}] of [${shape}] are ${expected ? "" : "not "}contiguous`, () => {
    assert.equal(areContiguous(chunkShape, shape), expected);
  });
}
