/** Parses integers and amounts of memory from the command line. */

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

/** Returns a parser for an option's value. `name` is the option name with its dashes. */
export const wholeOption =
  (name: string, low: number, high?: number): ((text: string) => number) =>
  (text) =>
    parseWhole(text, name, low, high);

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

export const parseMemory = (text: string): number => parseBytes(text, "--memory");
