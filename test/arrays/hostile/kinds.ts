/** The kinds of files, messages and arguments that mutants are made of. */

import * as fs from "node:fs";
import * as path from "node:path";
import { add } from "../../support/job-files.ts";
import type { CallSpec } from "../../../src/arrays/chunked/job/request.ts";
import type { Random } from "../../support/random.ts";
import { arrays } from "./arrays.ts";
import {
  entries,
  extra,
  fileOfJob,
  makeTemplate,
  names,
  spec,
  type Done,
  type Template,
} from "./jobs.ts";
import { messages, ranges } from "./messages.ts";
import { mutateBytes } from "./mutate.ts";
import { json, type Kind, type Places } from "./places.ts";

const BAD: CallSpec = { function: "scatterND", options: { reduction: "add" } };

/** Kinds by their names, made when they are asked for. */
export function kindsIn(places: Places): Readonly<Record<string, () => Promise<Kind>>> {
  const partitioned = { partition: [0, 1] };
  const scatter = () => makeTemplate(places, add, {}, { ...partitioned, apply: [1, 3] });
  const inPlace = () => makeTemplate(places, add, { out: null }, { ...partitioned, apply: [1, 3] });
  const gather = (done: Done) => () =>
    makeTemplate(
      places,
      { function: "gatherND", options: {} },
      { updates: undefined },
      { ...partitioned, apply: [0, 1, 2, 3], ...done },
    );
  const check = () =>
    makeTemplate(
      places,
      { function: "scatterND", options: { duplicates: "error" } },
      {},
      { ...partitioned, check: [0, 1] },
    );
  const bad = () =>
    makeTemplate(places, BAD, {}, { partition: [0] }, (home) => {
      const file = path.join(home, "indices.zarr/c/0/0");
      new BigInt64Array(1)[0] = 99n;
      const bytes = fs.readFileSync(file);
      bytes.writeBigInt64LE(99n, 0);
      fs.writeFileSync(file, bytes);
    });
  const file =
    (
      make: () => Promise<Template>,
      find: RegExp,
      change: (bytes: Uint8Array, random: Random) => Uint8Array,
    ) =>
    async (): Promise<Kind> =>
      fileOfJob(places, await make(), find, change);
  return {
    "job.json": async () => spec(places, await scatter()),
    "job.json in place": async () => spec(places, await inPlace()),
    "job.json of a gather": async () => spec(places, await gather({})()),
    shuffle: file(scatter, /shuffle\/\d$/, mutateBytes),
    "shuffle, positions": file(gather({}), /shuffle\/\d$/, mutateBytes),
    "shuffle, check": file(check, /shuffle\/\d$/, mutateBytes),
    "applied, slices": file(gather({}), /applied\/\d$/, mutateBytes),
    "applied, marks": file(inPlace, /applied\/\d$/, mutateBytes),
    "shuffle in place": file(inPlace, /shuffle\/\d$/, mutateBytes),
    seen: file(scatter, /\.seen$/, json(places)),
    "seen in place": file(inPlace, /\.seen$/, json(places)),
    bad: file(bad, /\.bad$/, json(places)),
    checked: file(check, /checked\/\d$/, mutateBytes),
    placed: file(gather({ place: [0] }), /placed\/\d$/, mutateBytes),
    claim: file(inPlace, /\.ndscatter\/job$/, json(places)),
    changed: async () => names(places, await inPlace(), /\.ndscatter\/changed\/|applied\/\d$/),
    done: async () => extra(places, await inPlace(), ["job/done", "job/shuffle.trash-x"]),
    partial: async () => extra(places, await inPlace(), ["data.zarr/.ndscatter/partial"]),
    entries: async () => entries(places, await scatter()),
    "entries in place": async () => entries(places, await inPlace()),
    "entries of a gather": async () => entries(places, await gather({ place: [0] })()),
    "zarr.json": arrays(places, /zarr\.json$/, true),
    ".zarray": arrays(places, /\.zarray$|\.zattrs$/, true),
    chunks: arrays(places, /\/c\//, false),
    npy: arrays(places, /\.npy$/, false),
    messages: () => messages(places),
    ranges: async () => ranges,
  };
}
