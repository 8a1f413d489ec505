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
import { create, encodeUtf8 } from "./wire.ts";

/** Bytes in memory, or a file range that is read when needed. */
type Piece =
  | Uint8Array
  | { readonly source: ByteSource; readonly start: number; readonly length: number };

type Range = Pick<FileRecord, "start" | "end">;

/** Returns the pieces of a changed tensor, or null if the tensor stays unchanged. */
type Change = (tensor: Range) => Piece[] | null;

/** Messages that contain tensors. */
const PARENTS: ReadonlySet<AnySchema> = new Set([GRAPH, FUNCTION, NODE, ATTRIBUTE]);

const recordsOf = (source: ByteSource, { start, end }: Range): FileRecord[] => [
  ...new FileCursor(source, start).records(end),
];

const pieceOf = (source: ByteSource, start: number, end: number): Piece => ({
  source,
  start,
  length: end - start,
});

/**
 * Returns a model with changed tensors. Messages of less than `least` bytes stay unchanged, and so do bodies that are
 * nested too deeply to be read.
 */
function changed(source: ByteSource, least: number, change: Change): Piece[] {
  const piecesOf = (
    schema: AnySchema,
    range: Range,
    depth: number,
    isInConstant: boolean,
  ): Piece[] => {
    const records = recordsOf(source, range);
    const isConstant =
      schema === NODE ? records.some((one) => namesConstant(source, one)) : isInConstant;
    return records.flatMap((record) => {
      const field = schema.byNumber.get(record.number);
      const inner = typeof field?.kind === "object" ? field.kind : field?.nested?.();
      const isLarge = record.wireType === WIRE.length && record.end - record.start >= least;
      // Operators other than `Constant` read tensor attributes directly, so these tensors remain in the model.
      const isWeight = inner === TENSOR && (schema === GRAPH || isConstant);
      const isBody = inner === GRAPH && schema === ATTRIBUTE;
      const isParent =
        inner !== undefined && PARENTS.has(inner) && !(isBody && depth >= MAX_BODY_DEPTH);
      const pieces =
        isLarge && isWeight
          ? change(record)
          : isLarge && isParent
            ? piecesOf(inner, record, depth + Number(isBody), isConstant)
            : null;
      if (pieces === null) return [pieceOf(source, record.begin, record.end)];
      return [encodeHead(record.number, lengthOf(pieces)), ...pieces];
    });
  };
  return piecesOf(MODEL, { start: 0, end: source.size }, 0, false);
}

const lengthOf = (pieces: readonly Piece[]): number =>
  pieces.reduce((sum, { length }) => sum + length, 0);

const OP_TYPE = NODE.fields.opType.number;
const CONSTANT = encodeUtf8("Constant");

function namesConstant(source: ByteSource, { number, start, end }: FileRecord): boolean {
  if (number !== OP_TYPE || end - start !== CONSTANT.length) return false;
  return source.read(start, end - start).every((byte, at) => byte === CONSTANT[at]);
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
  const records = recordsOf(source, tensor);
  const values = records.filter(({ number }) => DATA.has(number));
  const [data] = values;
  if (values.length !== 1 || data.end - data.start < CLI.weights) return null;
  const range = { location, offset: data.start, length: data.end - data.start };
  const externalData = Object.entries(range).map(([key, value]) =>
    create(ENTRY, { key, value: String(value) }),
  );
  return [
    ...records.filter((one) => one !== data).map((one) => pieceOf(source, one.begin, one.end)),
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
  tensor: Range,
  location: string,
  file: ByteSource,
): Piece[] | null {
  const { external, name } = readTensorHeader(source.read(tensor.start, tensor.end - tensor.start));
  if (external?.get("location") !== location) return null;
  const { offset, length } = externalRange(external, tensorTitle(name));
  if (length === null) return null;
  const kept = recordsOf(source, tensor).filter(({ number }) => !EXTERNAL_FIELDS.has(number));
  return [
    ...kept.map((one) => pieceOf(source, one.begin, one.end)),
    encodeHead(rawData.number, length),
    pieceOf(file, offset, offset + length),
  ];
}
