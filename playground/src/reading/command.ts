/** Builds the command line that explains a call larger than the page can show. */

import { MODEL, TENSOR } from "./file-kinds.ts";
import type { State } from "../values/state.ts";

/** Quotes a shell argument. */
const quoted = (name: string): string =>
  /^[\w./=-]+$/.test(name) && !name.startsWith("-")
    ? name
    : `'${name.replaceAll("'", String.raw`'\''`)}'`;

/**
 * Returns a command such as `npx ndscatter explain ScatterND --attr reduction=add data.npy indices.npy updates.npy`.
 * `names` are the file names in input order. `state` is used if the files do not include a model.
 */
export function commandOf(
  names: readonly string[],
  { domain, op, opset, attributes }: Pick<State, "domain" | "op" | "opset" | "attributes">,
): string {
  const model = names.find((name) => MODEL.test(name));
  // The command names an array in an archive without its extension, such as `x.npz/ids`.
  const rest = names
    .filter((name) => TENSOR.test(name))
    .map((name) => name.replace(/(\.npz\/.*)\.npy$/i, "$1"));
  const attribute = ([name, text]: readonly [string, string]): string => quoted(`${name}=${text}`);
  const settings = [
    ...(domain === "ai.onnx" ? [] : [`--domain ${domain}`]),
    `--opset ${opset}`,
    ...Object.entries(attributes).map((one) => `--attr ${attribute(one)}`),
  ];
  const own = model === undefined ? [op, ...settings] : [quoted(model)];
  return ["npx ndscatter explain", ...own, ...rest.map(quoted)].join(" ");
}
