/** The sentences that can be printed follow the rules of `scripts/messages`, and the script finds all of them. */

import assert from "node:assert/strict";
import * as path from "node:path";
import { test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { ERROR_CODES } from "../src/core/errors.ts";
import { ADVICE } from "../src/cli/advice.ts";
import { IN_BROWSER } from "./support/platform.ts";
