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

/** Checks that the box of an array has the elements that `expected` returns, and that the rest is as before. */
function checkBox(
  bytes: Uint8Array,
  before: Uint8Array,
  {
    shape,
    start,
    box,
    width,
  }: Readonly<Record<"shape" | "start" | "box", readonly number[]>> & { width: number },
  expected: (inBox: readonly number[]) => readonly number[],
): void {
  for (const at of coordinates(shape)) {
    const inBox = at.map((one, d) => one - start[d]);
    const isInside = inBox.every((one, d) => one >= 0 && one < box[d]);
    const right = isInside ? expected(inBox) : elementAt(before, shape, at, width);
    assert.deepEqual(elementAt(bytes, shape, at, width), right);
  }
}

test("a box is copied element by element, and nothing beside it, by words and by runs", () => {
  const runs = fc.constantFrom(1, 256);
  fc.assert(
    fc.property(
      boxes,
      widths,
      skews,
      skews,
      runs,
      ({ box, start, shape }, width, skew, other, run) => {
        const from = bytesFor(size(shape[0]) * width, skew);
        const into = bytesFor(size(shape[1]) * width, other);
        for (let i = 0; i < into.length; i++) into[i] ^= 0xff;
        const before = into.slice();
        const places = [from, into].map((bytes, i) => ({
          bytes,
          shape: shape[i],
          start: start[i],
        }));
        const restore = setLimits({ ARRAYS: { run } });
        copyBox(places[0], places[1], box, width);
        restore();
        checkBox(into, before, { shape: shape[1], start: start[1], box, width }, (at) =>
          elementAt(from, shape[0], plus(at, start[0]), width),
        );
      },
    ),
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
  const elements = fc.uint8Array({ minLength: 1, maxLength: 4 });
  fc.assert(
    fc.property(boxes, elements, ({ box, start: [start], shape: [shape] }, element) => {
      const width = element.length;
      const into = bytesFor(size(shape) * width, 0);
      const before = into.slice();
      fillBox({ bytes: into, shape, start }, box, element);
      checkBox(into, before, { shape, start, box, width }, () => [...element]);
    }),
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

/** Boxes, the arrays that contain them, and whether the box is contiguous. */
// prettier-ignore
const RUNS: readonly (readonly [box: readonly number[], whole: readonly number[], isRun: boolean])[] = [
  [[], [], true], [[3], [5], true], [[2, 5], [4, 5], true], [[1, 3], [4, 5], true], [[2, 3], [4, 5], false],
  [[1, 2, 5], [3, 4, 5], true], [[2, 2, 5], [3, 4, 5], false], [[2, 4, 5], [3, 4, 5], true],
];

test("a box is known to be one run", () => {
  for (const [box, whole, expected] of RUNS)
    assert.equal(isRun(box, whole), expected, `[${box}] of [${whole}]`);
});

/** The most elements of a chunk of [4, 5, 6], or of another shape, and the largest chunk that is contiguous. */
// prettier-ignore
const LARGEST: readonly (readonly [most: number, expected: readonly number[], shape?: readonly number[]])[] = [
  [5, [], []], [3, [3], [4]], [9, [4], [4]],
  [1, [1, 1, 1]], [5, [1, 1, 5]], [6, [1, 1, 6]], [11, [1, 1, 6]], [12, [1, 2, 6]], [29, [1, 4, 6]], [30, [1, 5, 6]],
  [89, [2, 5, 6]], [120, [4, 5, 6]], [1000, [4, 5, 6]],
  // A chunk has elements where the array has none.
  [2, [1, 2], [0, 3]], [6, [1, 3], [0, 3]], [6, [2, 1, 3], [2, 0, 3]],
];

test("the largest contiguous chunk is found", () => {
  for (const [most, expected, shape = [4, 5, 6]] of LARGEST) {
    assert.deepEqual(contiguousChunks(shape, most), expected, `${most} of [${shape}]`);
    assert.ok(areContiguous(expected, shape));
  }
});

/** The bytes of a chunk and of an element, and the default chunk of [4, 5, 6]. Text may have no characters. */
// prettier-ignore
const DEFAULTS: readonly (readonly [bytes: number, elementBytes: number, expected: readonly number[]])[] = [
  [60, 2, [1, 5, 6]], [59, 2, [1, 4, 6]], [61, 2, [1, 5, 6]], [1, 8, [1, 1, 1]], [12, 0, [1, 2, 6]],
];

for (const [bytes, elementBytes, expected] of DEFAULTS) {
  test(`chunks of ${bytes} bytes hold [${expected}] of [4, 5, 6] elements of ${elementBytes} bytes`, () => {
    const restore = setLimits({ ARRAYS: { chunk: bytes } });
    const chunks = defaultChunks([4, 5, 6], elementBytes);
    restore();
    assert.deepEqual(chunks, expected);
  });
}

/** Chunks of [4, 5, 6], or of another shape, by whether they are contiguous. */
// prettier-ignore
const CONTIGUOUS: Readonly<Record<string, readonly (readonly [chunk: readonly number[], shape?: readonly number[]])[]>> = {
  true: [
    [[], []], [[2], [5]], [[7], [5]], [[1, 2, 6]], [[3, 5, 6]], [[2, 9, 9]], [[1, 1, 4]],
    // An axis of one element, or of none, is whole whatever a chunk has there.
    [[3, 2, 6], [1, 5, 6]], [[3, 2, 6], [0, 5, 6]],
  ],
  false: [
    [[2, 5, 5]], [[2, 4, 6]], [[1, 2, 5]], [[1, 2, 3], [1, 2]], [[1], [1, 2]], [[0, 2], [1, 2]], [[1.5], [2]],
  ],
};

test("chunks are known to be contiguous", () => {
  for (const [expected, rows] of Object.entries(CONTIGUOUS)) {
    for (const [chunk, shape = [4, 5, 6]] of rows)
      assert.equal(String(areContiguous(chunk, shape)), expected, `[${chunk}] of [${shape}]`);
  }
});
