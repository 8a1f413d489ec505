/**
 * The commands of docs/arrays as they stand, each in a folder with the inputs that it names. Commands that need Redis, Slurm,
 * GNU parallel or a shared folder are not run here: `bullmq.slow.test.ts` and `slurm.slow.test.ts` run such jobs.
 */

import assert from "node:assert/strict";
import * as fs from "node:fs";
import * as path from "node:path";
import { test } from "node:test";
import { tensor } from "../src/core/tensor/tensor.ts";
import { writeNpy } from "../src/entries/npy.ts";
import { createArray } from "../src/entries/zarr.ts";
import { serveFiles } from "./support/http-server.ts";
import { blocksOf, inFolder, ndscatter, read } from "./support/documents.ts";

const ELSEWHERE = /\/shared|--redis|--slurm|parallel|npm install|^export/;

const COLUMNS = 128;

async function storeInputs(folder: string): Promise<void> {
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
    ids: tensor("int64", [2, 1], [3, 700]),
    rows: tensor("float32", [2, COLUMNS], new Float32Array(2 * COLUMNS).fill(5)),
    today: tensor("float32", [2, COLUMNS], new Float32Array(2 * COLUMNS)),
    a: values,
    x: values,
    part: tensor("float32", [1000, 13], new Float32Array(13_000)),
  };
  for (const [name, one] of Object.entries(files))
    fs.writeFileSync(at(`${name}.npy`), writeNpy(one));
}

const JOB = "run ScatterND table.zarr ids.npy rows.npy -o new.zarr --job job/";

for (const file of ["README.md", "chunked.md", "zarr.md"]) {
  const lines = blocksOf(read(`docs/arrays/${file}`), "sh").flatMap((block) =>
    block.trimEnd().split("\n"),
  );
  for (const line of lines) {
    if (ELSEWHERE.test(line)) continue;
    test(`docs/arrays/${file}: ${line}`, () =>
      inFolder(async (folder) => {
        await storeInputs(folder);
        const [, words = ""] = /^ndscatter (.*?)(?:\s+#.*)?$/.exec(line) ?? [];
        if (words.startsWith("job ")) await ndscatter(JOB, folder);
        // The output of a command is what another command of the page may have as its input.
        const [, out] = / -o (\S+)/.exec(words) ?? [];
        if (out !== undefined && !words.includes("--force"))
          fs.rmSync(path.join(folder, out), { recursive: true, force: true });
        const server = await serveFiles(folder);
        try {
          const local = words.replaceAll("https://host", server.address);
          const { status, stderr } = await ndscatter(local, folder);
          assert.equal(status, 0, stderr);
        } finally {
          server.close();
        }
      }));
  }
}
