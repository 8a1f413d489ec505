/**
 * Runs cases in processes that may be killed. A case is right if some attempts with faults, each of which ends right or
 * with an error that has a code, are followed by one without faults that gives the bits of the definition, changes no
 * input and leaves nothing behind.
 */

import * as fs from "node:fs";
import * as path from "node:path";
import { createArray, openArray } from "../../../src/entries/zarr.ts";
import { writeNpy } from "../../../src/entries/npy.ts";
import { equals } from "../../../src/core/tensor/compare.ts";
import type { Tensor } from "../../../src/core/tensor/tensor.ts";
import { SEED, fixedRandom } from "../../support/random.ts";
import { fileOf, jobOf, outputOf, type InputName, type Made, type Place } from "./calls.ts";
import { caseOf, type FaultCase } from "./cases.ts";
import type { Faults } from "./inject.ts";
import type { Failure, Order } from "./process.ts";
import { DEADLINE, Processes } from "./processes.ts";
import { serveWithFaults, type Servers } from "./servers.ts";

/** Attempts without faults after which a job that still fails is stuck: a lost file takes one that finds the loss. */
const MOST_ATTEMPTS = 3;

export type Verdict =
  | "right"
  | "resumed"
  | "removed"
  | "wrong"
  | "stuck"
  | "left behind"
  | "unclear";

export const isGood = (verdict: Verdict): boolean => /^re|^right/.test(verdict);

export interface Outcome {
  readonly number: number;
  readonly verdict: Verdict;
  /** The faults of all attempts, one a line. */
  readonly faults: readonly string[];
  /** The errors of attempts, and what is wrong. */
  readonly notes: readonly string[];
  readonly title: string;
}

/** Something that must not happen. */
class Wrong extends Error {
  readonly verdict: Verdict;
  constructor(verdict: Verdict, message: string) {
    super(message);
    this.verdict = verdict;
  }
}

async function store(file: string, one: Made, name: InputName, values: Tensor): Promise<void> {
  const { format, chunkShape, shards, codecs } = one.storage[name] ?? {};
  if (format === "npy") return fs.writeFileSync(file, writeNpy(values));
  const { dtype, shape } = values;
  const array = await createArray(file, {
    ...{ dtype, shape, chunkShape, shards, codecs, zarrFormat: format },
  });
  await array.write(values);
}

/** The bytes of all files in a folder, by path. */
function contentsOf(folder: string): Record<string, string> {
  if (!fs.existsSync(folder)) return {};
  const entries = fs.readdirSync(folder, { recursive: true, withFileTypes: true });
  return Object.fromEntries(
    entries.map((entry) => {
      const file = path.join(entry.parentPath, entry.name);
      const content = entry.isFile() ? fs.readFileSync(file, "base64") : "/";
      return [path.relative(folder, file), content];
    }),
  );
}

/** The names in an array, and in the folder of a job that is done and kept. */
const OF_ARRAYS =
  /^(?:(?:data|out)\.zarr(?:\/(?:zarr\.json|\.zarray|\.zattrs|c(?:\/\d+)*|\d+(?:\.\d+)*))?|out\.npy)$/;
const OF_JOBS = /^job(?:\/(?:done|job\.json))?$/;

/** What an error must be: one of the package, or of the system with the path. */
function isClear({ isOwn, code, path: place, message }: Failure): boolean {
  if (isOwn) return /^(?:engine|attribute|malformed-file|too-large)$/.test(code ?? "");
  return place !== null && /^E[A-Z]+$/.test(code ?? "") && message !== "";
}

/** True if nothing but delays and short transfers has happened, which no call may notice. */
const isHarmless = (faults: readonly string[]): boolean =>
  faults.every((line) => /^(?:short|delay|server slow|server short)/.test(line));

export interface Tools {
  readonly root: string;
  readonly processes: Processes;
  readonly servers: Servers;
}

export async function startTools(root: string): Promise<Tools> {
  return { root, processes: new Processes(), servers: await serveWithFaults(root) };
}

export async function endTools({ processes, servers }: Tools): Promise<void> {
  await processes.end();
  servers.close();
}

/** Runs one case. @param rate the number of faults per thousand calls */
export async function runCase(number: number, tools: Tools, rate = 10): Promise<Outcome> {
  const one = caseOf(number);
  const name = `case-${number}`;
  const around = path.join(tools.root, name);
  const log = `${around}.log`;
  const place: Place = {
    ...{ home: path.join(around, "home"), inputs: path.join(around, "inputs") },
    ...{
      address: `${tools.servers.address}/${name}/inputs`,
      bucket: `s3://bucket/${name}/out.zarr`,
    },
  };
  fs.mkdirSync(place.home, { recursive: true });
  fs.mkdirSync(place.inputs);
  fs.writeFileSync(log, "");
  const run = new Run(one, place, tools, { name, around, log, rate });
  let verdict: Verdict;
  try {
    verdict = await run.run();
  } catch (error) {
    if (!(error instanceof Wrong)) throw error;
    run.notes.push(`${error.verdict}: ${error.message}`);
    verdict = error.verdict;
  }
  const faults = run.faults();
  tools.servers.set(name, null);
  if (isGood(verdict)) fs.rmSync(around, { recursive: true });
  fs.rmSync(log);
  return {
    number,
    verdict,
    faults,
    notes: run.notes,
    title: `SEED=${SEED}, case ${number}: ${one.title}`,
  };
}

/** The names of a case, and its rate of faults. */
interface Own {
  readonly name: string;
  /** The folder of all files of the case. */
  readonly around: string;
  readonly log: string;
  readonly rate: number;
}

class Run {
  readonly notes: string[] = [];
  /** True if the job was removed, so that its folder must be gone. */
  #isRemoved = false;
  readonly #case: FaultCase;
  readonly #place: Place;
  readonly #tools: Tools;
  readonly #own: Own;

  constructor(one: FaultCase, place: Place, tools: Tools, own: Own) {
    this.#case = one;
    this.#place = place;
    this.#tools = tools;
    this.#own = own;
  }

  faults(): string[] {
    return fs.readFileSync(this.#own.log, "utf8").split("\n").slice(0, -1);
  }

  async run(): Promise<Verdict> {
    const { made, attempts, processes, inputs, isGivenUp } = this.#case;
    for (const [name, values] of Object.entries(inputs)) {
      if (values === undefined) continue;
      const input = name as InputName;
      await store(path.join(this.#place.inputs, fileOf(made, input)), made, input, values);
    }
    const before = contentsOf(this.#place.inputs);
    const random = fixedRandom(made.number);
    let isOver = false;
    for (let attempt = 0; attempt < attempts && !isOver; attempt++) {
      isOver = await this.#attempt(attempt, 1 + random(processes), random);
    }
    // The last attempt may have ended right in one process, and have been killed in another one.
    const verdict =
      isOver && !this.faults().some((line) => line.startsWith("kill")) ? "right" : "resumed";
    if (verdict === "resumed" && isGivenUp) return this.#giveUp(before, random);
    if (verdict === "resumed") await this.#resume();
    await this.#check();
    await this.#checkLeft(before, made.out === "data" ? "data" : null);
    return verdict;
  }

  /** Makes the call in several processes with faults. Returns true if all of them end right. */
  async #attempt(
    attempt: number,
    processes: number,
    random: (below: number) => number,
  ): Promise<boolean> {
    const { number } = this.#case.made;
    const { around: root, log, name, rate } = this.#own;
    const seedOf = (process: number): number =>
      ((SEED * 31 + number) * 31 + attempt) * 31 + process;
    const isBegun = fs.existsSync(path.join(jobOf(this.#place), "job.json"));
    const what = isBegun && random(2) === 0 ? "resume" : "call";
    const from = random(2) * random(400);
    this.#tools.servers.set(name, { root, rate, from, log, seed: seedOf(9) });
    const ends = await Promise.all(
      Array.from({ length: processes }, (_, process) =>
        this.#give(what, { root, rate, from, log, seed: seedOf(process) }),
      ),
    );
    this.#tools.servers.set(name, null);
    const faults = this.faults();
    for (const failure of ends) {
      if (failure === null || failure === "killed") continue;
      if (isHarmless(faults) && processes === 1 && !this.#isThere(failure))
        throw new Wrong("wrong", `only harmless faults, but: ${failure.stack}`);
    }
    return ends.every((end) => end === null);
  }

  /** Gives one order. Returns the failure, null without one, or that the process was killed. */
  async #give(what: Order["what"], faults: Faults | null): Promise<Failure | "killed" | null> {
    const { made } = this.#case;
    const ended = await this.#tools.processes.give({ made, place: this.#place, what, faults });
    if (ended === "stuck") throw new Wrong("stuck", `no end within ${DEADLINE / 1000} s`);
    if (ended === "killed") return "killed";
    if ("crash" in ended) throw new Wrong("unclear", `the process ended: ${ended.crash}`);
    const { failure, openFiles } = ended;
    if (failure !== null) this.notes.push(`${failure.code}: ${failure.message} (${failure.path})`);
    if (failure !== null && !isClear(failure)) throw new Wrong("unclear", failure.stack);
    if (openFiles !== 0) throw new Wrong("left behind", `${openFiles} files are open`);
    return failure;
  }

  /** True for the error of a call that has no folder of its job, and whose output an earlier attempt has completed. */
  #isThere({ message }: Failure): boolean {
    return this.#case.made.how === "whole" && /exists; remove it/.test(message);
  }

  async #resume(): Promise<void> {
    for (let attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
      this.notes.push("without faults");
      const failure = await this.#give("call", null);
      if (failure === null) return;
      if (failure === "killed") throw new Wrong("unclear", "killed without a fault");
      if (this.#isThere(failure)) return;
      // The error asks for this.
      if (/was removed in part/.test(failure.message)) await this.#give("remove", null);
    }
    throw new Wrong("stuck", `${MOST_ATTEMPTS} attempts without faults fail`);
  }

  /** Removes the job, with faults and then without, and checks that the output is complete or not there at all. */
  async #giveUp(
    before: Record<string, string>,
    random: (below: number) => number,
  ): Promise<Verdict> {
    const { around: root, log, rate } = this.#own;
    await this.#give("remove", { root, rate: 5 * rate, from: 0, log, seed: random(2 ** 30) });
    // Files of a process that has ended may be removed.
    await this.#tools.processes.end();
    this.notes.push("removal without faults");
    this.#isRemoved = true;
    for (let attempt = 0; ; attempt++) {
      const failure = await this.#give("remove", null);
      if (failure === null) break;
      if (attempt === MOST_ATTEMPTS) throw new Wrong("stuck", "the job cannot be removed");
    }
    const output = outputOf(this.#case.made, this.#place);
    const now = contentsOf(this.#place.inputs);
    const isPartial = Object.keys(now).some((name) => name.endsWith(".ndscatter/partial"));
    // A folder that this user may not remove stays, empty.
    const stays = (folder: string): boolean =>
      fs.statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true &&
      this.faults().some((line) => line.includes(`rmdir ${path.relative(root, folder)}`)) &&
      Object.values(contentsOf(folder)).every((content) => content === "/");
    const isSame = Object.keys({ ...before, ...now }).every(
      (name) => before[name] === now[name] || stays(path.join(this.#place.inputs, name)),
    );
    const isAbsent =
      this.#case.made.out === "data"
        ? isSame || isPartial
        : this.#case.made.out === "s3"
          ? this.#objects().length === 0
          : !fs.existsSync(output);
    if (!isAbsent && !stays(output)) await this.#check();
    const left = this.#left(before, this.#case.made.out === "data" ? "data" : null).filter(
      (name) =>
        !(isPartial && name.includes(".ndscatter")) &&
        ![this.#place.home, this.#place.inputs].some((folder) => stays(path.join(folder, name))),
    );
    if (left.length > 0) throw new Wrong("left behind", left.join(", "));
    return "removed";
  }

  async #check(): Promise<void> {
    const { expected, made } = this.#case;
    const output = outputOf(made, this.#place);
    const result = await openArray(output)
      .then((array) => array.read())
      .catch((error: unknown) => {
        throw new Wrong("wrong", `the output cannot be read: ${String(error)}`);
      });
    if (equals(result, expected)) return;
    throw new Wrong("wrong", `got ${result}, expected ${expected}`);
  }

  async #checkLeft(before: Record<string, string>, changed: "data" | null): Promise<void> {
    let left = this.#left(before, changed);
    if (left.length > 0) {
      // A file may be named after its process, and is removed by the next call when the process has ended.
      await this.#tools.processes.end();
      await this.#give("call", null);
      left = this.#left(before, changed);
    }
    if (left.length > 0) throw new Wrong("left behind", left.join(", "));
  }

  /** The objects of the case in object storage. */
  #objects(): string[] {
    const keys = [...this.#tools.servers.objects.keys()];
    return keys.filter((key) => key.startsWith(`bucket/${this.#own.name}/`));
  }

  /** What differs from the inputs, and stands beside the output. */
  #left(before: Record<string, string>, changed: "data" | null): string[] {
    const { home, inputs } = this.#place;
    const { made } = this.#case;
    const now = contentsOf(inputs);
    const isOfData = (name: string): boolean => changed !== null && OF_ARRAYS.test(name);
    const names = new Set([...Object.keys(before), ...Object.keys(now)]);
    const different = [...names].filter((name) => before[name] !== now[name] && !isOfData(name));
    const isKept = (name: string): boolean =>
      made.how !== "whole" && !this.#isRemoved && OF_JOBS.test(name);
    const others = Object.keys(contentsOf(home)).filter(
      (name) => !OF_ARRAYS.test(name) && !isKept(name),
    );
    const objects = this.#objects().filter(
      (key) => !/\/out\.zarr\/(?:zarr\.json|c(?:\/\d+)*)$/.test(key),
    );
    return [...different, ...others, ...objects];
  }
}
