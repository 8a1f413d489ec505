/** The kinds of files, messages and arguments that mutants are made of, and what reads each. */

import * as fs from "node:fs";
import * as path from "node:path";
import { packageVersion } from "../../src/arrays/chunked/job/package-version.ts";
import { rootsFrom } from "../../src/arrays/chunked/job/roots.ts";
import { startPool } from "../../src/arrays/chunked/run/pool.ts";
import { parseNumbers, printNumbers } from "../../src/arrays/distributed/ranges.ts";
import { statusOf } from "../../src/cli/commands/job-status.ts";
import { parseTasks } from "../../src/cli/commands/job.ts";
import { tensor } from "../../src/core/tensor/tensor.ts";
import { createWorker } from "../../src/entries/bullmq.ts";
import {
  describeJob,
  findJobs,
  jobFailure,
  openJob,
  removeJob,
  runJob,
} from "../../src/entries/chunked.ts";
import { openArray } from "../../src/entries/zarr.ts";
import type { CallSpec } from "../../src/arrays/chunked/job/call-spec.ts";
import type { JobRequest } from "../../src/arrays/chunked/job/create-job.ts";
import { add, makeJob, MEMORY, readAll, ROWS, store, storeInputs } from "../support/job-files.ts";
import { setLimits } from "../support/limits.ts";
import type { Random } from "../support/random.ts";
import { FAKE_BULLMQ, FAKE_IOREDIS, fakeJob, processorOf } from "./fake-queue.ts";
import { mutateBytes, mutateJson, mutateText, replaceEntry } from "./mutate.ts";
import { Sandbox } from "./sandbox.ts";

/** Where mutants live: `home` is a root, and of what lies outside nothing may change. */
export interface Places {
  readonly home: string;
  readonly outside: string;
  /** Paths that lead out, and some that do not. */
  readonly targets: readonly string[];
  readonly pipe: string;
}

/** Makes a mutant and reads it. @returns how that ended, where no error was thrown */
export type Kind = (random: Random) => Promise<string>;

/** Values that a job that is done has made, of which no mutant may make others. */
const EXPECTED = Array<number>(ROWS).fill(6);

export function makeOutside(around: string): Places {
  const [home, outside] = ["home", "outside"].map((name) => path.join(around, name));
  for (const folder of [home, outside, path.join(outside, "folder")]) fs.mkdirSync(folder);
  for (const name of ["text", "folder/0", "folder/job", "job.json", "done"])
    fs.writeFileSync(path.join(outside, name), `${name} is precious\n`);
  const pipe = path.join(outside, "pipe");
  const targets = [
    ...["text", "folder", "new", "job.json", "folder/0", "data.zarr", "array.npy"].map((name) =>
      path.join(outside, name),
    ),
    "../outside/text",
    `${home}/../outside/data.zarr`,
    path.join(home, "data.zarr"),
    "s3://bucket/x.zarr",
    "file:///etc/passwd",
    "http://127.0.0.1:1/x.zarr",
    "x.zarr",
  ];
  return { home, outside, targets, pipe };
}

interface Template {
  readonly sandbox: Sandbox;
  readonly folder: string;
  /** The array that the job makes. */
  readonly out: string;
  readonly expected: readonly number[];
}

type Done = Readonly<Record<string, readonly number[]>>;

async function makeTemplate(
  places: Places,
  call: CallSpec,
  more: Partial<JobRequest>,
  done: Done,
  alter?: (folder: string) => void,
): Promise<Template> {
  const { home } = places;
  fs.rmSync(home, { recursive: true, force: true });
  fs.mkdirSync(home);
  await storeInputs(home);
  alter?.(home);
  const folder = await makeJob(home, call, { blockShape: [2], ...more });
  const pool = startPool({ threads: 0, memory: MEMORY });
  for (const [stage, tasks] of Object.entries(done))
    for (const task of tasks) await pool.run(folder, stage as "apply", task);
  await pool.end();
  const isGather = "updates" in more;
  const out = path.join(home, more.out === null ? "data.zarr" : "out.zarr");
  const isAdded = "options" in call && "reduction" in call.options;
  const expected = EXPECTED.map((value) => (isGather ? 1 : isAdded ? value : value - 1));
  const template = { sandbox: new Sandbox(home), folder, out, expected };
  if (alter === undefined) {
    // Mutants of a job that fails by itself would show nothing.
    template.sandbox.restore();
    await runAll(places, folder);
    await assertRight(template);
  }
  return template;
}

async function assertRight({ out, expected, sandbox }: Template): Promise<void> {
  const values = await readAll(out);
  const isRight =
    values.length === expected.length && values.every((one, i) => one === expected[i]);
  if (!isRight) throw new Error(`the job is done, but its values are ${values} in ${sandbox.home}`);
}

/** What a worker does with a job: every task, those that are done as well, within its roots. */
async function runAll({ home }: Places, folder: string): Promise<void> {
  const pool = startPool({ threads: 0, memory: MEMORY, roots: await rootsFrom([home]) });
  try {
    const { stages } = await openJob(folder);
    for (const { name, tasks } of stages)
      for (let task = 0; task < Math.min(tasks, 6); task++) await pool.run(folder, name, task);
  } finally {
    await pool.end();
  }
}

async function lookAt(folder: string): Promise<void> {
  const job = await openJob(folder);
  await describeJob(folder);
  await findJobs(path.dirname(folder));
  if (job.stages.every(({ tasks }) => tasks < 1000)) await statusOf(job);
  const failure = await jobFailure(job);
  if (failure !== null) throw failure;
}

/** Runs the job by one of its ways, and compares the result of a job that is done. */
async function use(
  places: Places,
  template: Template,
  random: Random,
  { isOther = false, leadsOut = false } = {},
): Promise<string> {
  const { folder, out } = template;
  const way = leadsOut ? random(2) * 3 : random(4);
  if (way === 0) {
    await lookAt(folder);
    return "looked at";
  }
  if (way === 1) {
    await removeJob(folder);
    return "removed";
  }
  if (way === 2) await runJob(folder, { threads: 0, memory: MEMORY });
  else await runAll(places, folder);
  if (isOther || !fs.existsSync(out)) return "other";
  await assertRight(template);
  return "right bits";
}

/** A kind that changes one file of a job. */
const fileOfJob =
  (
    places: Places,
    template: Template,
    find: RegExp,
    change: (bytes: Uint8Array, random: Random) => Uint8Array,
  ): Kind =>
  async (random) => {
    const { sandbox } = template;
    const names = sandbox.files.filter((name) => find.test(name));
    if (names.length === 0) throw new Error(`no file of ${find}: ${sandbox.files.join(" ")}`);
    sandbox.restore();
    const name = names[random(names.length)];
    const old = sandbox.read(name);
    const bytes = change(old, random);
    fs.writeFileSync(sandbox.at(name), bytes);
    // Starts, rows, positions and slices are data without a checksum: other data gives another result.
    const isOther = isFragments(old) && Buffer.compare(old.subarray(16), bytes.subarray(16)) !== 0;
    return use(places, template, random, { isOther });
  };

const isFragments = (bytes: Uint8Array): boolean => decode(bytes.subarray(0, 4)) === "NDSF";

const encode = (text: string): Uint8Array => new TextEncoder().encode(text);
const decode = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

/** What makes a job another job; the result of such a job is right for what it says. */
const REQUEST = ["call", "data", "indices", "updates", "out", "inPlace", "codecs"];

const spec =
  (places: Places, template: Template): Kind =>
  async (random) => {
    const { sandbox } = template;
    sandbox.restore();
    const text = decode(sandbox.read("job/job.json"));
    const mutant = mutateJson(text, places.targets, random);
    fs.writeFileSync(sandbox.at("job/job.json"), mutant);
    const partsOf = (json: string): string => {
      try {
        const value = JSON.parse(json) as Record<string, unknown>;
        return JSON.stringify(REQUEST.map((name) => value[name]));
      } catch {
        return "";
      }
    };
    const isOther = partsOf(mutant) !== partsOf(text);
    return use(places, template, random, { isOther, leadsOut: isOther });
  };

const json =
  ({ targets }: Places) =>
  (bytes: Uint8Array, random: Random): Uint8Array =>
    encode(mutateJson(decode(bytes), targets, random));

const BAD: CallSpec = { function: "scatterND", options: { reduction: "add" } };

/** Arrays of several formats, each of which a mutant changes in one file. */
function arrays(places: Places, find: RegExp, isJson: boolean): () => Promise<Kind> {
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
    const { writeNpy } = await import("../../src/entries/npy.ts");
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

/** Messages of a queue, as a worker gets them. */
async function messages(places: Places): Promise<Kind> {
  // Milliseconds for which a worker waits for a folder that it does not see.
  setLimits({ DISTRIBUTED: { blind: 0 } });
  const template = await makeTemplate(places, add, {}, {});
  const from = path.join(path.dirname(places.home), "packages");
  for (const [name, code] of Object.entries({ bullmq: FAKE_BULLMQ, ioredis: FAKE_IOREDIS })) {
    fs.mkdirSync(path.join(from, "node_modules", name), { recursive: true });
    fs.writeFileSync(path.join(from, "node_modules", name, "index.js"), code);
  }
  await createWorker({
    connection: "redis://127.0.0.1:1",
    threads: 1,
    memory: MEMORY,
    roots: [places.home],
    from,
  });
  const process = processorOf();
  const { id } = await openJob(template.folder);
  const { folder, sandbox } = template;
  const both = { folder, id, version: packageVersion() };
  const task = { ...both, run: "1" };
  const good = [
    ["job", { ...both, attempts: 3, tasksPerJob: 1 }],
    ["job", { ...both, attempts: 3, tasksPerJob: 1, stage: "place", round: 1 }],
    ["partition", { ...task, stage: "partition", tasks: "0-1" }],
    ["apply", { ...task, stage: "apply", tasks: "0-1,3" }],
    ["finish", { ...task, stage: "finish", tasks: "0" }],
  ] as const;
  return async (random) => {
    if (random(50) === 0) sandbox.restore();
    const [name, data] = good[random(good.length)];
    const text = JSON.stringify(data);
    const mutant = random(5) === 0 ? text : mutateJson(text, places.targets, random);
    let parsed: unknown;
    try {
      parsed = JSON.parse(mutant);
    } catch {
      return "not JSON, which BullMQ does not hand over";
    }
    const names = [name, "__proto__", "", "x".repeat(3000), "job"];
    const job = fakeJob(random(5) === 0 ? names[random(names.length)] : name, parsed);
    await process(job, "token");
    return "run";
  };
}

/** Ranges of tasks, as Slurm and people give them. */
const ranges: Kind = async (random) => {
  const text = ["0-15", "0-3,7", "12", "0-0", "3,1,2"][random(5)];
  const wild = [
    "5-2",
    "0-999999999999999",
    "0-16777215",
    "999999999999999",
    "1".repeat(20),
    "0,".repeat(random(300_000)) + "0",
    "-1",
    "0x10",
    "1e3",
    "\u0661",
    " 1",
    "0-1-2",
    ",",
  ];
  const mutant = random(4) === 0 ? wild[random(wild.length)] : mutateText(text, random);
  const tasks = [1, 16, 2 ** 24][random(3)];
  const numbers = parseNumbers(mutant, 10_000);
  if (numbers !== null && numbers.length < 100 && parseNumbers(printNumbers(numbers), 100) === null)
    throw new Error(`${mutant} is read, but not again when it is printed`);
  const parsed = parseTasks(mutant, { name: "apply", tasks });
  if (parsed.some((task) => !(Number.isSafeInteger(task) && task >= 0 && task < tasks)))
    throw new Error(`${mutant} names ${parsed}`);
  return "run";
};

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
    seen: file(scatter, /\.seen$/, json(places)),
    bad: file(bad, /\.bad$/, json(places)),
    checked: file(check, /checked\/\d$/, mutateBytes),
    placed: file(gather({ place: [0] }), /placed\/\d$/, mutateBytes),
    claim: file(inPlace, /\.ndscatter\/job$/, json(places)),
    changed: async () => names(places, await inPlace(), /\.ndscatter\/changed\/|applied\/\d$/),
    done: async () => extra(places, await inPlace(), ["job/done", "job/shuffle.trash-x"]),
    took: async () => names(places, await scatter(), /job\/took\//),
    "took, more": async () => {
      const name = "job/took/0123456789abcdef.apply.1.9999.9999.9.9";
      return extra(places, await scatter(), [name, "job/took/apply"]);
    },
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

/** Files get other names. */
const names =
  (places: Places, template: Template, find: RegExp): Kind =>
  async (random) => {
    const { sandbox } = template;
    sandbox.restore();
    const found = sandbox.files.filter((name) => find.test(name));
    const old = sandbox.at(found[random(found.length)]);
    const name = mutateText(path.basename(old), random).replaceAll(/[\0/]/g, "_").slice(0, 200);
    if (name !== "" && name !== "." && name !== "..")
      fs.renameSync(old, path.join(path.dirname(old), name));
    return use(places, template, random);
  };

/** What a mark of a change in part says, and what a job that is done says of its tasks. */
const TEXT =
  '{"job":"ab","changed":2,"chunks":4,"took":{"tasks":5,"read":9,"written":9,"seconds":0.1,"memory":9}}';

/** Files appear that should not be there. */
const extra =
  (places: Places, template: Template, files: readonly string[]): Kind =>
  async (random) => {
    const { sandbox } = template;
    sandbox.restore();
    const name = files[random(files.length)];
    const file = sandbox.at(name);
    fs.mkdirSync(path.dirname(file), { recursive: true });
    if (random(2) === 0) replaceEntry(file, places.targets, places.pipe, random);
    else fs.writeFileSync(file, mutateJson(TEXT, places.targets, random));
    // A job that says that it is done is not run.
    return use(places, template, random, { isOther: name === "job/done" });
  };

/** A file or a folder becomes something else. */
const entries =
  (places: Places, template: Template): Kind =>
  async (random) => {
    const { sandbox } = template;
    sandbox.restore();
    const name = sandbox.names[random(sandbox.names.length)];
    replaceEntry(sandbox.at(name), places.targets, places.pipe, random);
    // Links in arrays are followed where no roots are given.
    return use(places, template, random, { isOther: true, leadsOut: !name.startsWith("job/") });
  };
