/**
 * The encoding under ONNX's files: the records of a protobuf message. @bufbuild/protobuf trusts its input in ways that
 * a file does not deserve (a nested message may run on past its parent, a length of 2^63 reads as 0, a field may have
 * any wire type), so every model is walked here once, against the schema, before it is decoded there.
 */

import { ScalarType, type DescField, type DescMessage } from "@bufbuild/protobuf";
import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";

import { isTensorError, malformed, TensorError } from "../errors.ts";

/**
 * The most messages, byte strings and unknown records that a model of `bytes` may consist of. An empty one takes 2 bytes
 * in a file and a few hundred as an object, so a small file of nothing else could fill the memory; a real one takes
 * 12 (an attribute) and more. The largest models in use have some 10^5 nodes: 2^21 is room for 20 times that.
 */
const mostObjects = (bytes: number): number => Math.min(2 ** 21, 2 ** 16 + Math.floor(bytes / 8));

/** Called with a record's field number, its wire type and where its payload starts and ends. */
export type Visit = (field: number, wireType: WireType, start: number, end: number) => void;

/**
 * Visits the records of one message in the order of the file. The payload of a length-delimited record is what follows
 * its length.
 * @throws TensorError `malformed-file` where the bytes are no message. Groups, which ONNX does not have, are refused.
 */
export function visitRecords(bytes: Uint8Array, what: string, visit: Visit): void {
  const reader = new BinaryReader(bytes);
  malformedAs(what, () => {
    while (reader.pos < reader.len) {
      const [field, wireType] = reader.tag();
      let start = reader.pos;
      if (wireType === WireType.LengthDelimited) {
        const length = reader.uint32();
        // More than 32 bits: the reader dropped the rest of them.
        const taken = reader.pos - start;
        if (taken > 5 || (taken === 5 && bytes[reader.pos - 1] > 0x0f)) {
          throw malformed(`${what} has a field ${field} of more than 2^32 bytes`);
        }
        start = reader.pos;
        const left = bytes.length - start;
        if (length > left) {
          throw malformed(
            `the file is cut short or damaged: ${what} has a field ${field} of ${length} bytes where ${left} are left`,
          );
        }
        reader.pos = start + length;
      } else if (wireType === WireType.StartGroup || wireType === WireType.EndGroup) {
        throw malformed(
          `${what} has a field ${field} of wire type ${wireType}, which ONNX does not use`,
        );
      } else {
        reader.skip(wireType, field);
      }
      visit(field, wireType, start, reader.pos);
    }
  });
}

/** How many parts a model may have, and how many were found so far. */
export interface Parts {
  readonly most: number;
  found: number;
}

export const partsOf = (bytes: Uint8Array): Parts => ({
  most: mostObjects(bytes.length),
  found: 0,
});

/**
 * Checks that `bytes` are a message of `schema`: every nested message ends inside its parent, every known field has its
 * wire type.
 * @param parts what is counted on, where the bytes are part of a model
 * @throws TensorError `malformed-file`, and `too-large` for more parts than a model of that size has.
 */
export function checkMessage(
  schema: DescMessage,
  bytes: Uint8Array,
  parts: Parts = partsOf(bytes),
): void {
  const check = (message: DescMessage, part: Uint8Array): void => {
    visitRecords(part, `the ${message.name}`, (number, wireType, start, end) => {
      const field = message.fields.find((one) => one.number === number);
      if (field === undefined || isObject(field)) parts.found++;
      if (parts.found > parts.most) {
        throw new TensorError("too-large", `the model has more than ${parts.most} parts`);
      }
      if (field === undefined) return;
      const values = countValues(field, wireType, part, start, end);
      if (values === null) {
        throw malformed(`the ${message.name} has its ${field.name} in the wrong encoding`);
      }
      // Packed numbers take an object each where they are 64 bits wide.
      if (values > 1) parts.found += values;
      // The schema is not recursive (subgraphs and tensors are bytes to it), so neither is this for long.
      if (field.message !== undefined) check(field.message, part.subarray(start, end));
    });
  };
  check(schema, bytes);
}

const isObject = (field: DescField): boolean =>
  field.message !== undefined || scalarOf(field) === ScalarType.BYTES;

/**
 * How many values of `field` a record holds: one, or any number where numbers are packed, which is allowed in every
 * repeated field whatever the schema says; `null` where the record cannot be one of `field`.
 */
export function countValues(
  field: DescField,
  wireType: WireType,
  bytes: Uint8Array,
  start: number,
  end: number,
): number | null {
  const expected = wireTypeOf(field);
  if (wireType === expected) return 1;
  if (field.fieldKind !== "list" || wireType !== WireType.LengthDelimited) return null;
  const width = expected === WireType.Bit32 ? 4 : expected === WireType.Bit64 ? 8 : 0;
  if (width > 0) return (end - start) % width === 0 ? (end - start) / width : null;
  // The last byte of a varint, and only that, is below 128.
  if (end > start && bytes[end - 1] >= 0x80) return null;
  let count = 0;
  for (let position = start; position < end; position++) if (bytes[position] < 0x80) count++;
  return count;
}

/** How one value of a field is encoded. */
function wireTypeOf(field: DescField): WireType {
  switch (scalarOf(field)) {
    case undefined:
    case ScalarType.STRING:
    case ScalarType.BYTES:
      return WireType.LengthDelimited;
    case ScalarType.FLOAT:
      return WireType.Bit32;
    case ScalarType.DOUBLE:
      return WireType.Bit64;
    default:
      return WireType.Varint;
  }
}

const scalarOf = (field: DescField): ScalarType | undefined =>
  field.fieldKind === "scalar" || field.fieldKind === "list" ? field.scalar : undefined;

/** The text that `bytes` are in UTF-8, a byte order mark included. */
export function decodeText(bytes: Uint8Array, what: string): string {
  return malformedAs(what, () =>
    new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes),
  );
}

/** What `action` returns; whatever the protobuf library throws in it becomes `malformed-file`. */
export function malformedAs<T>(what: string, action: () => T): T {
  try {
    return action();
  } catch (cause) {
    if (isTensorError(cause)) throw cause;
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new TensorError("malformed-file", `${what} cannot be decoded: ${reason}`, {}, { cause });
  }
}
