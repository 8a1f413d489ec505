/** Every engine that the suite runs on. A new engine is one line here. */

import { js } from "../../src/engines/js.ts";
import type { Engine } from "../../src/engines/engine.ts";

export const ENGINES: Readonly<Record<string, Engine>> = { js };
