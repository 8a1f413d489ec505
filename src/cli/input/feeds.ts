/** The tensors that a model of the user's runtime is fed: from files, and made up. */

import type { Command } from "commander";
import type { Tensor } from "../../entries/index.ts";
import type { Model } from "../../entries/onnx.ts";
import { wrongUsage } from "../failure.ts";
import type { Io } from "../io.ts";
import { escapeControls, quote } from "../text/layout.ts";
import { bindFiles } from "./bindings.ts";
import { madeUp } from "./made-up.ts";
import { parseWhole } from "./numbers.ts";
import { collect } from "./operator-call.ts";
import { readTensorFiles } from "./read-files.ts";

/** The options that {@link addFeedOptions} adds. */
export interface FeedOptions {
  readonly feed?: readonly string[];
  readonly random?: boolean;
  readonly dim?: readonly string[];
}

/** A paragraph for the help of commands with these options. */
export const RANDOM_HELP = `
With --random, inputs that have no --feed are made up: numbers between -1 and 1,
and 0 for integers, so that all indices are 0.`;

export const addFeedOptions = (command: Command): Command =>
  command
    .option("--feed <name=file>", "a tensor for an input of the model; once for each", collect)
    .option("--random", "make up inputs that have no --feed")
    .option("--dim <name=size>", "the size of a dimension by its name, ? for one without", collect);

/**
 * Tensors from files, and with --random made-up ones for the other inputs.
 * @param file of the model, which errors name
 * @throws Failure for options that do not fit the model, and for inputs of which too little is known
 */
export function feedsOf(
  io: Io,
  file: string,
  { graph }: Model,
  { feed = [], random = false, dim = [] }: FeedOptions,
): Record<string, Tensor> {
  const names = graph.inputs.map(({ name }) => name);
  const feeds = Object.fromEntries(readTensorFiles(io, bindFiles(feed, names, "input", file)));
  if (!random) {
    if (dim.length === 0) return feeds;
    throw wrongUsage("--dim goes with --random, which makes inputs up");
  }
  const constants = new Set(graph.constants.map(({ name }) => name));
  const inputs = graph.inputs.filter(({ name }) => !constants.has(name));
  const sizes = new Map(
    dim.map((text) => {
      const at = text.lastIndexOf("=");
      if (at < 1) throw wrongUsage(`--dim takes NAME=SIZE, got ${quote(text)}`);
      const name = text.slice(0, at);
      return [name, parseWhole(text.slice(at + 1), `--dim ${name}`, 0)] as const;
    }),
  );
  const dims = new Set(inputs.flatMap(({ type }) => (type?.shape ?? []).map((dim) => dim ?? "?")));
  const odd = [...sizes.keys()].find((name) => !dims.has(name));
  if (odd !== undefined) {
    const known = [...dims].filter((dim) => typeof dim === "string");
    const there =
      known.length === 0 ? "all sizes are known" : `its dimensions are ${known.join(", ")}`;
    throw wrongUsage(escapeControls(`the model has no dimension ${quote(odd)}; ${there}`));
  }
  for (const { name, type } of inputs) {
    if (Object.hasOwn(feeds, name)) continue;
    const shape = type?.shape?.map((dim) => {
      if (typeof dim === "number") return dim;
      const size = sizes.get(dim ?? "?");
      if (size !== undefined) return size;
      throw wrongUsage(
        `the input ${quote(name)} has the dimension ${dim ?? "?"}; give its size, such as --dim '${dim ?? "?"}=2'`,
      );
    });
    if (type === null || shape === undefined) {
      throw wrongUsage(
        `the input ${quote(name)} has no shape, so no tensor can be made up for it; give one with --feed`,
      );
    }
    feeds[name] = madeUp(name, type.dtype, shape);
  }
  return feeds;
}
