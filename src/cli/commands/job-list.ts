/** Implements `ndscatter job list`, which lists jobs and unfinished arrays in a folder tree. */

import { printCount } from "../../core/foreign.ts";
import * as path from "node:path";
import type { Command } from "commander";
import { describeJob, findJobs, jobFailure, openJob } from "../../entries/chunked.ts";
import { isTensorError } from "../../entries/index.ts";
import type { Io } from "../io.ts";
import { folderOf, isUrl } from "../input/places.ts";
import { JSON_HELP, printJson, printTable } from "../text/layout.ts";
import { statusOf } from "./job-status.ts";

export function addJobList(job: Command, io: Io): void {
  job
    .command("list")
    .summary("list the jobs below a folder")
    .description(
      "List the jobs below a folder, and the unfinished arrays whose jobs are in other folders.",
    )
    .argument("[folder]", "the folder to search (default: the current folder)")
    .option("--json", JSON_HELP)
    .addHelpText("after", "\nExamples:\n  ndscatter job list /shared")
    .action((folder: string | undefined, { json = false }: { json?: boolean }) =>
      listJobs(io, folder ?? ".", json),
    );
}

/** One line in the output of `ndscatter job list`. */
interface ListedJob {
  /** The job's folder; null if unknown. */
  readonly folder: string | null;
  readonly state: string;
  /** The job's call; null if the job cannot be read. */
  readonly call: string | null;
  /** The output array of a job, or an unfinished array without a job. */
  readonly out: string | null;
  readonly inPlace?: boolean;
  /** The number of chunks that the job has changed in place. */
  readonly changed?: number | null;
  readonly chunks?: number;
}

async function listJobs(io: Io, given: string, isJson: boolean): Promise<void> {
  const short = (place: string): string => {
    const relative = path.relative(io.cwd, place);
    return isUrl(place) || relative.startsWith("..") ? place : relative === "" ? "." : relative;
  };
  const jobs: ListedJob[] = [];
  for (const { folder, array } of await findJobs(folderOf(io, given))) {
    const place = folder === null ? null : short(folder);
    if (array !== null)
      jobs.push({ folder: place, state: "not here", call: null, out: short(array) });
    // oxlint-disable-next-line no-await-in-loop -- in their order
    else jobs.push({ ...(await listed(folder ?? "", short)), folder: place });
  }
  if (isJson) return void (await io.stdout.write(`${printJson({ jobs })}\n`));
  const rows = jobs.map((job) => [
    job.folder ?? "not known",
    job.call ?? "",
    job.state,
    outOf(job),
  ]);
  const table = printTable([["job", "call", "state", "output"], ...rows]);
  await io.stdout.write(jobs.length === 0 ? `no jobs below ${given}\n` : `${table}\n`);
}

function outOf({ out, inPlace, changed, chunks }: ListedJob): string {
  const far = changed == null ? "" : `, ${changed} of ${printCount(chunks ?? 0, "chunk")} changed`;
  return `${out ?? ""}${inPlace === true ? ", in place" : ""}${far}`;
}

async function listed(
  folder: string,
  short: (place: string) => string,
): Promise<Omit<ListedJob, "folder">> {
  try {
    const facts = await describeJob(folder);
    const job = await openJob(folder);
    const stages = await statusOf(job);
    const current = stages.find(({ done, tasks }) => done < tasks);
    const state =
      current === undefined
        ? "done"
        : (await jobFailure(job)) !== null
          ? "a bad index stopped the job"
          : `${current.name} ${current.done} of ${current.tasks}`;
    return { state, ...facts, out: short(facts.out) };
  } catch (error) {
    if (!isTensorError(error)) throw error;
    return { state: `not readable: ${error.message}`, call: null, out: null };
  }
}
