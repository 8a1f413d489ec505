/**
 * Reads an ONNX file without its weights. In the result, the data of each large initializer is external data at its
 * place in the file itself, so a runtime maps the file into memory, and neither the command nor a part of the model
 * copies the weights. With 1 GB of weights in the file, `verify` took 4.2 GB of memory where the runtime takes 2.1 GB.
 */

import { CLI } from "../../core/limits.ts";
import type { ByteSource } from "../../entries/onnx.ts";

/** Field numbers in onnx.proto: https://github.com/onnx/onnx/blob/main/onnx/onnx.proto */
const GRAPH = 7;
const INITIALIZER = 5;
const RAW_DATA = 9;
const EXTERNAL_DATA = 13;
const DATA_LOCATION = 14;

/** A field of a message: its number, where it begins, and where its contents begin and end. */
interface Field {
  readonly number: number;
  readonly start: number;
  readonly from: number;
  readonly end: number;
}

/** The file is not the protobuf message that is expected; the usual reader says what is wrong. */
class Unreadable extends Error {
  override readonly name = "Unreadable";
}

const MOST_VARINT = 10;

/** Reads a varint of at most 2^53, and the position behind it. */
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
    else if (wire === 2) {
      const [length, body] = varintAt(source, from, end);
      at = body + length;
      if (at > end) throw new Unreadable("a part behind the end");
      yield { ...field, from: body, end: at };
      continue;
    } else throw new Unreadable("an unknown wire type");
    yield { ...field, end: at };
  }
}

/** Writes bytes piece by piece. */
class Pieces {
  readonly #source: ByteSource;
  readonly #pieces: Uint8Array[] = [];
  size = 0;

  constructor(source: ByteSource) {
    this.#source = source;
  }

  add(piece: Uint8Array): void {
    this.#pieces.push(piece);
    this.size += piece.length;
  }

  copy({ start, end }: Pick<Field, "start" | "end">): void {
    this.add(this.#source.read(start, end - start));
  }

  message(number: number, body: Pieces): void {
    this.add(Uint8Array.from([...varint(number * 8 + 2), ...varint(body.size)]));
    for (const piece of body.#pieces) this.add(piece);
  }

  text(number: number, text: string): void {
    const body = new Pieces(this.#source);
    body.add(new TextEncoder().encode(text));
    this.message(number, body);
  }

  all(): Uint8Array {
    const whole = new Uint8Array(this.size);
    let at = 0;
    for (const piece of this.#pieces) {
      whole.set(piece, at);
      at += piece.length;
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

/**
 * Returns the model without the data of large initializers; null for a file that is not a model.
 * @param location the name of the file in its folder
 */
export function lightModel(location: string, source: ByteSource): Uint8Array | null {
  try {
    const model = new Pieces(source);
    for (const field of fieldsOf(source, 0, source.size)) {
      if (field.number === GRAPH) model.message(GRAPH, lightGraph(source, field, location));
      else model.copy(field);
    }
    return model.all();
  } catch (error) {
    if (error instanceof Unreadable) return null;
    throw error;
  }
}

function lightGraph(source: ByteSource, { from, end }: Field, location: string): Pieces {
  const graph = new Pieces(source);
  for (const field of fieldsOf(source, from, end)) {
    const isLarge = field.number === INITIALIZER && field.end - field.from >= CLI.weights;
    if (isLarge) graph.message(INITIALIZER, lightTensor(source, field, location));
    else graph.copy(field);
  }
  return graph;
}

function lightTensor(source: ByteSource, { from, end }: Field, location: string): Pieces {
  const tensor = new Pieces(source);
  for (const field of fieldsOf(source, from, end)) {
    const length = field.end - field.from;
    if (field.number !== RAW_DATA || length < CLI.weights) {
      tensor.copy(field);
      continue;
    }
    for (const [key, value] of Object.entries({ location, offset: field.from, length })) {
      const entry = new Pieces(source);
      entry.text(1, key);
      entry.text(2, String(value));
      tensor.message(EXTERNAL_DATA, entry);
    }
    // 1 is EXTERNAL.
    tensor.add(Uint8Array.from([...varint(DATA_LOCATION * 8), 1]));
  }
  return tensor;
}
