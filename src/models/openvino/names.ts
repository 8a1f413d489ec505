/**
 * The names of values in an IR.
 *
 * A value gets the name that users of OpenVINO know: the first of the `names` of its output port, otherwise the name of
 * its layer, followed by `.0`, `.1`… if the layer has several outputs. If that name is taken, `#` and the number of the
 * layer are appended, and `.0`, `.1`… again. Parameters thus name the inputs of the model, and an output is named after
 * the layer that feeds its Result.
 */

import type { Layer } from "./net.ts";

/** Returns the names of the values that each layer makes, by port number. All names are distinct. */
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

/** Returns the name of a value whose port has no names. */
export const defaultName = (layer: string, position: number, outputs: number): string =>
  outputs > 1 ? `${layer}.${position}` : layer;

/** Splits names at commas. A backslash precedes a comma inside a name. */
const splitNames = (text: string): string[] =>
  text
    .split(/(?<!\\),/)
    .map((name) => name.replaceAll("\\,", ","))
    .filter((name) => name !== "");

/** The names of a value's port in the file, and the name that its layer implies; undefined for a new layer. */
interface NamesBefore {
  readonly before: string | undefined;
  readonly implied: string | undefined;
}

/**
 * Returns the text for the `names` of a value's port, by which programs of OpenVINO find inputs and outputs; null for a
 * port of a file that needs no names.
 * @param aliases further names of the value, in addition to the file's
 * @param isTaken returns true for the name of any value of the model
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
 * Joins names; a backslash at the end of a name would escape the comma after it, so only the last name may end with a
 * backslash.
 */
function joinNames(first: string, others: readonly string[]): string {
  const [plain, hiding] = [false, true].map((hides) =>
    others.filter((name) => name.endsWith("\\") === hides),
  );
  const names = first.endsWith("\\") ? [first] : [first, ...plain, ...hiding.slice(0, 1)];
  return [...new Set(names)].map((name) => name.replaceAll(",", "\\,")).join(",");
}
