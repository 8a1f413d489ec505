/** Runs the rows on the current adapter: compares the results, repeats them, and times each contestant. */

import { createGpuEngine } from "../../src/entries/webgpu.ts";
import { median, ratioOfRounds } from "../statistics.js";
import { leastBytes } from "./bytes.js";
import { copyRates } from "./copy.js";
import { expectedWords, ourContestants } from "./ours.js";
import { measureGpu, Stamps } from "./timing.js";
import { GPU_ROWS, gpuInputsOf, scaledRow } from "./workloads.js";

/** Software adapters. */
const SOFTWARE = /swiftshader|llvmpipe|lavapipe|software|microsoft basic/i;

/** The number of runs that show whether a result repeats. */
const RUNS = 5;

/**
 * @param {{ scale: number | null, only: string[], peers: string[], samples: number }} settings
 * @param {(message: string) => void} tell
 * @param {(record: object) => void} show receives the measurements so far
 */
export async function runBenchmark({ scale: wanted, only, peers, samples }, tell, show) {
  if (navigator.gpu === undefined) throw new Error("this browser has no WebGPU");
  const found = await navigator.gpu.requestAdapter({ powerPreference: "high-performance" });
  if (found === null) throw new Error("this browser has WebGPU, but no adapter");
  const adapter = describe(found.info);
  const scale = wanted ?? (adapter.isSoftware ? 0.02 : 1);
  tell("devices");
  const parties = await partiesOn(found, peers, tell);
  const { device, findings } = parties;
  const stamps = device.features.has("timestamp-query") ? new Stamps(device) : null;
  const pace = { samples, sample: adapter.isSoftware ? 10 : 50 };
  tell("plain copies");
  const record = {
    adapter,
    browser: browserName(),
    date: new Date().toISOString().slice(0, 10),
    scale,
    samples,
    timing: stamps === null ? "times of the wall clock" : "times by timestamps",
    copy: await copyRates(device, stamps, pace),
    rows: [],
    findings,
  };
  const rows = GPU_ROWS.filter(
    ({ name }) => only.length === 0 || only.some((text) => name.includes(text)),
  );
  for (const [position, base] of rows.entries()) {
    tell(`${position + 1}/${rows.length} ${base.name}`);
    const row = scaledRow(base, scale);
    record.rows.push(await measureRow(row, parties, stamps, pace));
    show(record);
  }
  return record;
}

/** Returns the library and its peers on one device: that of onnxruntime-web, which accepts no other. */
async function partiesOn(adapter, peers, tell) {
  const findings = [];
  const load = async (name, start) => {
    if (!peers.includes(name)) return null;
    try {
      return await start();
    } catch (error) {
      findings.push(`${name} cannot be used: ${firstLine(error)}`);
      return null;
    }
  };
  const runtime = await load("onnxruntime-web", async () => {
    const { runtimeContestant, runtimeDevice } = await import("./onnxruntime.js");
    return { prepare: runtimeContestant, device: await runtimeDevice() };
  });
  const device = runtime?.device ?? (await ownDevice(adapter));
  device.addEventListener("uncapturederror", ({ error }) => {
    const text = `an error of the device: ${firstLine(error)}`;
    if (!findings.includes(text)) findings.push(text);
  });
  void device.lost.then(({ message }) => tell(`the device is lost: ${message}`));
  const tfjs = await load("tfjs", async () => {
    const { startTfjs, tfjsContestant } = await import("./tfjs.js");
    await startTfjs(device, adapter.info);
    return { prepare: tfjsContestant };
  });
  const engine = await createGpuEngine({ device });
  const prepares = [
    (row, inputs) => ourContestants(engine, row, inputs),
    ...(runtime === null ? [] : [(row, inputs) => runtime.prepare(device, row, inputs)]),
    ...(tfjs === null ? [] : [tfjs.prepare]),
  ];
  return { device, prepares, findings };
}

async function ownDevice(adapter) {
  const { maxBufferSize, maxStorageBufferBindingSize } = adapter.limits;
  return adapter.requestDevice({
    requiredLimits: { maxBufferSize, maxStorageBufferBindingSize },
    requiredFeatures: adapter.features.has("timestamp-query") ? ["timestamp-query"] : [],
  });
}

/** One row: first the check of results, then the times. */
async function measureRow(row, { device, prepares }, stamps, pace) {
  const inputs = gpuInputsOf(row);
  const expected = expectedWords(row, inputs);
  const contestants = [];
  const results = [];
  for (const prepare of prepares) {
    try {
      const made = await prepare(row, inputs);
      const list = made === null ? [] : Array.isArray(made) ? made : [made];
      for (const one of list) {
        const result = { name: one.name, ...(await check(one, expected)) };
        results.push(one.work === undefined ? result : { ...result, work: await one.work() });
        await one.call();
        one.flush?.();
      }
      contestants.push(...list);
    } catch (error) {
      const name = ["ndscatter", "onnxruntime-web", "tfjs"][prepares.indexOf(prepare)];
      results.push({ name, error: firstLine(error) });
    }
  }
  const times = await measureGpu(device, stamps, contestants, pace);
  const least = leastBytes(row, inputs.indices);
  const ours = judged(times.get("ndscatter"));
  for (const result of results) {
    const one = times.get(result.name);
    if (one === undefined) continue;
    const ms = median(judged(one));
    Object.assign(result, {
      ms,
      wall: median(one.wall),
      rate: least / 1e6 / ms,
      ratio: ours === null ? null : ratioOfRounds(judged(one), ours),
    });
  }
  for (const { release } of contestants) release?.();
  const { name, op, dtype, reduction, data, indices } = row;
  return { name, op, dtype, reduction, data, indices, least, results };
}

/** Returns the times that are judged: those of the device if all rounds have them. */
function judged(times) {
  if (times === undefined) return null;
  return times.device.length === times.wall.length ? times.device : times.wall;
}

/** Returns the number of wrong cells in the first wrong run, and the number of different results in several runs. */
async function check({ output }, expected) {
  const seen = [];
  let wrong = 0;
  for (let run = 0; run < RUNS; run++) {
    const words = (await output()).slice();
    if (words.length !== expected.length)
      throw new Error(`${words.length} words instead of ${expected.length}`);
    if (wrong === 0) wrong = differences(words, expected);
    if (!seen.some((one) => differences(one, words) === 0)) seen.push(words);
  }
  return { wrong, size: expected.length, variants: seen.length };
}

function differences(a, b) {
  let count = 0;
  for (let p = 0; p < a.length; p++) if (a[p] !== b[p]) count++;
  return count;
}

function describe({ vendor, architecture, device, description, isFallbackAdapter = false }) {
  const name =
    [vendor, architecture, description].filter((text) => text !== "").join(" ") || "unnamed";
  const isSoftware = isFallbackAdapter || SOFTWARE.test(`${name} ${device}`);
  return { name, vendor, architecture, device, description, isSoftware };
}

/** Returns the browser and its version, from the user agent without the words that all browsers have in common. */
function browserName() {
  const match = /(Firefox|Edg|Chrome|Version)\/[\d.]+/.exec(navigator.userAgent);
  return match === null ? navigator.userAgent : match[0];
}

const firstLine = (error) => String(error.message ?? error).split("\n")[0];
