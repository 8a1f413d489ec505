/** A class like those of bundlers' polyfills, for browsers. */
class LikeBuffer extends Uint8Array {
  readInt32LE(at = 0): number {
    return new DataView(this.buffer, this.byteOffset).getInt32(at, true);
  }
}

/** Returns a `Buffer` over the bytes of an array: Node's own class where it exists. */
export const nodeBuffer = ({ buffer }: { readonly buffer: ArrayBuffer }): Uint8Array =>
  typeof Buffer === "undefined" ? new LikeBuffer(buffer) : Buffer.from(buffer);
