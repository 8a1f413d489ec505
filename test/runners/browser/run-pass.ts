/** Runs a bundle of tests in one place of a browser. */

import type { Bundle } from "./bundle.ts";
import { open, type Installed } from "./launch.ts";
import type { Pass } from "./passes.ts";
import { serve } from "./server.ts";
import { Tally } from "./tally.ts";

/** After so many milliseconds without a report a test hangs. */
const PATIENCE = 120_000;

/** Opens the page of a pass, and listens until the suite ends. */
export async function runPass(
  installed: Installed,
  pass: Pass,
  { script, leftOut }: Bundle,
): Promise<Tally> {
  const { name, place, headers } = pass;
  const tally = new Tally(`${installed.browser.name}, ${name}`, place);
  let end = (_failure: string | null): void => {};
  const ended = new Promise<string | null>((resolve) => {
    end = resolve;
  });
  const hangs = (): void => end(`nothing was heard for ${PATIENCE / 1000} s`);
  const alarm = setTimeout(hangs, PATIENCE);
  tally.leaveOut(leftOut);
  const server = await serve(script, headers, (report) => {
    alarm.refresh();
    tally.add(report);
    if (report.type === "end") end(null);
  });
  const address = place.isPage ? server.page : server.pageOfWorker;
  const page = open(installed, address, place.isIsolated);
  void page.group.ended.then(() => end(`the browser ended:\n${page.group.output}`));
  const failure = await ended;
  if (failure !== null) tally.fail(failure);
  clearTimeout(alarm);
  await page.close();
  server.close();
  tally.close();
  return tally;
}
