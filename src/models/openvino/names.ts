/**
 * Value names in an IR.
 *
 * A value gets the name that OpenVINO users know: the first of the `names` of its output port. Otherwise the value gets
 * its layer's name; if the layer has several outputs, `.0`, `.1`… is appended. If this name is already used, `#` and
 * the layer's number are added. Each model input thus has the name of its Parameter, and each output has the name of
 * the layer that feeds its Result.
 */

import type { Layer } from "./net.ts";

/** Returns a distinct name for each output of each layer, by port number. */
export function nameValues(layers: readonly Layer[]): Map<Layer, Map<number, string>> {
  const taken = new Set<string>();
  const names = new Map<Layer, Map<number, string>>();
  for (const layer of layers) {
    const own = new Map<number, string>();
    for (const [position, [port, part]] of [...layer.outputs].entries()) {
      const [first] = splitNames(part.attributes.get("names") ?? "");
      let name = first ?? defaultName(layer.name, position, layer.outputs.size);
      if (name === "" || taken.has(name)) {
        name += `#${defaultName(String(layer.id), position, layer.outputs.size)}`;
      }
      while (taken.has(name)) name += "#";
      taken.add(name);
      own.set(port, name);
    }
    names.set(layer, own);
  }
  return names;
}

export const defaultName = (layer: string, position: number, outputs: number): string =>
  outputs > 1 ? `${layer}.${position}` : layer;

/** Splits a text at commas. A comma that is part of a name follows a backslash. */
const splitNames = (text: string): string[] =>
  text
    .split(/(?<!\\),/)
    .map((name) => name.replaceAll("\\,", ","))
    .filter((name) => name !== "");

/**
 * The names of a value's port in the original file, and the default name from its layer. Both are undefined for a new
 * layer.
 */
interface NamesBefore {
  readonly before: string | undefined;
  readonly implied: string | undefined;
}

/**
 * Returns the text for a port's `names`, by which OpenVINO programs find inputs and outputs; null for an original port
 * that needs no names. The `aliases` are further names of the value. The callback `isTaken` returns true for a name
 * that another value of the model has.
 */
export function printNames(
  value: string,
  { before = "", implied }: NamesBefore,
  aliases: readonly string[],
  isTaken: (name: string) => boolean,
): string | null {
  const [first, ...others] = splitNames(before);
  const more = [...others, ...aliases].filter((name) => !isTaken(name));
  if (value === "" || (first === undefined && value === implied && more.length === 0)) return null;
  return joinNames(value, more);
}

/**
 * Joins names with commas. A trailing backslash would escape the next comma, so only the last name may end with a
 * backslash.
 */
function joinNames(first: string, others: readonly string[]): string {
  const [plain, hiding] = [false, true].map((hides) =>
    others.filter((name) => name.endsWith("\\") === hides),
  );
  const names = first.endsWith("\\") ? [first] : [first, ...plain, ...hiding.slice(0, 1)];
  return [...new Set(names)].map((name) => name.replaceAll(",", "\\,")).join(",");
}
