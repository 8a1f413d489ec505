/** The example menu: the page's first examples, followed by the presets. */

import { CONFUSIONS_GROUP, PRESETS, type Preset } from "./presets.ts";
import { START } from "./start.ts";

const isConfusion = ({ group }: Preset): boolean => group === CONFUSIONS_GROUP;

/** All examples, with common confusions before examples from specifications. */
export const EXAMPLES: readonly [Preset, ...Preset[]] = [
  ...START,
  ...PRESETS.filter(isConfusion),
  ...PRESETS.filter((one) => !isConfusion(one)),
];
