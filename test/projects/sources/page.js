/** The page of each bundler: it shows its results as JSON. */

import { pageResults } from "./page-results.js";

const shown = document.querySelector("pre");
shown.textContent = JSON.stringify(await pageResults(location.origin));
shown.dataset.state = "done";
