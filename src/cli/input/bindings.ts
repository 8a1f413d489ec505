/** Assigns files to inputs and outputs: `NAME=FILE`, or bare files in order. */

import { isUrl } from "./places.ts";
import { wrongUsage } from "../failure.ts";
import { printName } from "../text/layout.ts";
import { didYouMean } from "../text/names.ts";

/** The inputs of an operator or a model, to which files are assigned. */
export interface CommandInputs {
  /** The name of the operator or the model in messages, such as `ScatterND-18`. */
  readonly title: string;
  readonly inputs: readonly string[];
  /** The names of inputs that may be left out. */
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
 * Returns the file for each name that has a file. Files without a name get the remaining names in order. A path that
 * contains `=` counts as a file without a name if it begins with `.` or `/`.
 * @param title the title of the operator or model, such as `ScatterND-18`
 * @throws Failure for unknown names, for two files with the same name, and for more files than names
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
    // A name in a model may contain `=`, so the text before the first `=` need not be the name.
    const name = names.find((one) => text.startsWith(`${one}=`));
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
