/** Runs test files where it is loaded, in a page or a worker, and posts its reports to the server that it came from. */

import fc from "fast-check";
import { createEngine } from "../../../src/core/create-engine.ts";
import { seedOf } from "../../support/random.ts";
import { takeTests, type CollectedTest } from "./node-test.ts";
import type { Place, Report } from "./reports.ts";

/** Milliseconds that reports may wait to be posted together: a request takes longer than most tests. */
const WAIT = 250;

interface Request {
  open(method: string, url: string, isAsynchronous: boolean): void;
  send(body: string): void;
}

class Sender {
  #pending: Report[] = [];
  #lastPost = 0;

  /**
   * Posts reports in their order. The request is synchronous, so that reports leave although the next test may keep
   * this thread busy; and a file that hangs is known, because the report of its start does not wait.
   */
  send(report: Report): void {
    this.#pending.push(report);
    if (report.type === "test" && performance.now() - this.#lastPost < WAIT) return;
    const XMLHttpRequest: new () => Request = Reflect.get(globalThis, "XMLHttpRequest");
    const request = new XMLHttpRequest();
    request.open("POST", "/reports", false);
    request.send(JSON.stringify(this.#pending));
    this.#pending = [];
    this.#lastPost = performance.now();
  }
}

/** The error as text. Only V8's stacks begin with the message. */
function textOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { stack = "" } = error;
  return stack.includes(error.message) ? stack : `${error}\n${stack}`;
}

async function failureOf(run: CollectedTest["run"]): Promise<string | null> {
  try {
    await run({ diagnostic() {} });
    return null;
  } catch (error) {
    return textOf(error);
  }
}

function placeHere(): Place {
  const engine = createEngine({ threads: 2 });
  const { kind, threads } = engine;
  engine.dispose();
  const isIsolated = Boolean(Reflect.get(globalThis, "crossOriginIsolated"));
  return { isPage: "document" in globalThis, isIsolated, kind, threads };
}

/** Reports errors that no test catches as failures. */
function reportStrayErrors(sender: Sender): void {
  const listen: (type: string, listener: (event: object) => void) => void = Reflect.get(
    globalThis,
    "addEventListener",
  );
  for (const [type, key] of Object.entries({ error: "error", unhandledrejection: "reason" })) {
    listen(type, (event) => {
      const failure = textOf(Reflect.get(event, key));
      sender.send({ type: "test", name: `no ${type} event`, skip: false, failure });
    });
  }
}

/** Loads and runs one file after the other. The bundle names the files. */
export async function runSuite(
  files: Readonly<Record<string, () => Promise<unknown>>>,
): Promise<void> {
  fc.configureGlobal({ seed: seedOf("fast-check") });
  const sender = new Sender();
  reportStrayErrors(sender);
  const failure = await failureOf(async () => {
    sender.send({ type: "place", place: placeHere() });
    for (const [file, load] of Object.entries(files)) {
      sender.send({ type: "file", file });
      await load();
      for (const { name, skip, run } of takeTests()) {
        const outcome = skip === false ? await failureOf(run) : null;
        sender.send({ type: "test", name, skip, failure: outcome });
      }
    }
  });
  sender.send({ type: "end", failure });
}
