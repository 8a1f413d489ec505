/** The engine in plain JavaScript. */

import { scatterCombine } from "../kernels/combine.ts";
import { gatherMove, scatterMove } from "../kernels/move.ts";
import { coarsen } from "../plan.ts";
import type { Engine } from "./engine.ts";

export const js: Engine = {
  kind: "js",
  threads: 1,
  gather(plan, _dtype, data, out) {
    gatherMove(coarsen(plan), data, out);
  },
  scatter(plan, dtype, reduction, updates, out) {
    if (reduction === "none") scatterMove(coarsen(plan), updates, out);
    else scatterCombine(coarsen(plan), dtype, reduction, updates, out);
  },
};
