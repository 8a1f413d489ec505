/**
 * Reads an ONNX file without its weights. The data of each large initializer and `Constant` node becomes external data
 * in the file itself, so a runtime maps the file into memory, and the weights are never copied. A file with 1 GB of
 * weights takes 4.2 GB of memory in `verify` if the weights are copied, of which the runtime takes 2.1 GB.
 */

import { CLI, EXTERNAL } from "../../core/limits.ts";
import type { ByteSource } from "../../entries/onnx.ts";

/**
 * Messages in onnx.proto that contain tensors, with the fields that lead to these tensors. Operators other than
 * `Constant` read tensor attributes directly, so these tensors remain in the model.
 */
const PARTS = {
  model: { 7: "graph", 25: "function" },
  graph: { 1: "node", 5: "tensor" },
  function: { 7: "node" },
  node: { 5: "attribute" },
  constant: { 5: "value" },
  attribute: { 6: "graph", 11: "graph" },
  value: { 5: "tensor" },
} as const satisfies Readonly<Record<string, Readonly<Record<number, string>>>>;

type Kind = keyof typeof PARTS;

/** The field numbers are defined in https://github.com/onnx/onnx/blob/main/onnx/onnx.proto */
const OP_TYPE = 4;
const EXTERNAL_DATA = 13;
const DATA_LOCATION = 14;
const RAW_DATA = 9;
/** The fields `float_data`, `raw_data` and `double_data` contain raw tensor bytes. */
const DATA: ReadonlySet<number> = new Set([4, RAW_DATA, 10]);
const LENGTH_DELIMITED = 2;

/** A message field: its number, its start, and the range of its contents. */
interface Field {
  readonly number: number;
  readonly start: number;
  readonly from: number;
  readonly end: number;
}

/** Thrown if the file is not the expected protobuf message; the usual reader then reports the fault. */
class Unreadable extends Error {
  override readonly name = "Unreadable";
}

const MOST_VARINT = 10;

/** Reads a varint up to 2^53, and returns the value and the next position. */
function varintAt({ read }: ByteSource, at: number, end: number): readonly [number, number] {
  const bytes = read(at, Math.min(MOST_VARINT, end - at));
  let [value, scale] = [0, 1];
  for (const [nth, byte] of bytes.entries()) {
    value += (byte & 0x7f) * scale;
    scale *= 128;
    if (byte < 0x80) return [value, at + nth + 1];
  }
  throw new Unreadable("a varint without an end");
}

function* fieldsOf(source: ByteSource, begin: number, end: number): Generator<Field> {
  let at = begin;
  while (at < end) {
    const [tag, from] = varintAt(source, at, end);
    const wire = tag % 8;
    const field = { number: Math.floor(tag / 8), start: at, from };
    if (wire === 0) [, at] = varintAt(source, from, end);
    else if (wire === 1 || wire === 5) at = from + (wire === 1 ? 8 : 4);
    else if (wire === LENGTH_DELIMITED) {
      const [length, body] = varintAt(source, from, end);
      at = body + length;
      if (at > end) throw new Unreadable("a part behind the end");
      yield { ...field, from: body, end: at };
      continue;
    } else throw new Unreadable("an unknown wire type");
    yield { ...field, end: at };
  }
}

/** Bytes in memory, or a file range that is read when needed. */
type Piece =
  | Uint8Array
  | { readonly source: ByteSource; readonly start: number; readonly length: number };

/** A message that is built from pieces. */
class Pieces {
  readonly #pieces: Piece[] = [];
  size = 0;

  add(piece: Piece): void {
    this.#pieces.push(piece);
    this.size += piece.length;
  }

  copy(source: ByteSource, { start, end }: Pick<Field, "start" | "end">): void {
    this.add({ source, start, length: end - start });
  }

  /** Writes a field's tag and length before its contents. */
  head(number: number, length: number): void {
    this.add(Uint8Array.from([...varint(number * 8 + LENGTH_DELIMITED), ...varint(length)]));
  }

  message(number: number, body: Pieces): void {
    this.head(number, body.size);
    for (const piece of body.#pieces) this.add(piece);
  }

  text(number: number, text: string): void {
    const bytes = new TextEncoder().encode(text);
    this.head(number, bytes.length);
    this.add(bytes);
  }

  /** Yields the message bytes in chunks of limited length. */
  *chunks(): Generator<Uint8Array> {
    for (const piece of this.#pieces) {
      if (piece instanceof Uint8Array) {
        yield piece;
        continue;
      }
      const { source, start, length } = piece;
      for (let done = 0; done < length; done += EXTERNAL.part)
        yield source.read(start + done, Math.min(EXTERNAL.part, length - done));
    }
  }

  all(): Uint8Array {
    const whole = new Uint8Array(this.size);
    let at = 0;
    for (const chunk of this.chunks()) {
      whole.set(chunk, at);
      at += chunk.length;
    }
    return whole;
  }
}

function varint(value: number): number[] {
  const bytes: number[] = [];
  for (let rest = value; ; rest = Math.floor(rest / 128)) {
    if (rest < 128) return [...bytes, rest];
    bytes.push((rest % 128) + 128);
  }
}

/** Returns a changed tensor, or null if the tensor stays unchanged. */
type Change = (source: ByteSource, tensor: Field) => Pieces | null;

/** Returns a message with changed tensors. Messages of less than `least` bytes stay unchanged. */
function changed(
  source: ByteSource,
  kind: Kind,
  { from, end }: Pick<Field, "from" | "end">,
  { least, change }: { readonly least: number; readonly change: Change },
): Pieces {
  const message = new Pieces();
  const fields = [...fieldsOf(source, from, end)];
  const isConstant = kind === "node" && fields.some((one) => namesConstant(source, one));
  const parts: Readonly<Record<number, Kind | "tensor">> = PARTS[isConstant ? "constant" : kind];
  for (const field of fields) {
    const part = field.end - field.from < least ? undefined : parts[field.number];
    const inner =
      part === undefined
        ? null
        : part === "tensor"
          ? change(source, field)
          : changed(source, part, field, { least, change });
    if (inner === null) message.copy(source, field);
    else message.message(field.number, inner);
  }
  return message;
}

const textOf = ({ read }: ByteSource, { from, end }: Field): string =>
  new TextDecoder().decode(read(from, end - from));

const namesConstant = (source: ByteSource, field: Field): boolean =>
  field.number === OP_TYPE && textOf(source, field) === "Constant";

/**
 * Returns the model without the data of large initializers and `Constant` nodes, or null if the file is not a model.
 * `location` is the file name without its folder.
 */
export function lightModel(location: string, source: ByteSource): Uint8Array | null {
  const change: Change = (_, tensor) => lightTensor(source, tensor, location);
  try {
    const all = { from: 0, end: source.size };
    return changed(source, "model", all, { least: CLI.weights, change }).all();
  } catch (error) {
    if (error instanceof Unreadable) return null;
    throw error;
  }
}

function lightTensor(source: ByteSource, { from, end }: Field, location: string): Pieces | null {
  const fields = [...fieldsOf(source, from, end)];
  const values = fields.filter(({ number }) => DATA.has(number));
  const [data] = values;
  if (values.length !== 1 || data.end - data.from < CLI.weights) return null;
  const tensor = new Pieces();
  for (const field of fields) if (field !== data) tensor.copy(source, field);
  const range = { location, offset: data.from, length: data.end - data.from };
  for (const [key, value] of Object.entries(range)) {
    const entry = new Pieces();
    entry.text(1, key);
    entry.text(2, String(value));
    tensor.message(EXTERNAL_DATA, entry);
  }
  // 1 is EXTERNAL.
  tensor.add(Uint8Array.from([...varint(DATA_LOCATION * 8), 1]));
  return tensor;
}

/** Returns a light model with its weights restored from the file. `location` is the file name without its folder. */
export function withWeightsOf(
  model: Uint8Array,
  location: string,
  file: ByteSource,
): Iterable<Uint8Array> {
  const source: ByteSource = {
    size: model.length,
    read: (offset, length) => model.subarray(offset, offset + length),
  };
  const change: Change = (_, tensor) => wholeTensor(source, tensor, location, file);
  return changed(source, "model", { from: 0, end: model.length }, { least: 0, change }).chunks();
}

function wholeTensor(
  source: ByteSource,
  { from, end }: Field,
  location: string,
  file: ByteSource,
): Pieces | null {
  const tensor = new Pieces();
  const entries = new Map<string, string>();
  for (const field of fieldsOf(source, from, end)) {
    if (field.number === EXTERNAL_DATA) {
      const [key, value] = [...fieldsOf(source, field.from, field.end)];
      entries.set(textOf(source, key), textOf(source, value));
    } else if (field.number !== DATA_LOCATION) tensor.copy(source, field);
  }
  if (entries.get("location") !== location) return null;
  const [start, length] = [Number(entries.get("offset")), Number(entries.get("length"))];
  tensor.head(RAW_DATA, length);
  tensor.add({ source: file, start, length });
  return tensor;
}
