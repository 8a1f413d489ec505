/**
 * Draws the picture of a call without a browser, with the page's own code for cells, layout and lines. A file is
 * written for each of the two themes.
 */

import { viewOf } from "../../cells/view.ts";
import type { Preset } from "../../examples/preset.ts";
import { sizeOf } from "../../values/shape.ts";
import { sceneOfCall } from "../../writing/scene.ts";
import { toSVG } from "../../writing/svg.ts";
import type { Example } from "./calls.ts";

/** Files of one picture, within the reference's folder. */
export interface Drawn {
  readonly light: string;
  readonly dark: string;
  readonly preset: Preset;
  readonly hash: string;
  readonly files: readonly { readonly name: string; readonly text: string }[];
}

/** The maximum number of elements in a picture that is understood at a glance. */
const MOST_ELEMENTS = 40;

/**
 * Draws the picture at the top of an operator's page: the first example that has a result and small but not trivial
 * tensors.
 */
export function pictureOf(name: string, examples: readonly Example[]): Drawn | null {
  const right = examples.filter(({ explained }) => explained.faults.length === 0);
  const fit = right.find((one) => sizeOfCall(one) >= 6 && sizeOfCall(one) <= MOST_ELEMENTS);
  const example = fit ?? right[0];
  const scene = example === undefined ? null : sceneOfCall(viewOf(example.preset.state));
  if (scene === null) return null;
  const files = (["light", "dark"] as const).map((theme) => ({
    name: `${name}-${theme}.svg`,
    text: toSVG(scene, theme),
  }));
  const { preset, hash } = example;
  return { light: files[0].name, dark: files[1].name, preset, hash, files };
}

/** Returns the size of the largest tensor. */
const sizeOfCall = ({ preset }: Example): number =>
  Math.max(...preset.state.inputs.map((one) => sizeOf(one?.shape ?? [])));
