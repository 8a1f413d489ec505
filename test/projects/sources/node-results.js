/** What each test runner and each runtime computes with files and threads. */

import { writeFileSync } from "node:fs";
import { scatterND, tensor } from "ndscatter";
import { gatherChunked, scatterChunked } from "ndscatter/chunked";
import { writeNpy } from "ndscatter/npy";
import { createArray, openArray } from "ndscatter/zarr";

const codeOf = async (promise) => {
  try {
    await promise;
    return "no error";
  } catch ({ code, name }) {
    return typeof code === "string" ? code : name;
  }
};

/** @param folder an empty folder */
export async function nodeResults(folder) {
  const table = await createArray(`${folder}/table.zarr`, {
    dtype: "int32",
    shape: [4, 2],
    chunkShape: [2, 2],
    codecs: ["zstd"],
  });
  await table.write(tensor("int32", [4, 2], [1, 2, 3, 4, 5, 6, 7, 8]), [0, 0]);
  const npy = (name, values) => {
    writeFileSync(`${folder}/${name}.npy`, writeNpy(values));
    return openArray(`${folder}/${name}.npy`);
  };
  const ids = await npy("ids", tensor("int64", [3, 1], [0, 3, 0]));
  const rows = await npy("rows", tensor("int32", [3, 2], [10, 20, 30, 40, 50, 60]));
  const settings = { reduction: "add", threads: 2, memory: 2 ** 28 };
  const out = `${folder}/sums.zarr`;
  const sums = await scatterChunked(table, ids, rows, { ...settings, out, job: `${folder}/job` });
  const taken = await gatherChunked(sums, ids, { out: `${folder}/taken.npy` });
  const signal = AbortSignal.abort();
  return {
    sums: scatterND(tensor("int32", [3], [1, 2, 3]), [[1]], [10]).toArray(),
    taken: (await taken.read()).toArray(),
    missing: await codeOf(openArray(`${folder}/missing.zarr`)),
    missingNpy: await codeOf(openArray(`${folder}/missing.npy`)),
    exists: await codeOf(createArray(out, { dtype: "int8", shape: [1], chunkShape: [1] })),
    aborted: await codeOf(scatterChunked(table, ids, rows, { signal, out: `${folder}/a.zarr` })),
  };
}
