/** What the page of each bundler computes. NumPy and zarr-python give the values that `rows.ts` expects. */

import { gather, scatterND, tensor } from "ndscatter";
import { readNpy, writeNpy } from "ndscatter/npy";
import { openArray } from "ndscatter/zarr";

/** Returns a value, or the code and the expected value of an error. */
async function valueOf(compute) {
  try {
    return await compute();
  } catch (error) {
    return { code: error.code ?? error.message, expected: error.expected ?? null };
  }
}

const readRows = async (location, options) => {
  const table = await openArray(location, options);
  return (await table.read([1, 0], [2, 3])).toArray();
};

/** @param origin the address of the server of the array, without a slash at its end */
export async function pageResults(origin) {
  const data = tensor("float32", [4], [1, 2, 3, 4]);
  const s3 = {
    endpoint: origin,
    region: "us-east-1",
    accessKeyId: "id",
    secretAccessKey: "key",
  };
  return {
    sums: scatterND(data, [[1], [3]], [10, 20], { reduction: "add" }).toArray(),
    last: gather(readNpy(writeNpy(data)), [-1, 0]).toArray(),
    table: await valueOf(() => readRows(`${origin}/bucket/table.zarr`)),
    signed: await valueOf(() => readRows("s3://bucket/table.zarr", { s3 })),
  };
}
