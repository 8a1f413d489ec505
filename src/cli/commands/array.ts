/** `ndscatter array`: says what an array in files is, or copies it chunk by chunk into another format or encoding. */

import type { Command } from "commander";
import { wrongUsage } from "../failure.ts";
import type { Io } from "../io.ts";
import { copyArray, type CopyOptions } from "./array-copy.ts";
import { factsOf, openNamed, printFacts } from "./array-facts.ts";
import { JSON_HELP, printJson, quote } from "../text/layout.ts";

interface ArrayCommand extends CopyOptions {
  readonly output?: string;
  readonly json?: boolean;
}

const HELP = `
An array is a folder of Zarr (v3, or v2, which is read but not written), or a
file of NPY (.npy). Without -o nothing is read but what describes it, and the
names and sizes of its chunks.

With -o it is copied, chunk by chunk, so that a few chunks at a time are in
memory. The output's ending is its format: .npy, or .zarr or none for a folder
of Zarr v3. The output is seen when it is complete. Chunks, shards, codecs, fill value and attributes are
those of the array that is read, where it has them and no option says otherwise;
of an NPY file, chunks are whole rows of about 64 MiB.

--codec may be given several times, in the order of the specification: bytes,
gzip, zstd, blosc, crc32c, and a level after a colon. --codec bytes compresses
nothing. With --shards, --chunks is the shape of the chunks in a shard.

Examples:
  ndscatter array a.zarr
  ndscatter array a.zarr --json
  ndscatter array a.npy -o a.zarr --chunks 1000,128 --codec zstd
  ndscatter array a.npy -o a.zarr --chunks 100,128 --shards 10000,128 --codec gzip:9 --codec crc32c
  ndscatter array v2.zarr -o v3.zarr
  ndscatter array a.zarr -o a.npy`;

export function addArrayCommand(program: Command, io: Io): void {
  program
    .command("array")
    .summary("show an array in files, or copy it between formats")
    .description("Show what an array in files is, or copy it into another format or encoding.")
    .argument("<array>", "a folder of Zarr, or an NPY file (.npy)")
    .option("-o, --output <array>", "where a copy goes: .npy, or a folder of Zarr")
    .option("--chunks <shape>", "the shape of a chunk of the copy, such as 1000,128", parseChunks)
    .option(
      "--shards <shape>",
      "the shape of a shard of the copy, a multiple of --chunks",
      parseChunks,
    )
    .option(
      "--codec <name>",
      "a codec of the copy, such as zstd or gzip:9; may be repeated",
      addCodec,
    )
    .option("--force", "replace an array that is there")
    .option("--json", JSON_HELP)
    .addHelpText("after", HELP)
    .action(async (name: string, { output, json, ...options }: ArrayCommand) => {
      if (output !== undefined) {
        if (json === true) throw wrongUsage("--json goes with what an array is, not with a copy");
        await io.stdout.write(`${await copyArray(io, name, output, options)}\n`);
        return;
      }
      const [odd] = Object.keys(options);
      if (odd !== undefined) throw wrongUsage(`--${odd} needs -o`);
      const facts = await factsOf(io, name, await openNamed(io, name));
      await io.stdout.write(`${json === true ? printJson(facts) : printFacts(facts)}\n`);
    });
}

function parseChunks(text: string): readonly number[] {
  const shape = text.split(",").map((one) => (/^\d{1,16}$/.test(one) ? Number(one) : 0));
  if (shape.every((dim) => dim > 0 && Number.isSafeInteger(dim))) return shape;
  throw wrongUsage(`a shape must be positive integers, such as 1000,128, got ${quote(text)}`);
}

/** A codec as `zstd` or `zstd:3`; what level it takes, the format knows. */
function addCodec(text: string, codecs: CopyOptions["codec"] = []): CopyOptions["codec"] {
  const [, name, level] = /^([\w-]+)(?::(-?\d{1,6}))?$/.exec(text) ?? [];
  if (name === undefined) {
    throw wrongUsage(`a codec must be a name or NAME:LEVEL, such as zstd:3, got ${quote(text)}`);
  }
  if (level === undefined) return [...codecs, name];
  const setting = name === "blosc" ? "clevel" : "level";
  return [...codecs, { name, configuration: { [setting]: Number(level) } }];
}
