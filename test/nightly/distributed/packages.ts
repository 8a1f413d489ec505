/** The packages of `test/nightly/distributed`, which is installed on its own: `npm install --no-save --prefix test/nightly/distributed --ignore-scripts`. */

import * as fs from "node:fs";
import * as path from "node:path";
import { ROOT } from "../../support/root.ts";
import { HAS_REDIS } from "./redis-server.ts";

export const PACKAGES = path.join(ROOT, "test/nightly/distributed");

const isInstalled = fs.existsSync(path.join(PACKAGES, "node_modules", "bullmq"));

/** The reason to skip a test, false where there is none. */
export const WITHOUT_QUEUE = !HAS_REDIS
  ? "there is no redis-server"
  : isInstalled
    ? false
    : "test/nightly/distributed is not installed";
