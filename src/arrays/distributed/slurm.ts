/**
 * A job for Slurm: a script for sh that submits each stage as an array, which begins when the stage before has ended
 * well. Nothing here runs sbatch. Schedulers that hand out a number in another way call the same command:
 * `docs/arrays/distributed.md` shows some.
 */

import { remainingTasks, type Job, type Stage, type StageName } from "../chunked/job/job.ts";
import { DEFAULT_MEMORY } from "../chunked/run/pool.ts";
import { checkCount } from "../chunked/stages/budget.ts";
import { printValue, TensorError } from "../../core/errors.ts";
import { currentStage, type Core } from "./core.ts";
import { printNumbers } from "./ranges.ts";

export interface SlurmOptions {
  /** The words that call the command on a node; `["ndscatter"]` by default. */
  readonly command?: readonly string[];
  /** How many tasks an element of an array runs; by default one a thread, or as many as `mostElements` needs. */
  readonly tasksPerElement?: number;
  /**
   * The most elements of an array. Slurm refuses an element's number that is not below its MaxArraySize, 1001 unless
   * the cluster's configuration says otherwise; 1000 by default.
   */
  readonly mostElements?: number;
  /** How many elements run at once; by default as many as there is room for. */
  readonly atOnce?: number;
  /** How many tasks of an element run at once, each on a processor; 1 by default. */
  readonly threads?: number;
  /** Bytes for all threads of an element together; 1 GiB by default, as of the command. */
  readonly memory?: number;
  readonly partition?: string;
  /** As Slurm takes it, such as `2:00:00`. */
  readonly time?: string;
  /** A folder for what elements print; that where the script runs by default. */
  readonly logs?: string;
  /** More options of sbatch, a word each. */
  readonly sbatch?: readonly string[];
  /** Has the script wait until the job has ended, with the status of its last stage. */
  readonly wait?: boolean;
}

/** The tasks that remain, by stage. */
type Remaining = ReadonlyMap<StageName, readonly number[]>;

const DEFAULT_MOST_ELEMENTS = 1000;

/** Slurm ends an element that takes more than it asked for, and counts files in the cache too. */
const RESERVE = 1.25;

/** The end of the script for a node, within the script that submits it. */
const END = "END_OF_NDSCATTER_TASKS";

/**
 * The script that submits what remains of a job. To run it twice is harmless, and so is a new one while tasks of the
 * first still run: a task that is done does nothing.
 * @param core where jobs are of another kind
 * @throws TensorError for a path or an option that a script cannot say
 */
export async function slurmScript(
  job: Job,
  options: SlurmOptions = {},
  core: Pick<Core, "remainingTasks"> = { remainingTasks },
): Promise<string> {
  const remaining = new Map<StageName, readonly number[]>();
  if ((await currentStage(core, job)) !== null) {
    for (const { name } of job.stages) {
      // oxlint-disable-next-line no-await-in-loop
      remaining.set(name, await core.remainingTasks(job, name));
    }
  }
  return printSlurmScript(job, remaining, options);
}

/** The script for the tasks that remain, by stage. */
export function printSlurmScript(job: Job, remaining: Remaining, options: SlurmOptions): string {
  checkOptions(options);
  const stages = job.stages.filter(({ name }) => (remaining.get(name) ?? []).length > 0);
  const head = [
    "#!/bin/sh",
    "# Submits the tasks of an ndscatter job that are not done. Running it twice is harmless.",
    "set -eu",
  ];
  const folder = quote(job.folder);
  if (stages.length === 0) {
    return `${[...head, `printf '%s\\n' ${quote(`${job.folder} is done`)}`].join("\n")}\n`;
  }
  const parts = stages.flatMap((stage, at) =>
    submission(job, stage, remaining.get(stage.name) ?? [], {
      before: stages[at - 1]?.name,
      isLast: at === stages.length - 1,
      options,
    }),
  );
  const ids = stages.map(({ name }) => `$${name}`).join(" ");
  const call = [...(options.command ?? ["ndscatter"]), "job", "status"].map(quote).join(" ");
  const tail = [
    ...(options.wait === true ? [] : [`printf 'submitted %s\\n' "${ids}"`]),
    `printf '%s\\n' ${quote(`see: ${call} ${folder}`)} >&2`,
  ];
  // With --wait the last submission is the longest, so the hint comes before it.
  const order = options.wait === true ? [...tail, ...parts] : [...parts, ...tail];
  return `${[...head, ...order].join("\n")}\n`;
}

interface Place {
  readonly before: StageName | undefined;
  readonly isLast: boolean;
  readonly options: SlurmOptions;
}

/** The lines that submit one stage, and keep its number in a variable of its name. */
function submission(
  { folder }: Job,
  stage: Stage,
  remaining: readonly number[],
  { before, isLast, options }: Place,
): string[] {
  const { mostElements = DEFAULT_MOST_ELEMENTS, atOnce, command = ["ndscatter"] } = options;
  const { threads = 1, memory = DEFAULT_MEMORY } = options;
  const fitting = Math.ceil(stage.tasks / mostElements);
  const length = Math.max(options.tasksPerElement ?? threads, fitting);
  // Element e has the same tasks however many of them remain.
  const elements = [...new Set(remaining.map((task) => Math.floor(task / length)))];
  const array = printNumbers(elements) + (atOnce === undefined ? "" : `%${atOnce}`);
  const logs = options.logs === undefined ? "" : `${options.logs.replaceAll("%", "%%")}/`;
  const words = [
    "--parsable",
    `--job-name=ndscatter-${stage.name}`,
    `--array=${array}`,
    "--requeue",
    "--kill-on-invalid-dep=yes",
    `--cpus-per-task=${threads}`,
    `--mem=${Math.ceil((memory * RESERVE) / 2 ** 20)}M`,
    ...(options.partition === undefined ? [] : [`--partition=${options.partition}`]),
    ...(options.time === undefined ? [] : [`--time=${options.time}`]),
    `--output=${logs}ndscatter-${stage.name}-%A-%a.out`,
    ...(isLast && options.wait === true ? ["--wait"] : []),
    ...(options.sbatch ?? []),
  ].map(quote);
  const dependency = before === undefined ? [] : [`"--dependency=afterok:$${before}"`];
  const call = [...command, "job", "task", folder, stage.name].map(quote).join(" ");
  // A function, because some shells misread quotes of a text within `$(...)`.
  return [
    `${stage.name}_tasks() {`,
    `  cat <<'${END}'`,
    "#!/bin/sh",
    `first=$((SLURM_ARRAY_TASK_ID * ${length}))`,
    `last=$((first + ${length - 1}))`,
    `[ "$last" -lt ${stage.tasks} ] || last=${stage.tasks - 1}`,
    `exec ${call} "$first-$last" --threads ${threads} --memory ${memory} --wait ${PATIENCE}`,
    END,
    "}",
    `${stage.name}=$(${stage.name}_tasks | sbatch ${[...words, ...dependency].join(" ")})`,
    // In a federation the name of the cluster follows.
    `${stage.name}=\${${stage.name}%%;*}`,
  ];
}

/** Seconds for which a network file system may show an old listing: a minute, by NFS's default. */
const PATIENCE = 70;

/** A word for sh that stands for itself. */
function quote(word: string): string {
  // A line break could end the script within the script, and a NUL ends every argument.
  if (/[\n\r\0]/.test(word)) {
    throw new TensorError("attribute", `a script cannot hold the name ${printValue(word)}`);
  }
  return /^[\w./:=%@,+-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
}

function checkOptions(options: SlurmOptions): void {
  const { command, tasksPerElement, mostElements, atOnce, threads, memory } = options;
  const counts = { tasksPerElement, mostElements, atOnce, threads, memory };
  for (const [name, value] of Object.entries(counts)) {
    if (value !== undefined) checkCount(name, value);
  }
  if (command?.length === 0)
    throw new TensorError("attribute", "command must have at least one word");
}
