/**
 * The page's tests that run in every browser. They run in a page of their own around the page in a frame, and post what
 * they find to the program that opened the browser.
 */

import { misplacedIn, missingIn, pictureOf, type Size } from "../support/measure.ts";
import { uncoloured } from "./colours.ts";
import { Frame, WIDE } from "./frame.ts";
import type { Cases, Report } from "./reports.ts";
import { VISITS } from "./visits.ts";

const LAPTOP: Size = { width: 1024, height: 768 };
const PHONE: Size = { width: 390, height: 844 };

/** What has gone wrong in frames since it was asked for. `watch.ts` adds to it. */
const wrongs: string[] = [];
Reflect.set(window, "wrongs", wrongs);

const post = (report: Report): Promise<Response> =>
  fetch("/reports", { method: "POST", body: JSON.stringify(report) });

/** Runs a test. It fails with the sentences that it returns, and with what has gone wrong in the page. */
async function test(name: string, run: () => Promise<readonly string[]>): Promise<void> {
  let sentences: readonly string[];
  try {
    sentences = await run();
  } catch (error) {
    sentences = [String(error)];
  }
  const found = [...sentences, ...wrongs.splice(0)];
  await post({ type: "test", name, failure: found.length === 0 ? null : found.join("\n") });
}

/** Each example: what is shown of it, and where, on three screens. */
async function testPresets({ presets, shown, sum }: Cases): Promise<void> {
  const frame = await Frame.open(sum);
  for (const { id, hash } of presets.filter((one) => shown.includes(one.id))) {
    await test(`${id} at three sizes`, async () => {
      await frame.resize(WIDE);
      await frame.show(hash);
      await post(shownIn(frame, id));
      const found = misplacedIn(pictureOf(frame.document), WIDE).map((one) => `1440 × 900: ${one}`);
      found.push(...uncoloured(frame));
      await frame.resize(LAPTOP);
      const onLaptop = misplacedIn(pictureOf(frame.document), LAPTOP);
      found.push(...onLaptop.map((one) => `1024 × 768: ${one}`));
      await frame.resize(PHONE);
      const onPhone = missingIn(pictureOf(frame.document), PHONE);
      found.push(...onPhone.map((one) => `390 × 844: ${one}`));
      return found;
    });
  }
  frame.close();
}

function shownIn(frame: Frame, id: string): Report {
  const { document } = frame;
  const count = document.querySelectorAll("[data-tensor]").length;
  const inputs = Array.from({ length: count + 3 }, (_, i) =>
    document.querySelector(`[data-tensor="${i}"]`) === null ? null : frame.cells(i),
  );
  const { innerText: story } = frame.one(".story");
  return { type: "shown", id, inputs, output: frame.cells("output"), story };
}

async function runSuite(): Promise<void> {
  const cases: Cases = await (await fetch("/cases.json")).json();
  // First, because Back goes astray in WebKit after a frame with a hundred steps was removed.
  for (const [name, run] of Object.entries(VISITS)) {
    await test(name, async () => {
      const frame = await Frame.open(cases.sum);
      try {
        return await run(frame, cases);
      } finally {
        frame.close();
      }
    });
  }
  await testPresets(cases);
}

runSuite().then(
  () => post({ type: "end", failure: null }),
  (error: unknown) => post({ type: "end", failure: String(error) }),
);
