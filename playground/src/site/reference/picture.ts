/**
 * Draws the picture of a call without a browser, with the page's own code for cells, layout and lines. A file is
 * written for each of the two themes.
 */

import { printShape } from "ndscatter/operators";
import { inputView } from "../../cells/input-view.ts";
import { NOTHING_SAID } from "../../cells/cells.ts";
import { tintsOf } from "../../cells/targets.ts";
import { hitsOf, outputCells, viewOf, type Picture } from "../../cells/view.ts";
import { sortFaults } from "../../document/faults.ts";
import { titleOf } from "../../document/title-of.ts";
import type { Preset } from "../../examples/preset.ts";
import { layOut } from "../../stage/arrange.ts";
import type { Layout } from "../../stage/layout.ts";
import { axisOf, placedOf } from "../../stage/placed.ts";
import { verbOf, wiringOf } from "../../stage/wiring.ts";
import { sizeOf } from "../../values/shape.ts";
import type { State } from "../../values/state.ts";
import { sentencesOf, type Scene } from "../../writing/scene.ts";
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

/** The size of the picture. A desktop's text column is at least as wide; on a phone, the picture scrolls separately. */
const ROOM = { width: 760, height: 320, isNarrow: false, least: 22, isFrame: false, bar: 0 };
const WIDEST = 1560;

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
  const scene = example === undefined ? null : sceneOfState(example.preset.state);
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

/** Returns the scene of a state; null for an invalid call. */
export function sceneOfState(state: State): Scene | null {
  const { picture } = viewOf(state);
  if (picture === null) return null;
  const { explanation, output, links } = picture;
  const { version } = explanation;
  if (version === null) return null;
  const faults = sortFaults([]);
  const inputs = state.inputs.map((_, at) => inputView(picture, false, state, at, faults));
  const layout = layoutOf(picture);
  const result = {
    ...NOTHING_SAID,
    ...outputCells(
      picture,
      tintsOf(links, picture.targets, "output", output.size),
      hitsOf(links, "output", output.size),
      links.count,
      null,
    ),
  };
  return {
    title: titleOf({ ...state, opset: version.sinceVersion }),
    sentences: sentencesOf(picture),
    layout,
    lanes: layout.lanes.map(({ id, shape }) => ({
      type: `${id === "output" ? output.dtype : (state.inputs[id]?.dtype ?? "")} ${printShape(shape)}`,
      cells: id === "output" ? result : inputs[id].cells,
      corner: { row: 0, column: 0 },
    })),
    wiring: wiringOf(picture, layout, []),
    verb: verbOf(picture),
  };
}

/** Places the tables side by side; the picture is widened until they fit. */
function layoutOf(picture: Picture): Layout {
  const { state, output, printed, explanation } = picture;
  const { version } = explanation;
  const digits = [...state.inputs.map((text) => widest(text?.values ?? [])), widest(printed.texts)];
  const tensors = placedOf(state, version, output.shape, digits);
  const call = { op: state.op, axis: axisOf(state, version), tensors };
  let { width } = ROOM;
  for (;;) {
    const layout = layOut(call, { ...ROOM, width });
    if (layout.tiers.length === 1 || width > WIDEST) return layout;
    width += 100;
  }
}

const widest = (texts: readonly string[]): number =>
  texts.reduce((most, { length }) => Math.max(most, length), 1) + 2;
