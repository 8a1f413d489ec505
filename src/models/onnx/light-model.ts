/**
 * Reads an ONNX file without its weights. The data of each large initializer and `Constant` node becomes external data
 * in the file itself, so a runtime maps the file into memory, and the weights are never copied. A file with 1 GB of
 * weights takes 4.2 GB of memory in `verify` if the weights are copied, of which the runtime takes 2.1 GB.
 */

import { isTensorError } from "../../core/errors.ts";
import { CLI, EXTERNAL } from "../../core/limits.ts";
import { joinBytes, sourceOfBytes, type ByteSource } from "../model/byte-source.ts";
import { MAX_BODY_DEPTH } from "../model/model.ts";
import { encode, encodeHead } from "./encode.ts";
import { externalRange } from "./external.ts";
import { Records, type Range } from "./records.ts";
import {
  ATTRIBUTE,
  ENTRY,
  FUNCTION,
  GRAPH,
  MODEL,
  NODE,
  TENSOR,
  WIRE,
  type AnySchema,
} from "./schema.ts";
import { readTensorHeader, tensorTitle } from "./tensor-proto.ts";
import { create, encodeUtf8 } from "./wire.ts";

/** Bytes in memory, or a file range that is read when needed. */
type Piece =
  | Uint8Array
  | { readonly source: ByteSource; readonly start: number; readonly length: number };

/** Returns the pieces of a changed tensor, or null if the tensor stays unchanged. */
type Change = (tensor: Range) => readonly Piece[] | null;

/** Messages that contain tensors. */
const PARENTS: ReadonlySet<AnySchema> = new Set([GRAPH, FUNCTION, NODE, ATTRIBUTE]);

const recordsFrom = (source: ByteSource, start: number): Records =>
  new Records(source, "the file", start);

const pieceOf = (source: ByteSource, start: number, end: number): Piece => ({
  source,
  start,
  length: end - start,
});

/**
 * Returns a model with changed tensors. Messages of less than `least` bytes stay unchanged, and so do bodies that are
 * nested too deeply to be read. Everything between two changes is one piece, because a hostile file may have millions
 * of records.
 */
function changed(source: ByteSource, least: number, change: Change): readonly Piece[] {
  /** Returns null for a message in which nothing changes. */
  const piecesOf = (
    schema: AnySchema,
    range: Range,
    depth: number,
    isInConstant: boolean,
  ): Piece[] | null => {
    // The operator's name may come after the attributes.
    const isConstant = schema === NODE ? isConstantNode(source, range) : isInConstant;
    const pieces: Piece[] = [];
    const records = recordsFrom(source, range.start);
    let kept = range.start;
    while (records.next(range.end)) {
      const { number, wireType, begin, start, end } = records;
      if (wireType !== WIRE.length || end - start < least) continue;
      const inner = schema.byNumber.get(number)?.inner?.();
      if (inner === undefined) continue;
      const isBody = inner === GRAPH && schema === ATTRIBUTE;
      let found: readonly Piece[] | null = null;
      // Operators other than `Constant` read tensor attributes directly, so these tensors remain in the model.
      if (inner === TENSOR && (schema === GRAPH || isConstant)) found = change({ start, end });
      else if (PARENTS.has(inner) && !(isBody && depth >= MAX_BODY_DEPTH))
        found = piecesOf(inner, { start, end }, depth + Number(isBody), isConstant);
      if (found === null) continue;
      pieces.push(pieceOf(source, kept, begin), encodeHead(number, lengthOf(found)));
      for (const piece of found) pieces.push(piece);
      kept = end;
    }
    if (pieces.length === 0) return null;
    pieces.push(pieceOf(source, kept, range.end));
    return pieces;
  };
  const whole = { start: 0, end: source.size };
  return piecesOf(MODEL, whole, 0, false) ?? [pieceOf(source, 0, source.size)];
}

const lengthOf = (pieces: readonly Piece[]): number =>
  pieces.reduce((sum, { length }) => sum + length, 0);

const OP_TYPE = NODE.fields.opType.number;
const CONSTANT = encodeUtf8("Constant");

function isConstantNode(source: ByteSource, node: Range): boolean {
  const records = recordsFrom(source, node.start);
  while (records.next(node.end)) {
    const { number, start, end } = records;
    if (number !== OP_TYPE || end - start !== CONSTANT.length) continue;
    if (records.between(start, end).every((byte, at) => byte === CONSTANT[at])) return true;
  }
  return false;
}

/** Yields the bytes of a message in chunks of limited length. */
function* chunksOf(pieces: readonly Piece[]): Generator<Uint8Array> {
  for (const piece of pieces) {
    if (piece instanceof Uint8Array) {
      yield piece;
      continue;
    }
    const { source, start, length } = piece;
    for (let done = 0; done < length; done += EXTERNAL.part)
      yield source.read(start + done, Math.min(EXTERNAL.part, length - done));
  }
}

/**
 * Returns the model without the data of large initializers and `Constant` nodes, or null if the file is not a model;
 * the usual reader then reports the fault. `location` is the file name without its folder.
 */
export function lightModel(location: string, source: ByteSource): Uint8Array | null {
  try {
    const pieces = changed(source, CLI.weights, (one) => lightTensor(source, one, location));
    return joinBytes(chunksOf(pieces), lengthOf(pieces));
  } catch (error) {
    if (isTensorError(error, "malformed-file")) return null;
    throw error;
  }
}

const { floatData, rawData, doubleData, externalData, dataLocation } = TENSOR.fields;
/** The fields whose bytes are also those of external data. */
const DATA = new Set([floatData, rawData, doubleData].map(({ number }): number => number));

function lightTensor(source: ByteSource, tensor: Range, location: string): Piece[] | null {
  const records = recordsFrom(source, tensor.start);
  const found: { begin: number; start: number; end: number }[] = [];
  while (records.next(tensor.end)) {
    const { number, begin, start, end } = records;
    // The data of a tensor in several records cannot be external.
    if (DATA.has(number) && found.length < 2) found.push({ begin, start, end });
  }
  const [data, second] = found;
  if (data === undefined || second !== undefined || data.end - data.start < CLI.weights)
    return null;
  const range = { location, offset: data.start, length: data.end - data.start };
  const entries = Object.entries(range).map(([key, value]) =>
    create(ENTRY, { key, value: String(value) }),
  );
  return [
    pieceOf(source, tensor.start, data.begin),
    pieceOf(source, data.end, tensor.end),
    encode(TENSOR, create(TENSOR, { externalData: entries, dataLocation: 1 })),
  ];
}

/**
 * Returns a light model with its weights restored from the file. `location` is the file name without its folder. Throws
 * `malformed-file` for an offset or a length that is not a decimal number. A tensor without a length stays unchanged,
 * because `lightModel` always writes the length.
 */
export function withWeightsOf(
  model: Uint8Array,
  location: string,
  file: ByteSource,
): Iterable<Uint8Array> {
  const source = sourceOfBytes(model, "a model must be");
  return chunksOf(changed(source, 0, (one) => wholeTensor(source, one, location, file)));
}

function wholeTensor(
  source: ByteSource,
  { start, end }: Range,
  location: string,
  file: ByteSource,
): Piece[] | null {
  const bytes = source.read(start, end - start);
  const { external, name } = readTensorHeader(bytes);
  if (external?.get("location") !== location) return null;
  const { offset, length } = externalRange(external, tensorTitle(name));
  if (length === null) return null;
  const kept = bytes.slice();
  let size = 0;
  const records = new Records(bytes, "the tensor");
  while (records.next()) {
    if (records.number === externalData.number || records.number === dataLocation.number) continue;
    kept.copyWithin(size, records.begin, records.end);
    size += records.end - records.begin;
  }
  return [
    kept.subarray(0, size),
    encodeHead(rawData.number, length),
    pieceOf(file, offset, offset + length),
  ];
}
