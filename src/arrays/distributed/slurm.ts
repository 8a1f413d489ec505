/**
 * Prints a shell script that runs a job in Slurm. Each element of a job array runs the job's unfinished tasks together
 * with the other elements. The functions in this file do not run sbatch.
 */

import {
  factOf,
  isArray,
  namesOf,
  optionsOf,
  printValue,
  wrongOption,
} from "../../core/foreign.ts";
import { checkJob, remainingTasks, type Job } from "../chunked/job/job.ts";
import { DEFAULT_MEMORY } from "../chunked/run/pool.ts";
import { checkCount } from "../chunked/job/request.ts";
import { TensorError } from "../../core/errors.ts";

/** Options of `slurmScript`. */
export interface SlurmOptions {
  /** The command that runs ndscatter on a node; `["ndscatter"]` by default. */
  readonly command?: readonly string[] | undefined;
  /**
   * The number of tasks per array element, which determines the number of elements: by default, one task per thread, or
   * as many as 1000 elements require.
   */
  readonly tasksPerElement?: number | undefined;
  /** The number of array elements that run at the same time; by default, as many as the cluster allows. */
  readonly atOnce?: number | undefined;
  /** The number of tasks per array element that run at the same time, each on a processor; 1 by default. */
  readonly threads?: number | undefined;
  /** The memory for all threads of an array element together, in bytes; 1 GiB by default, as for the command. */
  readonly memory?: number | undefined;
  readonly partition?: string | undefined;
  /** The time limit of an element in Slurm's notation, such as `2:00:00`. */
  readonly time?: string | undefined;
  /** The folder for the output of array elements; by default, the folder in which the script runs. */
  readonly logs?: string | undefined;
  /** Additional sbatch options, one word each. */
  readonly sbatch?: readonly string[] | undefined;
  /** True if the script should wait for the end of the job and fail unless the job is done. */
  readonly wait?: boolean | undefined;
}

const SLURM_OPTIONS = namesOf<SlurmOptions>({
  ...{ command: true, tasksPerElement: true, atOnce: true, threads: true },
  ...{ memory: true, partition: true, time: true, logs: true, sbatch: true, wait: true },
});

/** The maximum number of array elements, the limit of Slurm's default MaxArraySize. */
const MOST_ELEMENTS = 1000;

/**
 * The ratio of requested to needed memory, because Slurm also counts cached files and kills an element that exceeds its
 * request.
 */
const RESERVE = 1.25;

/** The delimiter that ends the script for nodes inside the submitting script. */
const END = "END_OF_NDSCATTER_TASKS";

/**
 * Returns a script that submits a job's unfinished tasks. Running a script twice is safe, even while tasks of an
 * earlier script are running, because finished tasks are skipped.
 * @param job a job from `openJob`
 * @param options the command, and the size of the job array
 * @throws TensorError `attribute` for a path or an option that a script cannot contain
 *
 * @example
 * ```ts
 * await createJob(request); // the request of createJob
 * const script = await slurmScript(await openJob("job"), { command: ["npx", "ndscatter"] });
 * console.log(script.split("\n")[0]); // #!/bin/sh
 * ```
 */
export async function slurmScript(job: Job, options: SlurmOptions = {}): Promise<string> {
  checkJob(job);
  checkOptions(options);
  const left = await Promise.all(job.stages.map(({ name }) => remainingTasks(job, name)));
  return printSlurmScript(job, Math.max(...left.map(({ length }) => length)), options);
}

/** Prints a script for a job whose stages have at most `tasks` unfinished tasks each. */
export function printSlurmScript({ folder }: Job, tasks: number, options: SlurmOptions): string {
  checkOptions(options);
  const { atOnce, threads = 1, memory = DEFAULT_MEMORY } = options;
  const { command = ["ndscatter"], tasksPerElement = threads, wait = false } = options;
  const call = (...words: readonly string[]): string =>
    [...command, "job", ...words].map(quote).join(" ");
  const head = [
    "#!/bin/sh",
    "# Submits the tasks of an ndscatter job that are not done. Running it twice is harmless.",
    "set -eu",
  ];
  const say = (text: string): string => `printf '%s\\n' ${quote(text)}`;
  if (tasks === 0) return [...head, say(`${folder} is done`), ""].join("\n");
  const elements = Math.min(MOST_ELEMENTS, Math.ceil(tasks / tasksPerElement));
  const logs = options.logs === undefined ? "" : `${options.logs.replaceAll("%", "%%")}/`;
  const words = [
    "--parsable",
    "--job-name=ndscatter",
    `--array=0-${elements - 1}${atOnce === undefined ? "" : `%${atOnce}`}`,
    "--requeue",
    `--cpus-per-task=${threads}`,
    `--mem=${Math.ceil((memory * RESERVE) / 2 ** 20)}M`,
    ...(options.partition === undefined ? [] : [`--partition=${options.partition}`]),
    ...(options.time === undefined ? [] : [`--time=${options.time}`]),
    `--output=${logs}ndscatter-%A-%a.out`,
    ...(wait ? ["--wait"] : []),
    ...(options.sbatch ?? []),
  ].map(quote);
  const resume = call("resume", folder, "--threads", `${threads}`, "--memory", `${memory}`);
  const submit = `tasks | sbatch ${words.join(" ")}`;
  const see = `${say(`see: ${call("status", folder)}`)} >&2`;
  return [
    ...head,
    // The script is in a shell function, because some shells misparse quotes within `$(...)`.
    "tasks() {",
    `  cat <<'${END}'`,
    "#!/bin/sh",
    `exec ${resume}`,
    END,
    "}",
    // With --wait, sbatch fails if any element failed, but other elements may have finished the job, which a network
    // file system may show a minute later.
    ...(wait
      ? [see, `${submit} || true`, `exec ${call("task", folder, "finish", "0", "--wait", "70")}`]
      : // The name of the cluster, which follows the id in a federation, is removed.
        [`id=$(${submit})`, `printf 'submitted %s\\n' "\${id%%;*}"`, see]),
    "",
  ].join("\n");
}

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

const areWords = (list: unknown): boolean =>
  isArray(list) && [...list].every((one) => typeof one === "string");

function checkOptions(options: SlurmOptions): void {
  optionsOf(options, SLURM_OPTIONS, {});
  const { command, sbatch, partition, time, logs, wait, ...counts } = options;
  for (const [name, value] of Object.entries(counts))
    if (value !== undefined) checkCount(name, value);
  for (const [must, isRight, given] of [
    ["a list of words", areWords, { command, sbatch }],
    ["text", (one: unknown) => typeof one === "string", { partition, time, logs }],
    ["true or false", (one: unknown) => typeof one === "boolean", { wait }],
  ] as const)
    for (const [name, value] of Object.entries(given))
      if (value !== undefined && !isRight(value)) throw wrongOption(name, must, value);
  if (command?.length === 0)
    throw new TensorError("attribute", "command must have at least one word", { key: "command" });
}
