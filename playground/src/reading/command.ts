/** Builds the command line that explains a call larger than the page can show. */

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
  const model = names.find((name) => /\.(?:onnx|xml)$/i.test(name));
  const rest = names.filter((name) => name !== model && !/\.bin$/i.test(name));
  const settings =
    model === undefined
      ? [
          ...(domain === "ai.onnx" ? [] : ["--domain", domain]),
          "--opset",
          String(opset),
          ...Object.entries(attributes).flatMap(([name, text]) => ["--attr", `${name}=${text}`]),
        ].map((word) => (word.startsWith("--") ? word : quoted(word)))
      : [];
  const target = model ?? op;
  return ["npx ndscatter explain", quoted(target), ...settings, ...rest.map(quoted)].join(" ");
}
