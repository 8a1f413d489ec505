/** Files that are read in parts. */

import assert from "node:assert/strict";
import type { ByteSource } from "../../src/onnx/index.ts";

/** A file in memory that counts what is read of it. */
export function sourceOf(content: Uint8Array): ByteSource & { taken(): number } {
  let taken = 0;
  return {
    size: content.length,
    read(offset, length) {
      assert.ok(offset >= 0 && length >= 0 && offset + length <= content.length);
      taken += length;
      return content.slice(offset, offset + length);
    },
    taken: () => taken,
  };
}

/** A file of parts that lie at places of their own, with zeros between them. */
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
