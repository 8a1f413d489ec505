/** Runs test files where it is loaded, a page or a worker, and writes what comes of it to the console: reports, as JSON. */

import { createEngine } from "../../src/create-engine.ts";
import { takeTests, type CollectedTest } from "./node-test.ts";
import type { Place, Report } from "./reports.ts";

const report = (one: Report): void => console.log(JSON.stringify(one));

async function failureOf(run: CollectedTest["run"]): Promise<string | null> {
  try {
    await run({ diagnostic() {} });
    return null;
  } catch (error) {
    return error instanceof Error ? (error.stack ?? String(error)) : String(error);
  }
}

function placeHere(): Place {
  const { kind, threads } = createEngine({ threads: 2 });
  const isIsolated = Boolean(Reflect.get(globalThis, "crossOriginIsolated"));
  return { isPage: "document" in globalThis, isIsolated, kind, threads };
}

/** Loads and runs one file after the other; which they are is for the bundle to say. */
export async function runSuite(
  files: Readonly<Record<string, () => Promise<unknown>>>,
): Promise<void> {
  const failure = await failureOf(async () => {
    report({ type: "place", place: placeHere() });
    for (const [file, load] of Object.entries(files)) {
      report({ type: "file", file });
      await load();
      for (const { name, skip, run } of takeTests()) {
        const outcome = skip === false ? await failureOf(run) : null;
        report({ type: "test", name, skip, failure: outcome });
      }
    }
  });
  report({ type: "end", failure });
}
