/** The records of a protobuf message, parsed by hand. */

export interface WireRecord {
  readonly field: number;
  /** The bytes after the tag; in a length-delimited record, after its length. */
  readonly payload: Uint8Array;
  /** The record as text, tag included. */
  readonly text: string;
}

export function recordsOf(message: Uint8Array): WireRecord[] {
  const list: WireRecord[] = [];
  let at = 0;
  const number = (): number => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = message[at++];
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return Number(value);
    }
  };
  while (at < message.length) {
    const start = at;
    const tag = number();
    const length = (tag & 7) === 2 ? number() : (tag & 7) === 5 ? 4 : null;
    const begin = at;
    if (length === null) number();
    else at += length;
    const payload = message.subarray(begin, at);
    list.push({ field: Math.floor(tag / 8), payload, text: message.subarray(start, at).join() });
  }
  return list;
}

/** The payloads of one field. */
export const payloadsOf = (message: Uint8Array, field: number): Uint8Array[] =>
  recordsOf(message)
    .filter((one) => one.field === field)
    .map(({ payload }) => payload);

/** All records except those of one field, sorted: two messages with the same records mean the same. */
export const recordsBut = (message: Uint8Array, field: number): string[] =>
  recordsOf(message)
    .filter((one) => one.field !== field)
    .map(({ text }) => text)
    .sort();
