/** Captures the visible stage as data for a saved picture. */

import { printShape } from "ndscatter/operators";
import { rulesBeside } from "../document/faults.ts";
import { titleOf } from "../document/title-of.ts";
import type { Layout } from "../stage/layout.ts";
import { tintsOf } from "../cells/targets.ts";
import { sentencesOf, type Scene } from "./scene.ts";
import { hitsOf, outputCells, printedAfter, type Picture } from "../cells/view.ts";
import { NO_WIRING, wiringOf } from "../stage/wiring.ts";
import { ORIGIN, type Windows } from "../stage/use-corners.ts";
import { laneProps } from "../stage/lanes.ts";
import type { Session } from "../cells/session.ts";

/**
 * The maximum number of frames in an animation, because nobody watches longer. In a longer call, each frame covers
 * several steps.
 */
const MOST_FRAMES = 60;

/** With `isMoving`, the picture shows the player's steps. */
export function sceneOf(
  session: Session,
  layout: Layout,
  { corners }: Windows,
  isMoving: boolean,
): Scene {
  const { state, version, picture, isStale, explanation, call } = session;
  const isDrawn = picture !== null && !isStale;
  return {
    title: titleOf({ ...state, opset: version?.sinceVersion ?? state.opset }),
    sentences: isDrawn
      ? sentencesOf(picture)
      : [
          ...rulesBeside(explanation).map(({ sentence }) => sentence),
          ...new Set(call.faults.map(({ sentence }) => sentence)),
        ],
    // A saved picture shows the tables side by side, although a phone shows them in tiers.
    layout,
    lanes: layout.lanes.map((lane) => {
      const { dtype, cells } = laneProps(session, lane, layout);
      return {
        type: `${dtype} ${printShape(lane.shape)}`,
        cells,
        corner: corners.get(lane.id) ?? ORIGIN,
      };
    }),
    wiring: isDrawn ? wiringOf(picture, layout, session.description?.orders ?? []) : NO_WIRING,
    verb: session.verb,
    frames: isDrawn && isMoving ? framesOf(picture) : [],
  };
}

function framesOf(picture: Picture): Scene["frames"] {
  const { links, targets, output } = picture;
  const tints = tintsOf(links, targets, "output", output.size);
  const hits = hitsOf(links, "output", output.size);
  const frames = Math.min(links.count, MOST_FRAMES);
  return Array.from({ length: frames + 1 }, (_, frame) => {
    const step = Math.round((frame * links.count) / Math.max(frames, 1));
    return outputCells(picture, tints, hits, step, printedAfter(picture, step, undefined));
  });
}
