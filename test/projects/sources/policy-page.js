/** The page under a Content-Security-Policy: it also shows which engine runs. */

import { createEngine } from "ndscatter";
import { pageResults } from "./page-results.js";

const { kind, reason } = createEngine({ kind: "wasm" });
const shown = document.querySelector("pre");
const results = await pageResults(location.origin);
shown.textContent = JSON.stringify({ ...results, engine: [kind, reason !== null] });
shown.dataset.state = "done";
