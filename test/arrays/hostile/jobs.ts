/** Jobs of which a mutant changes a file, and what reads them. */

import * as fs from "node:fs";
import * as path from "node:path";
import { rootsFrom } from "../../../src/arrays/chunked/job/roots.ts";
import { startPool } from "../../../src/arrays/chunked/run/pool.ts";
import { statusOf } from "../../../src/cli/commands/job.ts";
import {
  describeJob,
  findJobs,
  jobFailure,
  openJob,
  removeJob,
  runJob,
} from "../../../src/entries/chunked.ts";
import type { CallSpec, JobRequest } from "../../../src/arrays/chunked/job/request.ts";
import { makeJob, MEMORY, readAll, ROWS, storeInputs } from "../../support/job-files.ts";
import type { Random } from "../../support/random.ts";
import { mutateJson, mutateText, replaceEntry } from "./mutate.ts";
import { decode, type Kind, type Places } from "./places.ts";
import { Sandbox } from "./sandbox.ts";

/** Values that a job that is done has made, of which no mutant may make others. */
const EXPECTED = Array<number>(ROWS).fill(6);

export interface Template {
  readonly sandbox: Sandbox;
  readonly folder: string;
  /** The array that the job makes. */
  readonly out: string;
  readonly expected: readonly number[];
}

export type Done = Readonly<Record<string, readonly number[]>>;

export async function makeTemplate(
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
export const fileOfJob =
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

/** What makes a job another job; the result of such a job is right for what it says. */
const REQUEST = ["call", "data", "indices", "updates", "out", "inPlace", "codecs"];

export const spec =
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

/** Files get other names. */
export const names =
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

/** The text of a mark of a change in part. */
const TEXT = '{"job":"ab","changed":2,"chunks":4}';

/** Files appear that should not be there. */
export const extra =
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
export const entries =
  (places: Places, template: Template): Kind =>
  async (random) => {
    const { sandbox } = template;
    sandbox.restore();
    const name = sandbox.names[random(sandbox.names.length)];
    replaceEntry(sandbox.at(name), places.targets, places.pipe, random);
    // Links in arrays are followed where no roots are given.
    return use(places, template, random, { isOther: true, leadsOut: !name.startsWith("job/") });
  };
