/** Adds rows to a table in a Zarr array, chunk by chunk. A second start continues an interrupted job. */

import { existsSync } from "node:fs";
import { full, tensor } from "ndscatter";
import { scatterChunked } from "ndscatter/chunked";
import { createArray, openArray } from "ndscatter/zarr";

const [ROWS, WIDTH, UPDATES] = [100_000, 16, 20_000];

// Replace this part by your own arrays. The table is created last, so that it exists only if the others are complete.
if (!existsSync("table.zarr")) {
  const create = (path, dtype, shape, chunkShape) =>
    createArray(path, { dtype, shape, chunkShape, overwrite: true });
  const ids = await create("ids.zarr", "int64", [UPDATES, 1], [UPDATES, 1]);
  const id = BigInt64Array.from({ length: UPDATES }, (_, at) => BigInt((at * 7919) % 10_000));
  await ids.write(tensor(id, [UPDATES, 1]));
  const rows = await create("rows.zarr", "float32", [UPDATES, WIDTH], [UPDATES, WIDTH]);
  await rows.write(full("float32", [UPDATES, WIDTH], 1));
  await create("table.zarr", "float32", [ROWS, WIDTH], [10_000, WIDTH]);
}

const [table, ids, rows] = await Promise.all(
  ["table.zarr", "ids.zarr", "rows.zarr"].map((path) => openArray(path)),
);
const sums = await scatterChunked(table, ids, rows, {
  reduction: "add",
  out: "sums.zarr",
  job: "job",
  memory: 512 * 2 ** 20,
});
const first = await sums.read([0, 0], [3, 2]);
console.log(`rows 0 to 2 of ${sums.shape[0]}: ${JSON.stringify(first.toArray())}`);
