/** npm's `webgpu`, which is installed on its own: `npm ci --prefix test/gpu --ignore-scripts`. */

import * as path from "node:path";

/** From build/test/gpu/. */
const folder = path.join(import.meta.dirname, "..", "..", "..", "test", "gpu");

/** The module, where it is installed. */
export const WEBGPU = path.join(folder, "node_modules", "webgpu", "index.js");
