/** Gives the properties of the page's tests the seed of the run. Each process of the tests loads this by `--import`. */

import fc from "fast-check";

fc.configureGlobal({ seed: Number(process.env["SEED"]) >>> 1 });
