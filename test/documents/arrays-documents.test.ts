/**
 * The commands of docs/arrays as they stand, each in a folder with the inputs that it names. Those of distributed.md need
 * Redis, Slurm and a shared folder, so `test/nightly/distributed-documents.test.ts` runs them.
 */

import assert from "node:assert/strict";
import * as fs from "node:fs";
import * as path from "node:path";
import { test } from "node:test";
import { storeInputs } from "../support/document-inputs.ts";
import { serveFiles } from "../support/http-server.ts";
import { blocksOf, inFolder, ndscatter, read } from "../support/documents.ts";

const JOB = "run ScatterND table.zarr ids.npy rows.npy -o new.zarr --job job/";

for (const file of ["README.md", "chunked.md", "zarr.md"]) {
  const lines = blocksOf(read(`docs/arrays/${file}`), "sh").flatMap((block) =>
    block.trimEnd().split("\n"),
  );
  for (const line of lines) {
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
