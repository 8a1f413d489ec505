/** Options whose values are integers, amounts of memory, shapes, codecs or lists, and their parsers. */

import { Option } from "commander";
import type { Codec } from "../../entries/zarr.ts";
import { wrongUsage } from "../failure.ts";
import { quote } from "../text/layout.ts";

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

/** Returns an option whose value is an integer from `low` to `high`. */
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
export type Codecs = readonly (string | Codec)[];

export const parseChunks = (text: string): readonly number[] => parseShape(text, 1);
export const parseSizes = (text: string): readonly number[] => parseShape(text, 0);

function parseShape(text: string, least: number): readonly number[] {
  const shape = text.split(",").map((one) => (/^\d{1,16}$/.test(one) ? Number(one) : -1));
  if (shape.every((dim) => dim >= least && Number.isSafeInteger(dim))) return shape;
  const what = least === 1 ? "positive integers" : "integers of 0 or more";
  throw wrongUsage(`a shape must be ${what}, such as 1000,128, got ${quote(text)}`);
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
