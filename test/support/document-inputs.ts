/** The arrays for the commands of docs/arrays: a table of ones, updates of two of its rows, and others by name. */

import * as fs from "node:fs";
import * as path from "node:path";
import { tensor } from "../../src/core/tensor/tensor.ts";
import { writeNpy } from "../../src/entries/npy.ts";
import { createArray } from "../../src/entries/zarr.ts";
import { makeZip } from "./zip.ts";

const COLUMNS = 128;

/** The table rows in `ids.npy`; `rows.npy` has fives for them. */
export const IDS = [3, 700];

export async function storeInputs(folder: string): Promise<void> {
  const at = (name: string): string => path.join(folder, name);
  const values = tensor("float32", [1200, COLUMNS], new Float32Array(1200 * COLUMNS).fill(1));
  for (const name of ["table.zarr", "a.zarr", "x.zarr", "group.zarr/b"]) {
    const options = { dtype: "float32", shape: values.shape, chunkShape: [500, COLUMNS] } as const;
    const array = await createArray(at(name), { ...options, dimensionNames: ["time", "x"] });
    await array.write(values);
  }
  const group = { zarr_format: 3, node_type: "group", attributes: {} };
  fs.writeFileSync(at("group.zarr/zarr.json"), JSON.stringify(group));
  fs.mkdirSync(at("old-v2.zarr"));
  const old = { zarr_format: 2, shape: [4], chunks: [2], dtype: "<i2", order: "C" };
  const rest = { compressor: null, fill_value: 0, filters: null };
  fs.writeFileSync(at("old-v2.zarr/.zarray"), JSON.stringify({ ...old, ...rest }));
  const files = {
    ids: tensor("int64", [IDS.length, 1], IDS),
    rows: tensor("float32", [2, COLUMNS], new Float32Array(2 * COLUMNS).fill(5)),
    today: tensor("float32", [2, COLUMNS], new Float32Array(2 * COLUMNS)),
    a: values,
    x: values,
    part: tensor("float32", [1000, 13], new Float32Array(13_000)),
  };
  for (const [name, one] of Object.entries(files))
    fs.writeFileSync(at(`${name}.npy`), writeNpy(one));
  const member = { name: "rows.npy", data: writeNpy(files.rows) };
  fs.writeFileSync(at("saved.npz"), makeZip([member]).bytes);
}
