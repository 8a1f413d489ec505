/** Every engine that the suite runs on. A new engine is one line here. */

import { createEngine, type Engine } from "../../src/create-engine.ts";

export const ENGINES: Readonly<Record<string, Engine>> = { js: createEngine({ kind: "js" }) };
