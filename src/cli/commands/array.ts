/** Implements `ndscatter array`, which describes, changes or copies a stored array. */

import type { Command } from "commander";
import { copyArray, type CopyOptions, writePart } from "./array-copy.ts";
import {
  checkUnused,
  consolidateNamed,
  factsOf,
  blame,
  printKind,
  groupFactsOf,
  openNamed,
  printFacts,
  printGroup,
} from "./array-facts.ts";
import { wrongUsage } from "../failure.ts";
import { addCodec, givenOption, parseChunks, parseSizes, partOf } from "../input/arguments.ts";
import { printResult, type Io, printNote, ProgressLine } from "../io.ts";
import { JSON_HELP } from "../text/layout.ts";
import { printCount } from "../../core/foreign.ts";
import { append, type ChunkedArray, resize } from "../../entries/zarr.ts";

interface ArrayCommand extends CopyOptions, ChangeOptions {
  readonly output?: string;
  readonly json?: boolean;
  readonly consolidate?: boolean;
}

const HELP = `
An array is a Zarr folder (v3 or v2), an NPY file (.npy), or one of these in an
archive, as in x.npz/ids or x.zip/temperature. Without -o the command reads only
the metadata of the array, and the names and sizes of its chunks.
'a.zarr[10:20, ::2]' selects a part of an array with Python's slice notation. For
a Zarr group the command lists the arrays; name one of them by its path, as in
group.zarr/temperature.

-o copies the array, with only a few chunks in memory at a time. The ending of
the output determines its format: .npy, or .zarr or no ending for a Zarr v3
folder. The output appears when it is complete. It has the chunks, shards, codecs,
fill value and attributes of the source array, unless an option changes them. A
copy of an NPY file has chunks of whole rows, of about 64 MiB each. If the output
is a part of an array, as in -o 'a.zarr[10:20]', that part is overwritten chunk
by chunk.

--append adds elements to a Zarr array along one axis, the number or name of
which --axis gives. The new elements appear when all of them are written.
--resize changes the shape of an array: new elements have the fill value, and
elements outside the new shape are deleted. --append and --resize change the
array itself.

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
  ndscatter array a.zarr --append today.npy --axis time
  ndscatter array group.zarr --consolidate
  ndscatter array 'a.zarr[-1000:, ::10]' -o part.npy
  ndscatter array part.npy -o 'a.zarr[-1000:, ::10]'`;

/** Throws a `Failure` if one of the options is given, which cannot be used with others. */
function refuse(options: object, others: string): void {
  const odd = givenOption(options);
  if (odd === undefined) return;
  throw wrongUsage(`${others} cannot be used with ${odd}; leave ${odd} out`);
}

export function addArrayCommand(program: Command, io: Io): void {
  program
    .command("array")
    .summary("describe a stored array, change it, or copy it to another format")
    .description("Describe a stored array, change it, or copy it to another format or encoding.")
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
    .optionsGroup("Change the array:")
    .option("--append <array>", "append the elements of this array")
    .option("--axis <axis>", "the axis along which --append adds elements (default: the first)")
    .option("--resize <shape>", "give the array another shape, such as 2000,128", parseSizes)
    .option("--consolidate", "copy the metadata of all members into the metadata of the group")
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
  { output, json = false, consolidate = false, ...given }: ArrayCommand,
): Promise<string | object> {
  const { append: more, axis, resize: shape, ...options } = given;
  const printing = { output, json: json || undefined };
  if (consolidate) {
    refuse({ ...given, ...printing }, "--consolidate");
    return consolidateNamed(io, name);
  }
  if ([more, axis, shape].some((one) => one !== undefined)) {
    refuse({ ...printing, ...options }, "--append and --resize");
    return changeArray(io, name, given);
  }
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

interface ChangeOptions {
  readonly append?: string;
  readonly axis?: string;
  readonly resize?: readonly number[];
}

async function changeArray(io: Io, name: string, options: ChangeOptions): Promise<string> {
  const { append: more, axis = "0", resize: shape } = options;
  if (more !== undefined && shape !== undefined) {
    throw wrongUsage("--append and --resize cannot be used together; leave one out");
  }
  if (more === undefined && options.axis !== undefined) {
    throw wrongUsage("--axis is only used with --append; give --append too");
  }
  const array = await openNamed(io, name);
  const values = more === undefined ? null : await openNamed(io, more);
  await checkUnused(io, name, array);
  if (more !== undefined && values !== null) await checkUnused(io, more, values);
  return (
    shape === undefined
      ? appendTo(io, name, array, values as ChunkedArray, axis)
      : resize(array, shape).then((now) => `${name}: ${printKind(now)}`)
  ).catch(blame(io, name));
}

async function appendTo(
  io: Io,
  name: string,
  array: ChunkedArray,
  values: ChunkedArray,
  axis: string,
): Promise<string> {
  const progress = new ProgressLine(io.stderr);
  let written = 0;
  try {
    const now = await append(array, values, {
      axis: /^-?\d{1,3}$/.test(axis) ? Number(axis) : axis,
      onProgress: ({ done, chunks }) => {
        written = done;
        progress.show(() => `${done} of ${printCount(chunks, "chunk")} written`);
      },
    });
    return `${name}: ${printKind(now)}, ${printCount(written, "chunk")} written`;
  } finally {
    progress.clear();
  }
}
