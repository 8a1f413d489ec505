/** The visible part of a call, as data that `svg.ts` draws: saved pictures, thumbnails and the site's pictures. */

import { printShape } from "ndscatter/operators";
import type { Cells } from "../cells/cells.ts";
import { NOTHING_SAID } from "../cells/cells.ts";
import { inputView } from "../cells/input-view.ts";
import { outputShapeOf } from "../cells/output-shape.ts";
import { tintsOf } from "../cells/targets.ts";
import { hitsOf, outputCells, type CallView, type Picture } from "../cells/view.ts";
import { sortFaults } from "../document/faults.ts";
import { titleOf } from "../document/title-of.ts";
import { layOut } from "../stage/arrange.ts";
import type { Corner, Layout } from "../stage/layout.ts";
import { axisOf, placedOf } from "../stage/placed.ts";
import { NO_WIRING, verbOf, wiringOf, type Wiring } from "../stage/wiring.ts";
import { routeOf } from "../story/route.ts";
import { summaryOf } from "../story/summary.ts";

export interface SceneLane {
  /** The line under the name, such as the data type and shape, `float32 [4, 3]`. */
  readonly type: string;
  readonly cells: Cells;
  readonly corner: Corner;
  /** Whether a cell with another value is the right one, is wrong, or is one of several possible values. */
  markOf?(cell: number): "right" | "wrong" | "open";
}

export interface Scene {
  /** The operator and its attributes, such as `ScatterND-18, reduction = add`. */
  readonly title: string;
  /** What the call does; for an invalid call, its shape rules and faults. */
  readonly sentences: readonly string[];
  readonly layout: Layout;
  /** Tensors in the order of the layout. */
  readonly lanes: readonly SceneLane[];
  readonly wiring: Wiring;
  /** The verb above the lines, such as `add`. */
  readonly verb: string;
}

/** Returns the sentences of a picture that explains itself: the headline, and where each part goes. */
export function sentencesOf({ explanation, links, state }: Picture): readonly string[] {
  const [headline = ""] = summaryOf(explanation, links.tuples, state.attributes["reduction"]);
  const sentences = [headline.replaceAll("`", ""), routeOf(explanation)];
  return sentences.filter((one) => one !== "");
}

/** The size of a picture without a stage. It is widened until the tables are side by side. */
const ROOM = { width: 760, height: 320, isNarrow: false, least: 22, isFrame: false, bar: 0 };
const WIDEST = 1560;

/** Returns the scene of a call that is on no stage; null for an unknown operator. */
export function sceneOfCall(call: CallView): Scene | null {
  const { state, picture, explanation } = call;
  const version = explanation?.version ?? null;
  if (version === null) return null;
  const faults = sortFaults(call.faults);
  const inputs = state.inputs.map((_, at) => inputView(picture, false, state, at, faults).cells);
  const output: Cells = { ...NOTHING_SAID, ...resultOf(picture) };
  const cellsOf = (id: number | "output"): Cells => (id === "output" ? output : inputs[id]);
  const ids = [...inputs.keys(), "output" as const];
  const digits = ids.map((id) => widest(cellsOf(id).values));
  const tensors = placedOf(state, version, outputShapeOf(call), digits);
  const layout = inOneTier({ op: state.op, axis: axisOf(state, version), tensors });
  const typeOf = (id: number | "output"): string =>
    (id === "output" ? picture?.output.dtype : state.inputs[id]?.dtype) ?? "";
  return {
    title: titleOf({ ...state, opset: version.sinceVersion }),
    sentences: picture === null ? [] : sentencesOf(picture),
    layout,
    lanes: layout.lanes.map(({ id, shape }) => ({
      type: `${typeOf(id)} ${printShape(shape)}`,
      cells: cellsOf(id),
      corner: { row: 0, column: 0 },
    })),
    wiring: picture === null ? NO_WIRING : wiringOf(picture, layout, []),
    verb: verbOf(picture),
  };
}

function resultOf(picture: Picture | null): Pick<Cells, "values" | "tints" | "hits"> {
  if (picture === null) return { values: [], tints: new Int8Array(0), hits: null };
  const { links, targets, output } = picture;
  const tints = tintsOf(links, targets, "output", output.size);
  return outputCells(picture, tints, hitsOf(links, "output", output.size), links.count, null);
}

/** Returns the layout with all tables side by side, in the smallest picture that has room for them. */
function inOneTier(call: Parameters<typeof layOut>[0]): Layout {
  for (let { width } = ROOM; ; width += 100) {
    const layout = layOut(call, { ...ROOM, width });
    if (layout.tiers.length === 1 || width > WIDEST) return layout;
  }
}

/** Returns the length of the longest text, with space for a tab. */
const widest = (texts: readonly string[]): number =>
  texts.reduce((most, { length }) => Math.max(most, length), 1) + 2;
