/** `ndscatter array`: describes a stored array, or copies it chunk by chunk to another format or encoding. */

import type { Command } from "commander";
import { wrongUsage } from "../failure.ts";
import type { Io } from "../io.ts";
import { changeArray, type ChangeOptions } from "./array-change.ts";
import { copyArray, type CopyOptions } from "./array-copy.ts";
import { writePart } from "./array-write.ts";
import { partOf } from "../input/places.ts";
import { factsOf, openNamed, printFacts } from "./array-facts.ts";
import { consolidateNamed, groupFactsOf, printGroup } from "./group-facts.ts";
import { JSON_HELP, printJson, quote } from "../text/layout.ts";

interface ArrayCommand extends CopyOptions, ChangeOptions {
  readonly output?: string;
  readonly json?: boolean;
  readonly consolidate?: boolean;
}

const HELP = `
An array is a Zarr folder (v3 or v2) or an NPY file (.npy). Without -o the
command reads only the metadata of the array, and the names and sizes of its
chunks. 'a.zarr[10:20, ::2]' is a part of an array, as Python writes it. For a
Zarr group its arrays are listed; each is named by its path, as in
group.zarr/temperature.

With -o the array is copied, with a few chunks in memory at a time. The ending
of the output decides its format: .npy, or .zarr or none for a Zarr v3 folder. The
output appears when it is complete. It has the chunks, shards, codecs, fill
value and attributes of the array that is read, unless an option says otherwise.
A copy of an NPY file has chunks of whole rows, of about 64 MiB. Where the output
is a part of an array, as in -o 'a.zarr[10:20]', that part is written, chunk by
chunk in its place.

--append makes a Zarr array longer along one axis, which --axis gives by number or
name. The new elements appear when all of them are written. --resize gives the
array another shape: new elements have the fill value, and elements beyond the
new shape are deleted. Both change the array itself.

--codec may be given several times, in the order in which the specification
applies codecs: bytes, gzip, zstd, blosc, crc32c. A level follows a colon.
--codec bytes compresses nothing. With --shards, --chunks is the shape of the
chunks in a shard.

Examples:
  ndscatter array examples/kv-cache.cache.npy
  ndscatter array examples/kv-cache.cache.npy -o cache.zarr --codec zstd
  ndscatter array a.zarr
  ndscatter array a.zarr --json
  ndscatter array a.npy -o a.zarr --chunks 1000,128 --codec zstd
  ndscatter array a.npy -o a.zarr --chunks 100,128 --shards 10000,128 --codec gzip:9 --codec crc32c
  ndscatter array v2.zarr -o v3.zarr
  ndscatter array a.zarr -o a.npy
  ndscatter array a.zarr --append today.npy --axis time
  ndscatter array group.zarr --consolidate
  ndscatter array 'a.zarr[-1000:, ::10]' -o part.npy
  ndscatter array part.npy -o 'a.zarr[-1000:, ::10]'`;

/** The sentence for an option that does not go with others. */
const without = (what: string, odd: string): string =>
  `${what} not go with --${odd}; leave --${odd} out`;

export function addArrayCommand(program: Command, io: Io): void {
  program
    .command("array")
    .summary("show an array in files, or copy it between formats")
    .description("Describe an array in files, or copy it into another format or encoding.")
    .argument("<array>", "a Zarr folder, or an NPY file (.npy)")
    .optionsGroup("Copy:")
    .option("-o, --output <array>", "where a copy goes: .npy, a Zarr folder, or a part of an array")
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
    .optionsGroup("Change the array:")
    .option("--append <array>", "make the array longer by the elements of this one")
    .option("--axis <axis>", "the axis that --append makes longer (default: the first)")
    .option("--resize <shape>", "give the array another shape, such as 2000,128", parseSizes)
    .option("--consolidate", "write the metadata of all members into those of a group")
    .option("--force", "replace an output that exists")
    .optionsGroup("Print:")
    .option("--json", JSON_HELP)
    .addHelpText("after", HELP)
    .action(async (name: string, { output, json, consolidate, ...given }: ArrayCommand) => {
      if (consolidate === true) {
        const [odd] = Object.keys({ ...given, ...(json && { json }), ...(output && { output }) });
        if (odd !== undefined) throw wrongUsage(without("--consolidate does", odd));
        await io.stdout.write(`${await consolidateNamed(io, name)}\n`);
        return;
      }
      const { append, axis, resize, ...options } = given;
      if ([append, axis, resize].some((one) => one !== undefined)) {
        const others = Object.entries({ output, json, ...options });
        const [odd] = others.flatMap(([option, value]) => (value === undefined ? [] : [option]));
        if (odd !== undefined) throw wrongUsage(without("--append and --resize do", odd));
        await io.stdout.write(`${await changeArray(io, name, given)}\n`);
        return;
      }
      if (output !== undefined) {
        if (json === true) throw wrongUsage("--json does not go with -o; leave one of them out");
        const copy = partOf(io, output).ranges === null ? copyArray : writePart;
        await io.stdout.write(`${await copy(io, name, output, options)}\n`);
        return;
      }
      const [odd] = Object.keys(options);
      if (odd !== undefined) throw wrongUsage(`--${odd} needs -o`);
      const group = await groupFactsOf(io, name);
      if (group !== null) {
        await io.stdout.write(`${json === true ? printJson(group) : printGroup(group)}\n`);
        return;
      }
      const facts = await factsOf(name, await openNamed(io, name));
      await io.stdout.write(`${json === true ? printJson(facts) : printFacts(facts)}\n`);
    });
}

export const parseChunks = (text: string): readonly number[] => parseShape(text, 1);
const parseSizes = (text: string): readonly number[] => parseShape(text, 0);

function parseShape(text: string, least: number): readonly number[] {
  const shape = text.split(",").map((one) => (/^\d{1,16}$/.test(one) ? Number(one) : -1));
  if (shape.every((dim) => dim >= least && Number.isSafeInteger(dim))) return shape;
  const what = least === 1 ? "positive integers" : "integers of 0 or more";
  throw wrongUsage(`a shape must be ${what}, such as 1000,128, got ${quote(text)}`);
}

/** Parses a codec such as `zstd` or `zstd:3`. Creating the array checks the level. */
export function addCodec(text: string, codecs: CopyOptions["codec"] = []): CopyOptions["codec"] {
  const [, name, level] = /^([\w-]+)(?::(-?\d{1,6}))?$/.exec(text) ?? [];
  if (name === undefined) {
    throw wrongUsage(`a codec must be a name or NAME:LEVEL, such as zstd:3, got ${quote(text)}`);
  }
  if (level === undefined) return [...codecs, name];
  const setting = name === "blosc" ? "clevel" : "level";
  return [...codecs, { name, configuration: { [setting]: Number(level) } }];
}
