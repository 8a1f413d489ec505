/** Arrays of which a mutant changes a file, and a reader of them. */

import * as fs from "node:fs";
import * as path from "node:path";
import { tensor } from "../../../src/core/tensor/tensor.ts";
import { openArray } from "../../../src/entries/zarr.ts";
import { writeNpy } from "../../../src/entries/npy.ts";
import { store } from "../../support/job-files.ts";
import { mutateBytes } from "./mutate.ts";
import { json, type Kind, type Places } from "./places.ts";
import { Sandbox } from "./sandbox.ts";

/** Arrays of several formats, each of which a mutant changes in one file. */
export function arrays(places: Places, find: RegExp, isJson: boolean): () => Promise<Kind> {
  return async () => {
    const { home } = places;
    fs.rmSync(home, { recursive: true, force: true });
    fs.mkdirSync(home);
    const values = tensor(
      "int16",
      [6, 4],
      Array.from({ length: 24 }, (_, i) => i),
    );
    for (const codec of ["none", "gzip", "zstd", "crc32c", "blosc"])
      await store(
        path.join(home, `${codec}.zarr`),
        values,
        [4, 4],
        codec === "none" ? [] : [codec],
      );
    const old = path.join(home, "v2.zarr");
    fs.mkdirSync(old);
    const metadata = {
      zarr_format: 2,
      shape: [4],
      chunks: [2],
      dtype: "<i2",
      compressor: { id: "zlib", level: 1 },
      fill_value: 0,
      order: "C",
      filters: null,
      dimension_separator: ".",
    };
    fs.writeFileSync(path.join(old, ".zarray"), JSON.stringify(metadata));
    fs.writeFileSync(path.join(old, ".zattrs"), JSON.stringify({ _ARRAY_DIMENSIONS: ["x"] }));
    fs.writeFileSync(path.join(home, "array.npy"), writeNpy(values));
    const sandbox = new Sandbox(home);
    const names = sandbox.files.filter((name) => find.test(name));
    return async (random) => {
      const name = names[random(names.length)];
      const bytes = sandbox.read(name);
      const mutant = isJson ? json(places)(bytes, random) : mutateBytes(bytes, random);
      const file = sandbox.at(name);
      fs.writeFileSync(file, mutant);
      try {
        const array = await openArray(sandbox.at(name.split("/")[0]));
        const shape = array.shape.map((dim) => Math.min(dim, 3));
        await array.read(
          shape.map(() => 0),
          shape,
        );
        await array.stateOf(
          shape.map(() => 0),
          shape,
        );
      } finally {
        fs.writeFileSync(file, bytes);
      }
      return "read";
    };
  };
}
