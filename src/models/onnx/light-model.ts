/**
 * Reads an ONNX file without its weights. The data of each large initializer and `Constant` node becomes external data
 * in the file itself, so a runtime maps the file into memory, and the weights are never copied. A file with 1 GB of
 * weights takes 4.2 GB of memory in `verify` if the weights are copied, of which the runtime takes 2.1 GB.
 */

import { isTensorError } from "../../core/errors.ts";
import { CLI, EXTERNAL } from "../../core/limits.ts";
import { joinBytes, sourceOfBytes, type ByteSource } from "../model/byte-source.ts";
import { MAX_BODY_DEPTH } from "../model/model.ts";
import { FileCursor, type FileRecord } from "./cursor.ts";
import { encode, encodeHead } from "./encode.ts";
import { externalRange } from "./external.ts";
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
import { create, encodeUtf8, visitRecords } from "./wire.ts";

/** Bytes in memory, or a file range that is read when needed. */
type Piece =
  | Uint8Array
  | { readonly source: ByteSource; readonly start: number; readonly length: number };

type Range = Pick<FileRecord, "start" | "end">;

/** Returns the pieces of a changed tensor, or null if the tensor stays unchanged. */
type Change = (tensor: Range) => readonly Piece[] | null;

/** Messages that contain tensors. */
const PARENTS: ReadonlySet<AnySchema> = new Set([GRAPH, FUNCTION, NODE, ATTRIBUTE]);

const recordsOf = (source: ByteSource, { start, end }: Range): Iterable<FileRecord> =>
  new FileCursor(source, start).records(end);

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
    let kept = range.start;
    for (const record of recordsOf(source, range)) {
      if (record.wireType !== WIRE.length || record.end - record.start < least) continue;
      const field = schema.byNumber.get(record.number);
      const inner = typeof field?.kind === "object" ? field.kind : field?.nested?.();
      if (inner === undefined) continue;
      const isBody = inner === GRAPH && schema === ATTRIBUTE;
      let found: readonly Piece[] | null = null;
      // Operators other than `Constant` read tensor attributes directly, so these tensors remain in the model.
      if (inner === TENSOR && (schema === GRAPH || isConstant)) found = change(record);
      else if (PARENTS.has(inner) && !(isBody && depth >= MAX_BODY_DEPTH))
        found = piecesOf(inner, record, depth + Number(isBody), isConstant);
      if (found === null) continue;
      pieces.push(pieceOf(source, kept, record.begin), encodeHead(record.number, lengthOf(found)));
      for (const piece of found) pieces.push(piece);
      kept = record.end;
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
  for (const { number, start, end } of recordsOf(source, node)) {
    if (number !== OP_TYPE || end - start !== CONSTANT.length) continue;
    if (source.read(start, end - start).every((byte, at) => byte === CONSTANT[at])) return true;
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

/** The fields whose bytes are also those of external data. */
const { floatData, rawData, doubleData } = TENSOR.fields;
const DATA: ReadonlySet<number> = new Set(
  [floatData, rawData, doubleData].map((one) => one.number),
);

function lightTensor(source: ByteSource, tensor: Range, location: string): Piece[] | null {
  let data: FileRecord | null = null;
  let isDivided = false;
  for (const record of recordsOf(source, tensor)) {
    if (!DATA.has(record.number)) continue;
    isDivided = data !== null;
    data = record;
  }
  if (data === null || isDivided || data.end - data.start < CLI.weights) return null;
  const range = { location, offset: data.start, length: data.end - data.start };
  const externalData = Object.entries(range).map(([key, value]) =>
    create(ENTRY, { key, value: String(value) }),
  );
  return [
    pieceOf(source, tensor.start, data.begin),
    pieceOf(source, data.end, tensor.end),
    encode(TENSOR, create(TENSOR, { externalData, dataLocation: 1 })),
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

const EXTERNAL_FIELDS: ReadonlySet<number> = new Set(
  [TENSOR.fields.externalData, TENSOR.fields.dataLocation].map((one) => one.number),
);

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
  visitRecords(bytes, tensorTitle(name), (number, _wireType, _start, next, begin) => {
    if (EXTERNAL_FIELDS.has(number)) return;
    kept.copyWithin(size, begin, next);
    size += next - begin;
  });
  return [
    kept.subarray(0, size),
    encodeHead(rawData.number, length),
    pieceOf(file, offset, offset + length),
  ];
}
