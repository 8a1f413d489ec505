/** The root of the repository. This module runs in build/test/support/. */

import { fileURLToPath } from "node:url";

export const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
