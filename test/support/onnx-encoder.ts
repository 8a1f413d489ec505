/** Just enough of protobuf's encoding to write ONNX files by hand, on purpose without the library that reads them. */

export type Bytes = readonly number[];

export function varint(value: number | bigint): number[] {
  let rest = BigInt.asUintN(64, BigInt(value));
  const bytes: number[] = [];
  while (rest > 0x7fn) {
    bytes.push(Number(rest & 0x7fn) | 0x80);
    rest >>= 7n;
  }
  return [...bytes, Number(rest)];
}

export const int = (field: number, value: number | bigint): number[] => [
  ...varint(field << 3),
  ...varint(value),
];

export const bytes = (field: number, payload: ArrayLike<number>): number[] =>
  varint((field << 3) | 2).concat(varint(payload.length), Array.from(payload));

export const text = (field: number, value: string): number[] =>
  bytes(field, new TextEncoder().encode(value));

export const float = (field: number, value: number): number[] => [
  ...varint((field << 3) | 5),
  ...littleEndian(new Float32Array([value])),
];

export const double = (field: number, value: number): number[] => [
  ...varint((field << 3) | 1),
  ...littleEndian(new Float64Array([value])),
];

export const littleEndian = (values: NodeJS.TypedArray): number[] => [
  ...new Uint8Array(values.buffer, values.byteOffset, values.byteLength),
];

/** Numbers of one field, in one packed record or in a record each. */
export function numbers(
  field: number,
  values: readonly (number | bigint)[],
  kind: "varint" | "float" | "double",
  packed: boolean,
): number[] {
  const one = {
    varint: int,
    float: (f: number, v: number | bigint) => float(f, Number(v)),
    double: (f: number, v: number | bigint) => double(f, Number(v)),
  }[kind];
  if (!packed) return values.flatMap((value) => one(field, value));
  const tag = varint(field << 3).length;
  return bytes(
    field,
    values.flatMap((value) => one(field, value).slice(tag)),
  );
}

export const file = (...parts: readonly ArrayLike<number>[]): Uint8Array => {
  const whole = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
};

/** `original` with a byte or two changed, or else with a few dropped, doubled or cut off. */
export function mutate(original: Uint8Array, next: (limit: number) => number): Uint8Array {
  let list = [...original];
  for (let count = 1 + next(2); count > 0; count--) {
    const at = next(list.length);
    const kind = next(10);
    if (kind < 3) list[at] = next(256);
    else if (kind < 7) list[at] ^= 1 << next(8);
    else if (kind === 7) list.splice(at, 1 + next(4));
    else if (kind === 8) list.splice(at, 0, ...list.slice(at, at + 1 + next(8)));
    else list = list.slice(0, Math.max(at, 1));
    if (list.length === 0) list = [next(256)];
  }
  return Uint8Array.from(list);
}
