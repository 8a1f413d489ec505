/** Files that are read in parts. */

import assert from "node:assert/strict";
import type { ByteSource } from "../../src/entries/onnx.ts";

/** A file in memory that counts the bytes read, in total and per read. */
export function sourceOf(
  content: Uint8Array,
): ByteSource & { taken(): number; readonly reads: readonly number[] } {
  const reads: number[] = [];
  return {
    size: content.length,
    read(offset, length) {
      assert.ok(offset >= 0 && length >= 0 && offset + length <= content.length);
      reads.push(length);
      return content.slice(offset, offset + length);
    },
    taken: () => reads.reduce((sum, length) => sum + length, 0),
    reads,
  };
}

/** A file with parts at given offsets, and zeros between them. */
export const sparse = (
  size: number,
  ...parts: readonly (readonly [number, ArrayLike<number>])[]
): ByteSource => ({
  size,
  read(offset, length) {
    assert.ok(length <= 2 ** 20, `${length} bytes at once`);
    const content = new Uint8Array(length);
    for (const [start, part] of parts) {
      for (let i = 0; i < part.length; i++) {
        const at = start + i - offset;
        if (at >= 0 && at < length) content[at] = part[i];
      }
    }
    return content;
  },
});
