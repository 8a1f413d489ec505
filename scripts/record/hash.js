/** Hashes of results. */

import crypto from "node:crypto";

/** A short hash of texts and bytes. */
export function hashOf(...parts) {
  const hash = crypto.createHash("sha256");
  for (const part of parts) {
    hash.update(part);
    hash.update("\0");
  }
  return hash.digest("base64url").slice(0, 16);
}

export const bytesOf = ({ buffer, byteOffset, byteLength }) =>
  new Uint8Array(buffer, byteOffset, byteLength);

/** A hash of tensors with their types, where null stands for itself. */
export const hashTensors = (tensors) =>
  hashOf(
    ...tensors.flatMap((one) =>
      one === null || one === undefined
        ? ["null"]
        : [
            `${one.dtype}[${one.shape.join()}]`,
            one.dtype === "string" ? JSON.stringify([...one.data]) : bytesOf(one.data),
          ],
    ),
  );
