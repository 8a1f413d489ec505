/** Assigns files to inputs and outputs, either by name with `NAME=FILE` or in order. */

import { isUrl } from "./places.ts";
import { wrongUsage } from "../failure.ts";
import { printName, didYouMean } from "../text/layout.ts";

/** Inputs of an operator or a model that need files. */
export interface CommandInputs {
  /** Name of the operator or model for messages, such as `ScatterND-18`. */
  readonly title: string;
  readonly inputs: readonly string[];
  /** Names of optional inputs. */
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

/** Returns the name in `NAME=...`. A name in a model may contain `=`, so the text before the first `=` may be a part. */
export const nameIn = (text: string, names: readonly string[]): string | undefined =>
  names.find((one) => text.startsWith(`${one}=`));
