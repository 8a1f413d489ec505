/** Memory of Zarr's chunks: what a chunk holds at most, and what is freed once nobody uses it. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { Buffers } from "../../src/arrays/zarr/chunks/buffers.ts";
import type { CreateOptions } from "../../src/arrays/zarr/create.ts";
import type { Json } from "../../src/arrays/zarr/json.ts";
import type { Codec } from "../../src/arrays/zarr/metadata.ts";
import { arrayInMemory } from "../support/memory-store.ts";

const BIG: Codec = { name: "bytes", configuration: { endian: "big" } };
const TURN: Codec = { name: "transpose", configuration: { order: [1, 0] } };

/** A shard of two chunks of [4, 2] elements. Its index takes 2 × 16 bytes and the checksum. */
const INDEX = 36;
const shards = (...codecs: (string | Codec)[]): Codec => ({
  name: "sharding_indexed",
  configuration: {
    chunk_shape: [4, 2],
    codecs: codecs as Json[],
    index_codecs: [{ name: "bytes", configuration: { endian: "little" } }, "crc32c"],
  },
});
const LITTLE: Codec = { name: "bytes", configuration: { endian: "little" } };

const FOUR: Codec = {
  name: "sharding_indexed",
  configuration: { ...shards(LITTLE).configuration, chunk_shape: [2, 2] },
};

/** A chunk of [4, 4] float32 has 64 bytes, so these are counted by hand. */
// prettier-ignore
const HELD: readonly (readonly [string, Partial<CreateOptions>, read: number, write: number])[] = [
  ["whole rows as they are", { shape: [8, 4] }, 0, 0],
  ["whole rows that end early", { shape: [7, 4] }, 0, 0],
  // Whole rows are read into a buffer.
  ["parts of rows", { shape: [8, 8] }, 64, 0],
  // What is written is padded in a buffer.
  ["parts of rows that end early", { shape: [8, 7] }, 64, 64],
  ["the other byte order", { codecs: [BIG] }, 64, 64],
  // The stored chunk and the transposed box; the transposed chunk.
  ["transposed", { codecs: [TURN, LITTLE] }, 64 + 64, 64],
  ["transposed, in the other byte order", { codecs: [TURN, BIG] }, 64 + 64, 64 + 64],
  // Encoded and decoded; what is encoded.
  ["with a checksum", { codecs: ["crc32c"] }, 64 + 68, 68],
  ["with a checksum, ending early", { shape: [7, 4], codecs: ["crc32c"] }, 64 + 68, 68 + 64],
  // The second checksum is made of the first, and the larger step counts.
  ["with two checksums", { codecs: ["crc32c", "crc32c"] }, 68 + 72, 68 + 72],
  ["transposed with a checksum", { codecs: [TURN, LITTLE, "crc32c"] }, 64 + 68 + 64, 68 + 64],
  // The shard, and the inner chunks that are read at once; all parts, and an inner chunk.
  ["shards", { codecs: [shards(LITTLE)] }, 64 + INDEX + 2 * 32, 64 + INDEX + 32],
  ["shards of two chunks with checksums", { codecs: [shards(LITTLE, "crc32c")] },
    2 * 36 + INDEX + 2 * (32 + 36), 2 * 36 + INDEX + 32 + 36],
  // The store reads three at once. The index has 4 × 16 bytes and a checksum.
  ["shards of four chunks", { codecs: [FOUR] }, 64 + 68 + 3 * 16, 64 + 68 + 16],
  // A shard that has a checksum is joined from its parts.
  ["shards with a checksum", { codecs: [shards(LITTLE), "crc32c"] },
    100 + 104, 100 + 104 + 100],
];

for (const [name, options, read, write] of HELD) {
  test(`${name}: a chunk holds ${read} bytes while it is read, ${write} while it is written`, () => {
    const given = { dtype: "float32", shape: [8, 4], chunkShape: [4, 4], ...options } as const;
    assert.deepEqual(arrayInMemory(given).array.held, { read, write });
  });
}

/** The lengths of what is released while `action` runs, in order. */
async function releasedBy(action: () => Promise<unknown>): Promise<number[]> {
  const { release } = Buffers.prototype;
  const lengths: number[] = [];
  Buffers.prototype.release = (bytes) => {
    lengths.push(bytes.length);
  };
  try {
    await action();
  } finally {
    Buffers.prototype.release = release;
  }
  return lengths;
}

/** For chunks of [4, 4] float32. `null` is the length of what is stored. */
type Lengths = readonly (number | null)[];

// prettier-ignore
const RELEASED: readonly (readonly [string, Partial<CreateOptions>, read: Lengths, written: Lengths])[] = [
  ["plain chunks", {}, [], []],
  ["chunks in the other byte order", { codecs: [BIG] }, [], [64]],
  // What a checksum is taken off is a part of what was read.
  ["chunks with a checksum", { codecs: ["crc32c"] }, [64], [68]],
  ["compressed chunks", { codecs: ["zstd"] }, [null, 64], [null]],
  // A transposed chunk is copied from a buffer.
  ["transposed chunks", { codecs: [TURN, LITTLE] }, [64], [64]],
  ["transposed chunks with a checksum", { codecs: [TURN, LITTLE, "crc32c"] }, [64, 64], [64, 68]],
  // The one in the other byte order is made of the transposed one.
  ["transposed chunks in the other byte order", { codecs: [TURN, BIG] }, [64], [64, 64]],
  ["two checksums", { codecs: ["crc32c", "crc32c"] }, [64], [68, 72]],
  // The index is copied from its bytes. All of a shard is read, of which its chunks are parts; its parts are two chunks
  // and the index.
  ["shards", { codecs: [shards(LITTLE)] }, [32, null], [32, 32, INDEX]],
  ["shards with checksums", { codecs: [shards(LITTLE, "crc32c")] }, [32, null], [32, 32, 36, 36, INDEX]],
  // The parts are joined: each is free then.
  ["shards with a checksum", { codecs: [shards(LITTLE), "crc32c"] }, [100], [32, 32, INDEX, 100, 104]],
];

for (const [name, options, read, written] of RELEASED) {
  test(`memory of ${name} is freed as soon as nobody uses it`, async () => {
    const given = { dtype: "float32", shape: [4, 4], chunkShape: [4, 4], ...options } as const;
    const { array, store } = arrayInMemory(given);
    const chunk = new Uint8Array(Float32Array.from({ length: 16 }, (_, at) => at + 1).buffer);
    const whileWritten = await releasedBy(() => array.writeChunk([0, 0], chunk));
    const stored = store.objects.get("c/0/0")?.length ?? assert.fail();
    const lengths = (all: Lengths): number[] => all.map((one) => one ?? stored);
    assert.deepEqual(whileWritten, lengths(written));
    const into = new Uint8Array(64);
    const whileRead = await releasedBy(() => array.readChunk([0, 0], into));
    assert.deepEqual(whileRead, lengths(read));
    assert.deepEqual(into, chunk);
  });
}
