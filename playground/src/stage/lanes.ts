/** Returns each tensor's content on the stage. */

import type { Lane, Layout } from "./layout.ts";
import type { LaneProps } from "./lane-props.ts";
import type { Session } from "../cells/session.ts";
import { NOTHING_SAID, type Cells } from "../cells/cells.ts";
import { MOST_WIRES } from "./wires.ts";

const NO_NUMBERS: ReadonlySet<number> = new Set();
const EMPTY: Cells = { ...NOTHING_SAID, values: [] };

export function laneProps(
  session: Session,
  lane: Lane,
  { metrics, head, hasMaps, lanes, gutters }: Layout,
): Omit<LaneProps, "corner" | "onCorner" | "onReveal" | "onText"> {
  const { state, version, inputs, edits, picture, onSpot, onScrub, isStale } = session;
  const common = {
    lane,
    metrics,
    head,
    hasMap: hasMaps,
    hasTabs: gutters[lanes.indexOf(lane)] === "chips" && (session.links?.count ?? 0) <= MOST_WIRES,
    onSpot,
    onScrub,
    name: lane.name,
  };
  if (lane.id === "output") {
    const schema = version?.outputs[0];
    return {
      ...common,
      id: "output",
      description: schema?.description ?? "",
      dtype: picture?.output.dtype ?? "",
      cells: session.output ?? EMPTY,
      wrongDimensions: NO_NUMBERS,
      isWrong: false,
      isStale,
      remark: remarkOf(session, head),
      edits: null,
    };
  }
  const text = state.inputs[lane.id];
  const view = inputs[lane.id];
  return {
    ...common,
    id: lane.id,
    description: version?.inputs[lane.id]?.description ?? "",
    dtype: text?.dtype ?? "",
    cells: view.cells,
    wrongDimensions: view.dimensions,
    isWrong: view.sentences.length > 0,
    isStale: false,
    remark: "",
    edits: edits[lane.id],
  };
}

/** The remark about a missing output, by header form. */
const STALE: Readonly<Record<Layout["head"], string>> = {
  large: "no output",
  full: "no output",
  short: "no output",
  low: "none",
  line: "none",
};

/** Returns the remark next to the output's data type. */
function remarkOf({ picture, isStale, at, count, rule }: Session, head: Layout["head"]): string {
  if (isStale && picture !== null) return "before the error";
  if (isStale) return STALE[head];
  return rule === null || at < count ? "" : `by ${rule.name}`;
}
