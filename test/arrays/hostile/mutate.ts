/** Mutants: bytes, texts, JSON and names of files with something wrong. */

import * as fs from "node:fs";
import * as path from "node:path";
import type { Random } from "../../support/random.ts";

const pick = <T>(list: readonly T[], random: Random): T => list[random(list.length)];

/** Numbers at the ends of what types and files hold. */
const NUMBERS = [
  "-1",
  "0",
  "1",
  "1.5",
  "-0",
  "1e300",
  "4294967295",
  "4294967296",
  "9007199254740993",
  "99999999999999999999",
];

/** Values that stand where others should. */
const VALUES: readonly unknown[] = [
  null,
  true,
  "",
  "x",
  "..",
  "/",
  "\0",
  "__proto__",
  "x".repeat(5000),
  -1,
  0,
  1.5,
  2 ** 31,
  2 ** 53,
  1e300,
  [],
  [[]],
  {},
  [-1],
  [2 ** 40],
  { toString: 1 },
];

/** Texts that parsers may take for something else. */
const TEXTS = [
  "",
  "\0",
  "\n",
  "-",
  "{}",
  "[]",
  '"',
  "../",
  "/../../",
  "%00",
  "\u{1b}[2J",
  '{"__proto__":{"a":1}}',
  "[".repeat(3000),
  '{"a":'.repeat(3000),
  "9".repeat(3000),
];

/** Bytes with one thing wrong: bits, a cut, what is doubled, left out, inserted or filled, or a number of 4 or 8 bytes. */
export function mutateBytes(bytes: Uint8Array, random: Random): Uint8Array {
  const copy = Uint8Array.from(bytes);
  const at = random(copy.length + 1);
  const rest = copy.subarray(at);
  switch (random(7)) {
    case 0:
      return copy.subarray(0, at);
    case 1:
      return Uint8Array.of(...copy, ...rest);
    case 2:
      return Uint8Array.of(...copy.subarray(0, at), ...rest.subarray(1 + random(8)));
    case 3:
      return Uint8Array.of(...copy.subarray(0, at), ...bytesOf(pick(TEXTS, random)), ...rest);
    case 4:
      return copy.fill(random(256), at, at + 1 + random(8));
    case 5: {
      const word = 4 * random(Math.floor(copy.length / 4) + 1);
      return copy.fill(random(2) * 255, word, word + 4 * (1 + random(2)));
    }
    default:
      for (let flips = 1 + random(3); flips > 0 && copy.length > 0; flips--)
        copy[random(copy.length)] ^= 1 << random(8);
      return copy;
  }
}

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);

/** Every object and list in a JSON value. */
function containersOf(value: unknown): (Record<string, unknown> | unknown[])[] {
  if (typeof value !== "object" || value === null) return [];
  return [value as Record<string, unknown>, ...Object.values(value).flatMap(containersOf)];
}

/** JSON with one or two members taken away, doubled, nested, renamed, or of another value. */
function mutateMembers(text: string, paths: readonly string[], random: Random): string {
  const json = JSON.parse(text) as unknown;
  let printed = "";
  for (let changes = 1 + random(2); changes > 0; changes--) {
    const containers = containersOf(json).filter((one) => Object.keys(one).length > 0);
    if (containers.length === 0) break;
    const container = pick(containers, random);
    const key = pick(Object.keys(container), random);
    const old: unknown = Reflect.get(container, key);
    switch (random(7)) {
      case 0:
        Reflect.deleteProperty(container, key);
        break;
      case 1:
        Reflect.set(container, pick(["__proto__x", "constructor", "", key + key], random), old);
        break;
      case 2:
        Reflect.set(container, key, random(2) === 0 ? [old] : { [key]: old });
        break;
      case 3:
        Reflect.set(container, key, pick(paths, random));
        break;
      case 4:
        if (Array.isArray(container)) container.push(old);
        else printed = JSON.stringify(key);
        break;
      default:
        Reflect.set(container, key, structuredClone(pick(VALUES, random)));
    }
  }
  const whole = JSON.stringify(json);
  // Twice in one object, which no value in memory is.
  return printed === "" ? whole : whole.replace("{", `{${printed}:${pick(NUMBERS, random)},`);
}

/** A text with one number replaced. */
function mutateNumber(text: string, random: Random): string {
  const numbers = [...text.matchAll(/\d+(?:\.\d+)?/g)];
  if (numbers.length === 0) return text;
  const { 0: number, index } = pick(numbers, random);
  return text.slice(0, index) + pick(NUMBERS, random) + text.slice(index + number.length);
}

/**
 * A text of JSON with something wrong.
 * @param paths of places that members may name
 */
export function mutateJson(text: string, paths: readonly string[], random: Random): string {
  const choice = random(4);
  if (choice === 0) return mutateNumber(text, random);
  if (choice === 1) return new TextDecoder().decode(mutateBytes(bytesOf(text), random));
  const mutant = mutateMembers(text, paths, random);
  return random(20) === 0 ? mutant.replace("{", '{"__proto__":{"version":1,"stages":[]},') : mutant;
}

export const mutateText = (text: string, random: Random): string =>
  random(2) === 0
    ? mutateNumber(text, random)
    : new TextDecoder().decode(mutateBytes(bytesOf(text), random));

/** What may have the name of a file: nothing, a folder, a pipe, links of all kinds, and files without an end. */
export function replaceEntry(
  file: string,
  targets: readonly string[],
  pipe: string,
  random: Random,
) {
  fs.rmSync(file, { recursive: true, force: true });
  switch (random(8)) {
    case 0:
      return;
    case 1:
      return fs.mkdirSync(file);
    case 2:
      return fs.linkSync(pipe, file);
    case 3:
      return fs.symlinkSync("/dev/zero", file);
    case 4:
      return fs.symlinkSync(path.basename(file), file);
    case 5: {
      fs.writeFileSync(file, "");
      return fs.truncateSync(file, 2 ** (20 + random(20)));
    }
    default:
      return fs.symlinkSync(pick(targets, random), file);
  }
}
