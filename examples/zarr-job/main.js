/** Adds rows to a table in a Zarr array, chunk by chunk. A second start continues an interrupted job. */

import { existsSync } from "node:fs";
import { tensor } from "ndscatter";
import { scatterChunked } from "ndscatter/chunked";
import { createArray, openArray } from "ndscatter/zarr";

const [ROWS, WIDTH, UPDATES] = [100_000, 16, 20_000];

// Replace this part by your own arrays.
if (!existsSync("rows.zarr")) {
  await createArray("table.zarr", {
    dtype: "float32",
    shape: [ROWS, WIDTH],
    chunkShape: [10_000, WIDTH],
    overwrite: true,
  });
  const ids = await createArray("ids.zarr", {
    dtype: "int64",
    shape: [UPDATES, 1],
    chunkShape: [UPDATES, 1],
    overwrite: true,
  });
  const id = BigInt64Array.from({ length: UPDATES }, (_, at) => BigInt((at * 7919) % 10_000));
  await ids.write(tensor("int64", [UPDATES, 1], id));
  const rows = await createArray("rows.zarr", {
    dtype: "float32",
    shape: [UPDATES, WIDTH],
    chunkShape: [UPDATES, WIDTH],
  });
  await rows.write(tensor("float32", [UPDATES, WIDTH], new Float32Array(UPDATES * WIDTH).fill(1)));
}

const stop = new AbortController();
process.once("SIGINT", () => stop.abort());
const [table, ids, rows] = await Promise.all(
  ["table.zarr", "ids.zarr", "rows.zarr"].map((path) => openArray(path)),
);
const sums = await scatterChunked(table, ids, rows, {
  reduction: "add",
  out: "sums.zarr",
  job: "job",
  memory: 512 * 2 ** 20,
  signal: stop.signal,
});
const first = await sums.read([0, 0], [3, 2]);
console.log(`rows 0 to 2 of ${sums.shape[0]}: ${JSON.stringify(first.toArray())}`);
