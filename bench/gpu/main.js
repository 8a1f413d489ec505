/** `npm run bench:gpu`: measures on the adapter that Chromium finds on this machine. README.md has the instructions. */

import fs from "node:fs";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { chromium } from "playwright-core";
import { servePage } from "../../scripts/serve-page.js";
import { table } from "../table.js";
import { HEAD, isFaulty, LEGEND, linesOf, machineOf, verdictsOf } from "./report.js";
import { GPU_ROWS } from "./workloads.js";

const HELP = `npm run bench:gpu -- [options], or without building: node bench/gpu/main.js [options]

  --serve           serves the page for any browser until it is interrupted
  --scale X         shrinks the first axes  (1; 0.02 where the adapter is a program)
  --only TEXT       only rows whose name contains TEXT; may be repeated
  --peers A,B       of onnxruntime-web and tfjs, or "none"                    (all)
  --samples N       samples of each contestant of a row                         (7)
  --flags "A B"     further flags of Chromium, such as those that enable Vulkan
  --minutes N       gives up after so long                                     (20)
  --publish         writes bench/gpu/results.json, which is kept
  --out FILE        where else the results go    (bench/gpu/results.partial.json)
  --help

CHROMIUM names the browser; /usr/bin/chromium otherwise.
`;

const FLAGS = [
  "--headless=new",
  "--no-sandbox",
  "--enable-unsafe-webgpu",
  // Without this flag, timestamps have steps of 100 microseconds.
  "--enable-webgpu-developer-features",
];

const HERE = fileURLToPath(new URL(".", import.meta.url));
const tell = (/** @type {string} */ message) => process.stderr.write(`${message}\n`);

const string = { type: "string" };
const flag = { type: "boolean", default: false };
const OPTIONS = {
  serve: flag,
  scale: string,
  only: { type: "string", multiple: true },
  peers: string,
  samples: string,
  flags: string,
  minutes: string,
  publish: flag,
  out: string,
  help: flag,
};
const values = valuesOf();
if (values === null) process.exitCode = 2;
else if (values.help) process.stdout.write(HELP);
else process.exitCode = await main(values);

/** Returns the options; null, after a message, if one is wrong. */
function valuesOf() {
  try {
    return parseArgs({ options: OPTIONS }).values;
  } catch (error) {
    tell(`${error instanceof Error ? error.message : String(error)}; --help lists all`);
    return null;
  }
}

/**
 * @returns {Promise<number>} the exit status: 1 if a result of the library is wrong, 2 for a wrong option, 3 if nothing
 *   can be measured
 */
async function main({ serve, scale, only, peers, samples, flags, minutes, publish, out }) {
  for (const [name, value] of Object.entries({ scale, samples, minutes })) {
    if (value === undefined || Number(value) > 0) continue;
    tell(`--${name} must be a positive number, got ${value}`);
    return 2;
  }
  if (only?.some((text) => !GPU_ROWS.some(({ name }) => name.includes(text)))) {
    tell(`--only: the rows are ${GPU_ROWS.map(({ name }) => name).join(", ")}`);
    return 2;
  }
  const site = await servePage(HERE);
  const query = new URLSearchParams(
    Object.entries({ scale, peers, samples }).filter(([, value]) => value !== undefined),
  );
  for (const text of only ?? []) query.append("only", text);
  if (serve) {
    process.stdout.write(
      `${site.address}?${query} measures when asked to; Ctrl+C ends the server\n`,
    );
    return 0;
  }
  query.set("run", "");
  try {
    const more = flags?.split(" ") ?? [];
    const record = await measureIn(`${site.address}?${query}`, more, Number(minutes ?? 20));
    const text = [...machineOf(record), "", table(HEAD, linesOf(record)), `${LEGEND}\n`];
    process.stdout.write(`${[...text, ...verdictsOf(record)].join("\n")}\n`);
    const file = out ?? `${HERE}${publish ? "results.json" : "results.partial.json"}`;
    fs.writeFileSync(file, `${JSON.stringify(record, null, 1)}\n`);
    tell(`written to ${file}`);
    return isFaulty(record) ? 1 : 0;
  } catch (error) {
    tell(String(error.message).split("\n")[0]);
    return 3;
  } finally {
    site.close();
  }
}

/** Opens the page in Chromium, and waits for its results. */
async function measureIn(address, flags, minutes) {
  const executablePath = process.env.CHROMIUM ?? "/usr/bin/chromium";
  const browser = await chromium.launch({ executablePath, args: [...FLAGS, ...flags] });
  try {
    const page = await browser.newPage();
    return await new Promise((resolve, reject) => {
      const late = () => reject(new Error(`nothing was measured in ${minutes} minutes`));
      setTimeout(late, minutes * 60_000).unref();
      const fail = (text) => reject(new Error(text));
      page.on("pageerror", ({ message }) => fail(message));
      page.on("crash", () => fail("the page crashed"));
      void (async () => {
        await page.exposeFunction("onProgress", tell);
        await page.exposeFunction("onRecord", resolve);
        await page.exposeFunction("onFailure", fail);
        await page.goto(address);
      })().catch(reject);
    });
  } finally {
    await browser.close();
  }
}
