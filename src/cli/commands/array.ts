/** Implements `ndscatter array`, which describes or copies a stored array. */

import type { Command } from "commander";
import { copyArray, type CopyOptions, writePart } from "./array-copy.ts";
import { factsOf, groupFactsOf, openNamed, printFacts, printGroup } from "./array-facts.ts";
import { wrongUsage } from "../failure.ts";
import { addCodec, givenOption, parseChunks, partOf } from "../input/arguments.ts";
import { printResult, type Io, printNote } from "../io.ts";
import { JSON_HELP } from "../text/layout.ts";

interface ArrayCommand extends CopyOptions {
  readonly output?: string;
  readonly json?: boolean;
}

const HELP = `
An array is a Zarr folder (v3 or v2), an NPY file (.npy), or one of these in an
archive, as in x.npz/ids or x.zip/temperature, or in a reference file of kerchunk,
as in refs.json/temperature. Without -o the command reads only the metadata of the
array, and the names and sizes of its chunks.
'a.zarr[10:20, ::2]' selects a part of an array with Python's slice notation. For
a Zarr group the command lists the names of its arrays and groups; name one of
them by its path, as in group.zarr/temperature.

-o copies the array, with only a few chunks in memory at a time. The ending of
the output determines its format: .npy, or .zarr or no ending for a Zarr v3
folder. The output appears when it is complete. It has the chunks, shards, codecs,
fill value and attributes of the source array, unless an option changes them. A
copy of an NPY file has chunks of whole rows, of about 64 MiB each. If the output
is a part of an array, as in -o 'a.zarr[10:20]', that part is overwritten chunk
by chunk.

--codec may be repeated, with the codecs in the order of the specification: bytes,
gzip, zstd, blosc, crc32c, packbits, or numcodecs.NAME with the name of a codec of
numcodecs: lz4, shuffle, crc32 and others. A level follows a colon, as in zstd:3.
--codec bytes turns compression off. With --shards, --chunks is the shape of the
chunks in a shard.

Examples:
  ndscatter array examples/kv-cache.cache.npy
  ndscatter array examples/kv-cache.cache.npy -o cache.zarr --codec zstd
  ndscatter array a.zarr
  ndscatter array a.npz/rows
  ndscatter array a.zarr --json
  ndscatter array a.npy -o a.zarr --chunks 1000,128 --codec zstd
  ndscatter array a.npy -o a.zarr --chunks 100,128 --shards 10000,128 --codec gzip:9 --codec crc32c
  ndscatter array v2.zarr -o v3.zarr
  ndscatter array a.zarr -o a.npy
  ndscatter array group.zarr
  ndscatter array 'a.zarr[-1000:, ::10]' -o part.npy
  ndscatter array part.npy -o 'a.zarr[-1000:, ::10]'`;

export function addArrayCommand(program: Command, io: Io): void {
  program
    .command("array")
    .summary("describe a stored array, or copy it to another format")
    .description("Describe a stored array, or copy it to another format or encoding.")
    .argument("<array>", "a Zarr folder, an NPY file (.npy), or an array in an archive")
    .optionsGroup("Copy:")
    .option(
      "-o, --output <array>",
      "write a copy to this .npy file, Zarr folder or part of an array",
    )
    .option("--chunks <shape>", "the chunk shape of the copy, such as 1000,128", parseChunks)
    .option("--shards <shape>", "the shard shape of the copy, a multiple of --chunks", parseChunks)
    .option("--codec <name>", "a codec of the copy, such as zstd or gzip:9; repeatable", addCodec)
    .option("--unfinished", "copy an array even if a job has changed only a part of it")
    .option("--force", "replace an existing output")
    .optionsGroup("Print:")
    .option("--json", JSON_HELP)
    .addHelpText("after", HELP)
    .action(async (name: string, options: ArrayCommand) =>
      printResult(io, await arrayResult(io, name, options)),
    );
}

async function arrayResult(
  io: Io,
  name: string,
  { output, json = false, ...options }: ArrayCommand,
): Promise<string | object> {
  if (output !== undefined) {
    if (json) throw wrongUsage("--json cannot be used with -o; leave one of them out");
    const copy = partOf(io, output).ranges === null ? copyArray : writePart;
    return copy(io, name, output, options);
  }
  const odd = givenOption(options);
  if (odd !== undefined) throw wrongUsage(`${odd} needs -o`);
  const group = await groupFactsOf(io, name);
  if (group !== null) return json ? group : printGroup(group);
  const array = await openNamed(io, name, (sentence) => void printNote(io, sentence));
  const facts = await factsOf(name, array);
  return json ? facts : printFacts(facts);
}
