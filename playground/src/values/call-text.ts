/**
 * Prints and parses a call's text, in which links and examples are written:
 *
 *     ai.onnx/ScatterND/18;reduction=add;float32:4,2:0*8;int64:2,1:1,3;float32:2,2:1,2,3,4
 *
 * The operator is followed by its attributes and inputs. Each input has a data type, a shape and values; an omitted
 * input is written as `-`. Repeated values are abbreviated, so `0*8` means eight zeros. A part of a larger tensor ends
 * with the numbers of its rows there, such as `:7,1250000-1250002`. Characters with a meaning in
 * this format are percent-encoded as UTF-8. An unpaired surrogate, which UTF-8 cannot encode, is written as `%uD800`.
 */

import { isDType, TensorError } from "ndscatter";
import { printShape, resolve } from "ndscatter/operators";
import { checkShape } from "./limits.ts";
import { sizeOf } from "./shape.ts";
import type { State, TensorText } from "./state.ts";

export function printCall({ domain, op, opset, attributes, inputs }: State): string {
  const id = [domain, op, String(opset)].map(encode).join("/");
  const named = Object.entries(attributes).map(([name, text]) => `${encode(name)}=${encode(text)}`);
  return [id, ...named, ...inputs.map(printInput)].join(";");
}

export function printInput(input: TensorText | null): string {
  if (input === null) return "-";
  const { dtype, shape, values, rows = [] } = input;
  const runs: string[] = [];
  for (let at = 0; at < values.length;) {
    let end = at + 1;
    while (end < values.length && values[end] === values[at]) end++;
    const text = encode(values[at]);
    const count = end - at;
    const run = `${text}*${count}`;
    // The shorter of the two forms is chosen. Every value except the last is followed by a comma.
    const isShorter = run.length < (text.length + 1) * count - 1;
    if (isShorter) runs.push(run);
    else for (let i = 0; i < count; i++) runs.push(text);
    at = end;
  }
  const numbers = rows.length === shape[0] && rows.length > 0 ? `:${printRows(rows)}` : "";
  return `${dtype}:${shape.join(",")}:${runs.join(",")}${numbers}`;
}

/** Abbreviates consecutive numbers as a range. */
function printRows(rows: readonly number[]): string {
  const starts = rows.flatMap((row, at) => (at > 0 && row === rows[at - 1] + 1 ? [] : [at]));
  return starts
    .map((at, run) => [rows[at], rows[(starts[run + 1] ?? rows.length) - 1]])
    .map(([first, last]) => (first === last ? String(first) : `${first}-${last}`))
    .join(",");
}

function parseRows(text: string, count: number): number[] {
  const ranges = text.split(",").map((run) => run.split("-").map(parseSize));
  const all = ranges.reduce((sum, [first, last = first]) => sum + Math.max(last - first + 1, 0), 0);
  // The numbers are counted before the list is allocated.
  if (all !== count || ranges.some((run) => run.length > 2 || (run[1] ?? run[0]) < run[0])) {
    throw wrong(`${quote(text)} does not number ${count} rows`);
  }
  return ranges.flatMap(([first, last = first]) =>
    Array.from({ length: last - first + 1 }, (_, at) => first + at),
  );
}

/** Parses the output of `printCall`. Throws a `TensorError` for any other text. */
export function parseCall(text: string): State {
  const [id, ...parts] = text.split(";");
  const path = id.split("/").map(decode);
  if (path.length !== 3) {
    throw wrong(`it begins with ${quote(id)}, not with an operator such as ai.onnx/ScatterND/18`);
  }
  const [domain, op, opset] = path;
  const version = resolve({ domain, op, opset: parseSize(opset) });
  const first = parts.findIndex((part) => !part.includes("="));
  const count = first === -1 ? parts.length : first;
  const attributes = parts.slice(0, count).map(parseAttribute);
  const names = attributes.map(([name]) => name);
  const twice = names.find((name, position) => names.indexOf(name) !== position);
  if (twice !== undefined) throw wrong(`it gives the attribute ${quote(twice)} twice`);
  const inputs = parts.slice(count).map(parseInput);
  const { inputs: schemas } = version;
  if (inputs.length !== schemas.length) {
    const wanted = schemas.map(({ name }) => name).join(", ");
    throw wrong(
      `${version.name} has ${schemas.length} inputs (${wanted}), but the link has ${inputs.length}`,
    );
  }
  return {
    domain: version.domain,
    op: version.name,
    opset: version.sinceVersion,
    attributes: Object.fromEntries(attributes),
    inputs,
  };
}

function parseAttribute(part: string): readonly [string, string] {
  const at = part.indexOf("=");
  return [decode(part.slice(0, at)), decode(part.slice(at + 1))];
}

export function parseInput(part: string): TensorText | null {
  if (part === "-") return null;
  const [dtype, dims, list, rows, ...more] = part.split(":");
  if (list === undefined || more.length > 0) {
    throw wrong(
      `an input is a data type, a shape and values with colons between them, not ${quote(part)}`,
    );
  }
  if (!isDType(dtype)) throw wrong(`${quote(dtype)} is not a data type`);
  const shape = dims === "" ? [] : dims.split(",").map(parseSize);
  checkShape(shape, `the ${dtype} tensor of the link`);
  const size = sizeOf(shape);
  // The shape distinguishes an empty list from a list with one empty string, because their texts are equal.
  const values: string[] = [];
  for (const run of size === 0 && list === "" ? [] : list.split(",")) {
    const at = run.lastIndexOf("*");
    const count = at === -1 ? 1 : parseSize(run.slice(at + 1));
    // The count is checked before elements are allocated, because a short text can represent millions of elements.
    if (values.length + count > size)
      throw wrong(`${printShape(shape)} has no room for ${quote(run)}`);
    const text = decode(at === -1 ? run : run.slice(0, at));
    for (let i = 0; i < count; i++) values.push(text);
  }
  if (values.length < size) {
    throw wrong(
      `the shape ${printShape(shape)} needs ${size} values, but the link has ${values.length}`,
    );
  }
  if (rows === undefined) return { dtype, shape, values };
  return { dtype, shape, values, rows: parseRows(rows, shape[0] ?? 0) };
}

function parseSize(text: string): number {
  const size = /^\d{1,15}$/.test(text) ? Number(text) : -1;
  if (size === -1) throw wrong(`${quote(text)} is not a size`);
  return size;
}

/**
 * Matches texts that need no encoding. Most texts match, so this check halves the time for a call with 20,000 numbers.
 */
const PLAIN = /^[A-Za-z0-9._+-]*$/;

/** Percent-encodes a text, except letters, digits and characters without a meaning in links or in this format. */
function encode(text: string): string {
  if (PLAIN.test(text)) return text;
  return text.replaceAll(/[^A-Za-z0-9._+-]/gu, (character) => {
    const code = character.codePointAt(0) ?? 0;
    const isHalf = code >= 0xd800 && code <= 0xdfff;
    if (isHalf) return `%u${code.toString(16).toUpperCase()}`;
    // The function encodeURIComponent does not encode these characters, but * has a meaning in this format.
    return /[!'()*~]/.test(character)
      ? `%${code.toString(16).toUpperCase()}`
      : encodeURIComponent(character);
  });
}

function decode(text: string): string {
  if (!text.includes("%")) return text;
  return text.replaceAll(
    /%u([0-9a-f]{4})|((?:%[0-9a-f]{2})+)/gi,
    (_, half?: string, bytes?: string) => {
      if (half !== undefined) return String.fromCharCode(Number.parseInt(half, 16));
      try {
        return decodeURIComponent(bytes ?? "");
      } catch {
        throw wrong(`${quote(bytes ?? "")} is not text in UTF-8`);
      }
    },
  );
}

const quote = (text: string): string =>
  JSON.stringify(text.length > 40 ? `${text.slice(0, 40)}…` : text);

const wrong = (sentence: string): TensorError =>
  new TensorError("malformed-file", `the link cannot be read: ${sentence}`);
