/**
 * The page of the benchmark. Its address may have `scale`, `only` (more than once), `peers`, `samples`, and `run`,
 * which starts it automatically.
 */

import { runBenchmark } from "./run.js";
import { HEAD, LEGEND, linesOf, machineOf, verdictsOf } from "./report.js";

const element = (id) => document.querySelector(`#${id}`);
const form = element("form");
const params = new URLSearchParams(location.search);
form.elements.scale.value = params.get("scale") ?? "";
element("legend").textContent = LEGEND;

form.addEventListener("submit", (event) => {
  event.preventDefault();
  void start();
});
element("copy").addEventListener("click", () => {
  void navigator.clipboard.writeText(element("json").value);
});
if (params.has("run")) void start();

async function start() {
  const button = form.querySelector("button");
  button.disabled = true;
  const tell = (message) => {
    element("progress").textContent = message;
    globalThis.onProgress?.(message);
  };
  try {
    const record = await runBenchmark(settingsOf(), tell, show);
    tell("done");
    offer(record);
    globalThis.onRecord?.(record);
  } catch (error) {
    tell(`It failed: ${error.message}`);
    globalThis.onFailure?.(String(error.stack ?? error));
  }
  button.disabled = false;
}

function settingsOf() {
  const scale = Number(form.elements.scale.value);
  return {
    scale: scale > 0 ? scale : null,
    only: params.getAll("only"),
    peers: params.get("peers")?.split(",") ?? ["onnxruntime-web", "tfjs"],
    samples: Number(params.get("samples") ?? 7),
  };
}

/** Shows the measurements so far. */
function show(record) {
  element("machine").textContent = machineOf(record).join("\n");
  const table = element("table");
  table.replaceChildren();
  const head = table.createTHead().insertRow();
  for (const text of HEAD)
    head.append(Object.assign(document.createElement("th"), { textContent: text }));
  const body = table.createTBody();
  for (const line of linesOf(record)) {
    const row = body.insertRow();
    for (const text of line) row.insertCell().textContent = text;
  }
  element("verdicts").textContent = verdictsOf(record).join("\n");
}

/** Offers the record as JSON. */
function offer(record) {
  const text = JSON.stringify(record, null, 1);
  element("json").value = text;
  const blob = new Blob([text], { type: "application/json" });
  element("download").href = URL.createObjectURL(blob);
  element("results").hidden = false;
}
