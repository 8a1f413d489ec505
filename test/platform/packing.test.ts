/** Elements of fewer than 8 bits in the bytes of a file: of 6, 4 and 2 bits, and of 1 bit, which no data type has. */

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  bytesOf,
  keepBits,
  pack,
  packBits,
  unpack,
  unpackBits,
} from "../../src/core/tensor/storage.ts";
import { DTYPE_NAMES, isNumericStorage, rowOf, storedRange } from "../../src/core/tensor/dtype.ts";
import { tensor } from "../../src/core/tensor/tensor.ts";

/** Elements, their bits, and the bytes that hold them: the first element in the lowest bits, spare bits 0. */
const LAYOUTS: readonly (readonly [bits: number, values: number[], packed: number[]])[] = [
  [1, [1, 0, 1, 1, 0, 0, 0, 1, 1], [0b1000_1101, 0b1]],
  [2, [0, 1, 2, 3, 3], [0b11_10_01_00, 0b11]],
  [2, [], []],
  [4, [1, 2, 15], [0x21, 0x0f]],
  // ONNX's onnx.proto: x0 | (x1 & 3) << 6, x1 >> 2 | (x2 & 15) << 4, x2 >> 4 | x3 << 2; the rest is cut to whole bytes.
  [6, [0b10_0101, 0b01_1011, 0b11_0010, 0b00_1111], [0b1110_0101, 0b0010_0110, 0b0011_1111]],
  [6, [63, 0, 63], [0x3f, 0xf0, 0x03]],
  [6, [0, 63], [0xc0, 0x0f]],
  [6, [33], [33]],
];

for (const [bits, values, packed] of LAYOUTS) {
  test(`${values.length} elements of ${bits} bits take ${packed.length} bytes`, () => {
    assert.deepEqual([...packBits(Uint8Array.from(values), bits)], packed);
    const into = new Uint8Array(values.length);
    unpackBits(Uint8Array.from(packed), into, bits, false);
    assert.deepEqual([...into], values);
  });
}

test("of each byte the low bits are kept, with their sign or without", () => {
  for (const bits of [1, 2, 4, 6, 8]) {
    for (let byte = 0; byte < 256; byte++) {
      const low = byte % 2 ** bits;
      const signed = low < 2 ** (bits - 1) ? low : low - 2 ** bits;
      const [plain, extended] = [Uint8Array.of(byte), Int8Array.of(byte)];
      keepBits(plain, bits, false);
      keepBits(bytesOf(extended), bits, true);
      assert.deepEqual([plain[0], extended[0]], [low, signed], `${byte} in ${bits} bits`);
    }
  }
});

test("every value of a packed data type is packed and unpacked", () => {
  const packed = DTYPE_NAMES.filter((dtype) => rowOf(dtype).bits !== undefined);
  assert.ok(packed.length >= 7);
  for (const dtype of packed) {
    const [low, high] = storedRange(dtype) ?? assert.fail();
    const values = Array.from({ length: high - low + 1 }, (_, at) => low + at);
    const { storage } = rowOf(dtype);
    const data = new storage(values as never) as Uint8Array | Int8Array;
    const { data: kept } = tensor(dtype, [values.length], data as never);
    assert.ok(isNumericStorage(kept));
    assert.deepEqual(unpack(dtype, values.length, pack(dtype, kept)), data);
  }
});
