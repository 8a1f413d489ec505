/** The page that checks the visitor's GPU adapter or shows the report in a link. */

import { createGpuEngine } from "ndscatter/webgpu";
import { allCalls } from "./calls.ts";
import { checkCalls } from "./check.ts";
import { hashOf, isGood, reportFrom, textOf, verdictOf, type Report } from "./report.ts";

declare const VERSION: string;

const NO_WEBGPU = "This browser has no WebGPU, so nothing can be checked.";
const NO_ADAPTER =
  "This browser has WebGPU, but WebGPU found no adapter, so nothing can be checked.";

/** The adapter options, which are also passed to the engine. */
const FASTEST: GPURequestAdapterOptions = { powerPreference: "high-performance" };
const ANY = { ...FASTEST, featureLevel: "compatibility" };

function start(): void {
  addEventListener("hashchange", showLink);
  element("check").addEventListener("click", () => void check());
  element("copy").addEventListener("click", () => {
    void navigator.clipboard.writeText(element("report").textContent);
  });
  if (gpuOf() === null) say(NO_WEBGPU, "none");
  else element("actions").hidden = false;
  showLink();
}

function element(id: string): HTMLElement {
  const found = document.querySelector<HTMLElement>(`#${id}`);
  if (found === null) throw new Error(`the page has no #${id}`);
  return found;
}

/** Browsers without WebGPU lack `navigator.gpu`. */
const gpuOf = (): GPU | null => ("gpu" in navigator ? navigator.gpu : null);

/** Shows the report in the URL, if the URL contains a report. */
function showLink(): void {
  const report = reportFrom(location.hash);
  if (report !== null) showReport(report, "Report from a link");
}

async function check(): Promise<void> {
  const button = element("check") as HTMLButtonElement;
  button.disabled = true;
  say("", "none");
  element("result").hidden = true;
  try {
    const report = await makeReport();
    if (report === null) say(NO_ADAPTER, "none");
    else {
      history.replaceState(null, "", hashOf(report));
      showReport(report, "Report");
    }
  } catch (error) {
    say(
      `The check could not begin: ${error instanceof Error ? error.message : String(error)}`,
      "bad",
    );
  }
  element("progress").hidden = true;
  element("count").textContent = "";
  button.disabled = false;
}

/** Creates a report, or returns null if no adapter is found. */
async function makeReport(): Promise<Report | null> {
  const adapter = (await gpuOf()?.requestAdapter(FASTEST)) ?? (await gpuOf()?.requestAdapter(ANY));
  if (adapter === null || adapter === undefined) return null;
  const calls = [...allCalls()];
  const progress = element("progress") as HTMLProgressElement;
  progress.hidden = false;
  progress.max = calls.length;
  progress.value = 0;
  const engine = await createGpuEngine();
  let made = 0;
  const found = await checkCalls(engine, calls, (_, different) => {
    made++;
    progress.value = made;
    element("count").textContent =
      `${made} of ${calls.length}${different === 0 ? "" : `, ${different} differ`}`;
  });
  engine.dispose();
  return {
    adapter: nameOf(adapter.info),
    browser: navigator.userAgent,
    date: new Date().toISOString().slice(0, 10),
    version: VERSION,
    ...found,
  };
}

/** Returns the adapter's vendor, architecture, device and description, if the browser provides them. */
function nameOf({ vendor, architecture, device, description }: GPUAdapterInfo): string {
  const told = [vendor, architecture, device, description].filter((part) => part !== "");
  return told.length === 0 ? "an unknown device" : told.join(", ");
}

function showReport(report: Report, title: string): void {
  element("title").textContent = title;
  say(verdictOf(report), isGood(report) ? "good" : "bad");
  element("report").textContent = textOf(report);
  element("link").setAttribute("href", hashOf(report));
  element("result").hidden = false;
}

function say(sentence: string, state: "good" | "bad" | "none"): void {
  const verdict = element("verdict");
  verdict.textContent = sentence;
  verdict.dataset["state"] = state;
}

start();
