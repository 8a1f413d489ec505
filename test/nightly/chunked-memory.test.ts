/** Chunked jobs keep to the memory that they are allowed, whatever the chunks are encoded with: the peak of a process. */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { after, test } from "node:test";
import { tensor, type Tensor } from "../../src/core/tensor/tensor.ts";
import { createArray, type CreateOptions } from "../../src/entries/zarr.ts";
import { MAIN } from "../support/cli.ts";
import { randomFrom } from "../support/random.ts";

const home = fs.mkdtempSync(path.join(os.tmpdir(), "ndscatter-chunked-memory-"));
after(() => fs.rmSync(home, { recursive: true, force: true }));

const COLUMNS = 256;
/** 60 MB of data and 48 of updates, in chunks of 12 MB: many times what a thread has. */
const CHUNK = 12 * 1024;
const ROWS = 5 * CHUNK;
const UPDATES = 4 * CHUNK;
const ALLOWED = 256;

const ENCODINGS: Readonly<Record<string, Partial<CreateOptions>>> = {
  none: {},
  gzip: { codecs: [{ name: "gzip", configuration: { level: 1 } }] },
  zstd: { codecs: [{ name: "zstd", configuration: { level: 1, checksum: false } }] },
  blosc: { codecs: [{ name: "blosc", configuration: { clevel: 1 } }] },
  "zstd of transposed chunks": {
    codecs: [
      { name: "transpose", configuration: { order: [1, 0] } },
      { name: "zstd", configuration: { level: 1, checksum: false } },
    ],
  },
  shards: { shards: [CHUNK, COLUMNS], chunkShape: [CHUNK / 8, COLUMNS], codecs: ["zstd"] },
};

const random = randomFrom(20261123);

/** Numbers that compress to three quarters. */
const numbers = (size: number): Float32Array =>
  Float32Array.from({ length: size }, () => random(2 ** 16) / 16);
const block = numbers(CHUNK * COLUMNS);

async function store(file: string, rows: number, options: Partial<CreateOptions>): Promise<void> {
  const shape = [rows, COLUMNS];
  const array = await createArray(file, {
    dtype: "float32",
    shape,
    chunkShape: [CHUNK, COLUMNS],
    ...options,
  });
  for (let row = 0; row < rows; row += CHUNK) {
    await array.write(tensor("float32", [CHUNK, COLUMNS], block), [row, 0]);
  }
}

async function storeIndices(file: string, options: Partial<CreateOptions>): Promise<void> {
  const shape = [UPDATES, 1];
  const { codecs = [] } = options;
  const isTurned = codecs.some((codec) => typeof codec !== "string" && codec.name === "transpose");
  const own = { dtype: "int64", shape, chunkShape: shape, codecs: isTurned ? [] : codecs } as const;
  const values: Tensor = tensor(
    "int64",
    shape,
    BigInt64Array.from({ length: UPDATES }, () => BigInt(random(ROWS))),
  );
  await (await createArray(file, own)).write(values);
}

const PRINT_PEAK = `
  import fs from "node:fs";
  import { isMainThread } from "node:worker_threads";
  if (isMainThread) process.on("exit", () => {
    const [, kilobytes] = /VmHWM:\\s*(\\d+)/.exec(fs.readFileSync("/proc/self/status", "utf8"));
    console.error("peak " + kilobytes / 1024);
  });`;

/** Runs the command, and gives the most megabytes that its process had at once. */
function peakOf(args: readonly string[]): number {
  const preload = `data:text/javascript,${encodeURIComponent(PRINT_PEAK)}`;
  const all = ["--import", preload, MAIN, ...args, "--memory", `${ALLOWED}M`, "--threads", "2"];
  const { status, stderr } = spawnSync(process.execPath, all, { encoding: "utf8" });
  assert.equal(status, 0, stderr);
  return Number(/^peak (\S+)$/m.exec(stderr)?.[1]);
}

const skip = fs.existsSync("/proc/self/status") ? false : "there is no /proc";

for (const [name, options] of Object.entries(ENCODINGS)) {
  test(`${ALLOWED} MB are kept with ${name}`, { skip }, async (context) => {
    const folder = path.join(home, name.replaceAll(" ", "-"));
    const at = (file: string): string => path.join(folder, file);
    await store(at("data.zarr"), ROWS, options);
    await store(at("updates.zarr"), UPDATES, options);
    await storeIndices(at("indices.zarr"), options);
    const inputs = ["data.zarr", "indices.zarr"].map(at);
    const scatter = ["ScatterND", "--attr", "reduction=add", ...inputs, at("updates.zarr")];
    for (const call of [scatter, ["GatherND", ...inputs]]) {
      const peak = peakOf(["run", ...call, "-o", at("out.zarr")]);
      context.diagnostic(`${call[0]}: ${Math.round(peak)} MB`);
      assert.ok(peak <= 1.2 * ALLOWED, `${call[0]}: ${peak} MB`);
      fs.rmSync(at("out.zarr"), { recursive: true });
    }
    fs.rmSync(folder, { recursive: true });
  });
}
