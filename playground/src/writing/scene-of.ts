/** Captures the visible stage as data for a saved picture. */

import { printShape } from "ndscatter/operators";
import { rulesBeside } from "../document/faults.ts";
import { titleOf } from "../document/title-of.ts";
import type { Layout } from "../stage/layout.ts";
import { sentencesOf, type Scene } from "./scene.ts";
import { NO_WIRING, wiringOf } from "../stage/wiring.ts";
import { ORIGIN, type Windows } from "../stage/use-corners.ts";
import { laneProps } from "../stage/lanes.ts";
import type { Session } from "../cells/session.ts";

export function sceneOf(session: Session, layout: Layout, { corners }: Windows): Scene {
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
    layout: { ...layout, tiers: [layout.lanes.map((_, position) => position)] },
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
  };
}
