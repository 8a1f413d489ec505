/**
 * Reads the words of a command line: options whose values are integers, amounts of memory, shapes, codecs or lists,
 * files that are assigned to inputs and outputs, either by name with `NAME=FILE` or in order, and locations of arrays.
 */

import * as fs from "node:fs";
import * as path from "node:path";
import { Option } from "commander";
import { asUsage, wrongUsage } from "../failure.ts";
import type { Io } from "../io.ts";
import { didYouMean, printName, quote } from "../text/layout.ts";
import type { AxisRange, ChunkedArray, Codec } from "../../entries/zarr.ts";

export const PACKAGES = ["onnxruntime-node", "onnxruntime-web"];

export function parseInteger(text: string): number | null {
  const number = /^[+-]?\d+$/.test(text) ? Number(text) : NaN;
  return Number.isSafeInteger(number) ? number : null;
}

/**
 * Parses an integer and checks its range. Throws a `Failure` for other text. `name` is the option name for error
 * messages.
 */
export function parseWhole(text: string, name: string, low: number, high = Infinity): number {
  const number = parseInteger(text);
  if (number !== null && number >= low && number <= high) return number;
  const got = `got ${quote(text)}`;
  throw wrongUsage(
    high < Infinity
      ? `${name} must be an integer from ${low} to ${high}, ${got}`
      : low === 1
        ? `${name} must be a positive integer, ${got}`
        : `${name} must be an integer that is at least ${low}, ${got}`,
  );
}

export const wholeOption = (
  flags: string,
  description: string,
  low: number,
  high?: number,
): Option => {
  const option = new Option(flags, description);
  return option.argParser((text) => parseWhole(text, option.long ?? "", low, high));
};

/** Returns an option that may be repeated, and collects its values. */
export const repeatable = (flags: string, description: string): Option =>
  new Option(flags, description).argParser((text, before: readonly string[] = []) => [
    ...before,
    text,
  ]);

/** Returns the first of these options that is given, such as `--in-place`. By default, all options are considered. */
export function givenOption<Options extends object>(
  options: Options,
  names?: readonly (keyof Options & string)[],
): string | undefined {
  const given = Object.entries(options).flatMap(([one, value]) => (value === undefined ? [] : one));
  const name = names === undefined ? given[0] : names.find((one) => given.includes(one));
  return name && `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

/** Default of --memory, in bytes. Help texts show this value as 1G. */
export const DEFAULT_MEMORY = 2 ** 30;

const UNITS: Readonly<Record<string, number>> = {
  "": 1,
  k: 2 ** 10,
  m: 2 ** 20,
  g: 2 ** 30,
  t: 2 ** 40,
};

/**
 * Parses an amount of memory, such as `512M`, `1G` or `1.5GiB`. The units K, M, G and T are powers of 1024. Throws a
 * `Failure` that names the option.
 */
export function parseBytes(text: string, option: string): number {
  const [, number, unit = ""] = /^(\d+(?:\.\d+)?)([kmgt]?)(?:i?b)?$/i.exec(text) ?? [];
  const bytes = Math.floor(Number(number) * (UNITS[unit.toLowerCase()] ?? NaN));
  if (Number.isSafeInteger(bytes) && bytes > 0) return bytes;
  throw wrongUsage(`${option} must be an amount of memory, such as 512M or 1G, got ${quote(text)}`);
}

export const memoryOption = (description: string): Option =>
  new Option("--memory <size>", description).argParser((text) => parseBytes(text, "--memory"));

/** Codecs of a Zarr array, in the order of the specification. */
type Codecs = readonly (string | Codec)[];

export function parseChunks(text: string): readonly number[] {
  const shape = text.split(",").map((one) => (/^\d{1,16}$/.test(one) ? Number(one) : 0));
  if (shape.every((dim) => dim > 0 && Number.isSafeInteger(dim))) return shape;
  throw wrongUsage(`a shape must be positive integers, such as 1000,128, got ${quote(text)}`);
}

/** Parses a codec such as `zstd` or `zstd:3`. The compression level is checked when the array is created. */
export function addCodec(text: string, codecs: Codecs = []): Codecs {
  const [, name, level] = /^([\w-]+)(?::(-?\d{1,6}))?$/.exec(text) ?? [];
  if (name === undefined) {
    throw wrongUsage(`a codec must be a name or NAME:LEVEL, such as zstd:3, got ${quote(text)}`);
  }
  if (level === undefined) return [...codecs, name];
  const setting = name === "blosc" ? "clevel" : "level";
  return [...codecs, { name, configuration: { [setting]: Number(level) } }];
}

/** Inputs of an operator or a model that need files. */
interface CommandInputs {
  /** Name of the operator or model for messages, such as `ScatterND-18`. */
  readonly title: string;
  readonly inputs: readonly string[];
  readonly optional: ReadonlySet<string>;
}

/**
 * Returns the files of inputs by name. An optional input gets a file only by its name.
 * @throws Failure like `bindFiles`, and for required inputs without a file
 */
export function bindInputFiles(
  texts: readonly string[],
  { title, inputs, optional }: CommandInputs,
): Map<string, string> {
  const isNamed = (name: string): boolean => texts.some((text) => text.startsWith(`${name}=`));
  const expected = inputs.filter((name) => !optional.has(name) || isNamed(name));
  const files = bindFiles(texts, expected, "input", title);
  const missing = expected.filter((name) => !files.has(name));
  if (missing.length === 0) return files;
  const names = missing.map(printName);
  throw wrongUsage(
    `${title} needs files for ${inputs.map(printName).join(", ")}; add ${names.map((name) => `${name}=FILE`).join(" ")}`,
  );
}

/**
 * Returns the assigned files by name. Files without a name are assigned to the remaining names in order. A path that
 * begins with `.` or `/` has no name, even if it contains `=`. `title` identifies the operator or model in messages,
 * such as `ScatterND-18`. Throws a `Failure` for an unknown name, for two files with the same name, and for too many
 * files.
 */
export function bindFiles(
  texts: readonly string[],
  names: readonly string[],
  what: "input" | "output",
  title: string,
): Map<string, string> {
  const known = names.length === 0 ? "none" : names.map(printName).join(", ");
  const files = new Map<string, string>();
  const bare: string[] = [];
  for (const text of texts) {
    const name = nameIn(text, names);
    if (name === undefined) {
      if (text.includes("=") && !/^[./]/.test(text) && !isUrl(text)) {
        const given = text.slice(0, text.indexOf("="));
        const hint = didYouMean(given, names, `its ${what}s are ${known}`);
        throw wrongUsage(`${title} has no ${what} ${printName(given)}; ${hint}`);
      }
      bare.push(text);
    } else if (files.has(name)) {
      throw wrongUsage(`the ${what} ${printName(name)} has two files; give only one`);
    } else {
      files.set(name, text.slice(name.length + 1));
    }
  }
  const left = names.filter((name) => !files.has(name));
  if (bare.length > left.length) {
    throw wrongUsage(
      `${bare[left.length]} is one file too many; the ${what}s of ${title} are ${known}`,
    );
  }
  for (const [position, file] of bare.entries()) files.set(left[position], file);
  return files;
}

/**
 * Returns the name in `NAME=...`. A name in a model may contain `=`, so the text before the first `=` may be a part.
 */
export const nameIn = (text: string, names: readonly string[]): string | undefined =>
  names.find((one) => text.startsWith(`${one}=`));

export const isUrl = (name: string): boolean => /^[a-z][a-z0-9+.-]+:\/\//i.test(name);

/** Returns the absolute path for a name on the command line. URLs do not change. */
export const placeOf = ({ cwd }: Io, name: string): string =>
  isUrl(name) ? name : path.resolve(cwd, name);

/**
 * Returns the absolute path of a job folder. Throws a `Failure` for a URL, because jobs need file system operations.
 */
export function folderOf({ cwd }: Io, name: string): string {
  if (!isUrl(name)) return path.resolve(cwd, name);
  throw wrongUsage(`a job's folder must be on this machine, got ${quote(name)}; give a path`);
}

/** An array name from the command line, with an optional slice. `a.zarr[10:20, ::2]`. */
export interface NamedPart {
  readonly place: string;
  /** The text between brackets; null without brackets. */
  readonly ranges: string | null;
}

/** Splits an input array's name into a path and a slice. File names may contain brackets themselves. */
export function partOf(io: Io, name: string): NamedPart {
  const whole = { place: placeOf(io, name), ranges: null };
  const [, array, ranges] = /^(.+)\[([^[\]]*)\]$/s.exec(name) ?? [];
  if (array === undefined || fs.existsSync(whole.place)) return whole;
  return { place: placeOf(io, array), ranges };
}

/**
 * Opens an array, or an array slice, by its name on the command line. `onNote` receives a message if an unfinished job
 * has changed part of the array, which is then read in its current state.
 */
export async function openPart(
  io: Io,
  name: string,
  onNote?: (sentence: string) => void,
): Promise<ChunkedArray> {
  const { place, ranges } = partOf(io, name);
  // Calls on tensor files do not load the code for chunked arrays.
  const { openArray } = await import("../../entries/zarr.ts");
  const array = await openArray(place, onNote === undefined ? {} : { onNote });
  if (ranges === null) return array;
  const parsed = parseRanges(ranges, array.shape.length);
  return asUsage(() => array.slice(...parsed), `${name}: `);
}

/** Parses the axis ranges of an array in Python's slice notation, such as `10:20, ::2`, `3` or `..., :5`. */
function parseRanges(text: string, rank: number): AxisRange[] {
  const words = text.split(",").map((word) => word.trim());
  // Python's slice notation allows a trailing comma.
  if (words.length > 1 && words.at(-1) === "") words.pop();
  const missing = Math.max(0, rank - words.length + 1);
  let hasRest = false;
  return words.flatMap((word): AxisRange[] => {
    if (word === "..." && !hasRest) {
      hasRest = true;
      return Array.from({ length: missing }, () => null);
    }
    if (/^-?\d{1,15}$/.test(word)) return [Number(word)];
    const ends = word.split(":").map((end) => end.trim());
    if (ends.length < 2 || ends.length > 3 || !ends.every((end) => /^(?:-?\d{1,15})?$/.test(end))) {
      const examples = "such as 10:20, ::2, 3 or ...";
      throw wrongUsage(`a range must be START:STOP:STEP, ${examples}, got ${quote(word)}`);
    }
    return [ends.map((end) => (end === "" ? null : Number(end)))];
  });
}
