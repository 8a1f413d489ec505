/** Files on the command line and the names of the values they are for: `NAME=FILE`, or bare files in order. */

import { wrongUsage } from "./failure.ts";
import { printName } from "./layout.ts";

/** What takes inputs. */
export interface Inputs {
  /** How messages call it. */
  readonly title: string;
  readonly inputs: readonly string[];
  /** Inputs that may be left out. */
  readonly optional: ReadonlySet<string>;
}

/**
 * The file of each input that has one. An input that may be left out takes a file only by its name.
 * @throws Failure as {@link bindFiles}, and for inputs without a file
 */
export function bindInputs(
  texts: readonly string[],
  { title, inputs, optional }: Inputs,
): Map<string, string> {
  const isNamed = (name: string): boolean => texts.some((text) => text.startsWith(`${name}=`));
  const taken = inputs.filter((name) => !optional.has(name) || isNamed(name));
  const files = bindFiles(texts, taken, "input", title);
  const missing = inputs.filter((name) => !files.has(name) && !optional.has(name));
  if (missing.length === 0) return files;
  throw wrongUsage(
    `${title} needs ${inputs.map(printName).join(", ")}, but there is no file for ${missing.map(printName).join(", ")}`,
  );
}

/**
 * The file of each name that has one. What is not named takes the names that are left, in their order. A path that
 * holds a `=` is bare when it begins with `.` or `/`.
 * @param who has the values, such as `ScatterND-18`
 * @throws Failure for unknown names, two files for one name, and more files than names.
 */
export function bindFiles(
  texts: readonly string[],
  names: readonly string[],
  what: "input" | "output",
  who: string,
): Map<string, string> {
  const there = names.length === 0 ? "none" : names.map(printName).join(", ");
  const files = new Map<string, string>();
  const bare: string[] = [];
  for (const text of texts) {
    // A value's name may hold a `=` itself.
    const name = names.find((one) => text.startsWith(`${one}=`));
    if (name === undefined) {
      if (text.includes("=") && !/^[./]/.test(text)) {
        const given = text.slice(0, text.indexOf("="));
        throw wrongUsage(`${who} has no ${what} ${printName(given)}; its ${what}s are ${there}`);
      }
      bare.push(text);
    } else if (files.has(name)) {
      throw wrongUsage(`there are two files for the ${what} ${printName(name)}`);
    } else {
      files.set(name, text.slice(name.length + 1));
    }
  }
  const left = names.filter((name) => !files.has(name));
  if (bare.length > left.length) {
    throw wrongUsage(
      `there is no ${what} left for ${bare[left.length]}; the ${what}s of ${who} are ${there}`,
    );
  }
  for (const [position, file] of bare.entries()) files.set(left[position], file);
  return files;
}
