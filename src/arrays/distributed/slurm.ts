/**
 * Prints a shell script that runs a job in Slurm: each stage is a job array that begins after the previous stage has
 * succeeded. The functions in this file do not run sbatch. Other schedulers can call the same command: see the examples
 * in `docs/arrays/distributed.md`.
 */

import {
  factOf,
  isArray,
  namesOf,
  optionsOf,
  printValue,
  wrongOption,
} from "../../core/foreign.ts";
import { checkJob } from "../chunked/job/arguments.ts";
import { remainingTasks, type Job, type Stage, type StageName } from "../chunked/job/job.ts";
import { DEFAULT_MEMORY } from "../chunked/run/pool.ts";
import { checkCount } from "../chunked/stages/budget.ts";
import { TensorError } from "../../core/errors.ts";
import { currentStage, type Core } from "./core.ts";
import { printNumbers } from "./ranges.ts";

/** Options of `slurmScript`. */
export interface SlurmOptions {
  /** The command that runs ndscatter on a node; `["ndscatter"]` by default. */
  readonly command?: readonly string[] | undefined;
  /** The number of tasks per array element; by default, one task per thread, or as many as `mostElements` requires. */
  readonly tasksPerElement?: number | undefined;
  /**
   * The maximum number of array elements; 1000 by default. Slurm's setting MaxArraySize, 1001 by default, must be
   * greater than every element number.
   */
  readonly mostElements?: number | undefined;
  /** The number of array elements that run at the same time; by default, as many as the cluster allows. */
  readonly atOnce?: number | undefined;
  /** The number of tasks per array element that run at the same time, each on a processor; 1 by default. */
  readonly threads?: number | undefined;
  /** The memory for all threads of an array element together, in bytes; 1 GiB by default, as for the command. */
  readonly memory?: number | undefined;
  readonly partition?: string | undefined;
  /** The time limit in Slurm's notation, such as `2:00:00`. */
  readonly time?: string | undefined;
  /** The folder for the output of array elements; by default, the folder in which the script runs. */
  readonly logs?: string | undefined;
  /** Additional sbatch options, one word each. */
  readonly sbatch?: readonly string[] | undefined;
  /** True if the script should wait for the end of the job and return the status of the last stage. */
  readonly wait?: boolean | undefined;
}

const SLURM_OPTIONS = namesOf<SlurmOptions>({
  command: true,
  tasksPerElement: true,
  mostElements: true,
  atOnce: true,
  threads: true,
  memory: true,
  partition: true,
  time: true,
  logs: true,
  sbatch: true,
  wait: true,
});

/** The remaining task numbers, by stage. */
type Remaining = ReadonlyMap<StageName, readonly number[]>;

const DEFAULT_MOST_ELEMENTS = 1000;

/**
 * The ratio of requested to needed memory, because Slurm also counts cached files and kills an element that exceeds its
 * request.
 */
const RESERVE = 1.25;

/** The delimiter that ends the script for nodes inside the submitting script. */
const END = "END_OF_NDSCATTER_TASKS";

/**
 * Returns a script that submits a job's remaining tasks. Running a script twice is safe, even while tasks of an earlier
 * script are running, because finished tasks are skipped.
 * @param core a replacement for the functions on job folders, for other kinds of jobs
 * @param job a job from `openJob`
 * @param options the command, and the size of job arrays
 * @throws TensorError `attribute` for a path or an option that a script cannot contain
 *
 * @example
 * ```ts
 * import { openArray } from "ndscatter/zarr";
 *
 * const [data, indices, updates] = await Promise.all([
 *   openArray("table.zarr"),
 *   openArray("ids.npy"),
 *   openArray("rows.npy"),
 * ]);
 * const request = {
 *   folder: "job",
 *   call: { function: "scatterND", options: { reduction: "add" } },
 *   data,
 *   indices,
 *   updates,
 *   out: { format: "zarr", path: "sums.zarr" },
 *   memory: 2 ** 28,
 *   threads: 1,
 * } as const;
 * await createJob(request);
 * const script = await slurmScript(await openJob("job"), { command: ["npx", "ndscatter"] });
 * console.log(script.split("\n")[0]); // #!/bin/sh
 * ```
 */
export async function slurmScript(
  job: Job,
  options: SlurmOptions = {},
  core: Pick<Core, "remainingTasks"> = { remainingTasks },
): Promise<string> {
  checkJob(job);
  checkOptions(options);
  const remaining = new Map<StageName, readonly number[]>();
  if ((await currentStage(core, job)) !== null) {
    for (const { name } of job.stages) {
      // oxlint-disable-next-line no-await-in-loop
      remaining.set(name, await core.remainingTasks(job, name));
    }
  }
  return printSlurmScript(job, remaining, options);
}

/** Prints a script for the remaining tasks of each stage. */
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
  // With --wait, the last submission lasts until the job ends, so the hint is printed before it.
  const order = options.wait === true ? [...tail, ...parts] : [...parts, ...tail];
  return `${[...head, ...order].join("\n")}\n`;
}

interface Place {
  readonly before: StageName | undefined;
  readonly isLast: boolean;
  readonly options: SlurmOptions;
}

/** Returns the lines that submit a stage and store its Slurm id in a variable with the stage's name. */
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
  // An array element always has the same tasks, no matter which tasks remain.
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
  // The script is in a shell function, because some shells misparse quotes within `$(...)`.
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
    // The name of the cluster, which follows the id in a federation, is removed.
    `${stage.name}=\${${stage.name}%%;*}`,
  ];
}

/** The time for which a network file system may show an outdated listing, in s. The default for NFS is a minute. */
const PATIENCE = 70;

/** Quotes a word for the shell. */
function quote(word: string): string {
  // A line break could end the inner script, and a NUL ends any argument.
  if (/[\n\r\0]/.test(word)) {
    throw new TensorError("attribute", `a script cannot contain the name ${printValue(word)}`, {
      key: "name",
      got: factOf(word),
    });
  }
  return /^[\w./:=%@,+-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
}

function checkOptions(options: SlurmOptions): void {
  optionsOf(options, SLURM_OPTIONS, {});
  const { command, tasksPerElement, mostElements, atOnce, threads, memory } = options;
  const { sbatch, partition, time, logs, wait } = options;
  const counts = { tasksPerElement, mostElements, atOnce, threads, memory };
  for (const [name, value] of Object.entries(counts)) {
    if (value !== undefined) checkCount(name, value);
  }
  for (const [name, words] of Object.entries({ command, sbatch })) {
    if (
      words === undefined ||
      (isArray(words) && [...words].every((one) => typeof one === "string"))
    )
      continue;
    throw wrongOption(name, "a list of words", words);
  }
  for (const [name, text] of Object.entries({ partition, time, logs })) {
    if (text !== undefined && typeof text !== "string") throw wrongOption(name, "text", text);
  }
  if (wait !== undefined && typeof wait !== "boolean")
    throw wrongOption("wait", "true or false", wait);
  if (command?.length === 0)
    throw new TensorError("attribute", "command must have at least one word", {
      key: "command",
    });
}
