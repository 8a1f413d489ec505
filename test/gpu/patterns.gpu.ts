/** Bits that hardware may change on the way: NaN with payloads, subnormal numbers, zeros with a sign. Moves keep them all. */

import { test } from "node:test";
import { allocate, DTYPES, isNumericStorage, type DType } from "../../src/core/tensor/dtype.ts";
import { bytesOf } from "../../src/core/tensor/storage.ts";
import { tensor, Tensor } from "../../src/core/tensor/tensor.ts";
import { randomFrom } from "../support/random.ts";
import { engine } from "./gpu.ts";
import type { Case } from "../support/ways.ts";
import { assertSame, goAll } from "./ways.ts";

/** The floating-point types, and the bits of a word that vary: sign and exponent, and the ends of the mantissa. */
const TYPES: readonly DType[] = ["float16", "bfloat16", "float32", "float64", "complex64"];

/** 65,536 elements. Of 2 bytes all there are; of others words with every sign and exponent, and odd mantissas. */
function everyPattern(dtype: DType): Tensor {
  const size = 65_536;
  const data = allocate(dtype, size);
  const random = randomFrom(DTYPES[dtype].bytes);
  if (isNumericStorage(data)) {
    const bytes = new DataView(data.buffer as ArrayBuffer);
    for (let i = 0; i < size; i++) {
      if (DTYPES[dtype].bytes === 2) bytes.setUint16(2 * i, i, true);
      else {
        const words = DTYPES[dtype].bytes / 4;
        for (let word = 0; word < words; word++) {
          const low = [0, 1, 0x2a5a, 0xffff][random(4)];
          bytes.setUint32(4 * (words * i + word), ((i << 16) | low) >>> 0, true);
        }
      }
    }
  }
  return new Tensor(dtype, [size], size, data);
}

function permuted({ dtype, shape, size, data }: Tensor, order: Int32Array): Tensor {
  const other = allocate(dtype, size);
  if (isNumericStorage(data) && isNumericStorage(other)) {
    const { bytes } = DTYPES[dtype];
    const [from, to] = [bytesOf(data), bytesOf(other)];
    for (let i = 0; i < size; i++)
      to.set(from.subarray(order[i] * bytes, (order[i] + 1) * bytes), i * bytes);
  }
  return new Tensor(dtype, [...shape], size, other);
}

for (const dtype of TYPES) {
  test(`moves of ${dtype} keep every bit`, async () => {
    const data = everyPattern(dtype);
    const { size } = data;
    // An odd factor permutes the numbers below a power of 2.
    const order = Int32Array.from({ length: size }, (_, i) => (i * 40_503) % size);
    const inverse = new Int32Array(size);
    for (const [i, place] of order.entries()) inverse[place] = i;
    const tuples = tensor("int32", [size, 1], order);
    const flat = tensor("int32", [size], order);
    const gathered = permuted(data, order);
    const scattered = permuted(data, inverse);
    const zeros = new Tensor(dtype, [size], size, allocate(dtype, size));
    const cases: readonly Case[] = [
      { name: "gather", operator: "gather", inputs: [data, flat], options: {}, expected: gathered },
      {
        name: "gatherND",
        operator: "gatherND",
        inputs: [data, tuples],
        options: {},
        expected: gathered,
      },
      {
        name: "scatterND",
        operator: "scatterND",
        inputs: [zeros, tuples, data],
        options: {},
        expected: scattered,
      },
      {
        name: "scatterElements",
        operator: "scatterElements",
        inputs: [zeros, flat, data],
        options: { includeSelf: false },
        expected: scattered,
      },
    ];
    // A workgroup a dispatch would take minutes.
    await goAll(cases, { areLimitsDrawn: false });
  });

  test(`upload and read keep every bit of ${dtype}`, async () => {
    const data = everyPattern(dtype);
    const resident = engine.upload(data);
    assertSame(await resident.read(), data, dtype);
    resident.dispose();
  });
}
