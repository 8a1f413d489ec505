/** Runs jobs in parallel, one for each core, in the order given. The results have that order too. */

import * as os from "node:os";

export async function inParallel<Job, Result>(
  jobs: readonly Job[],
  run: (job: Job) => Promise<Result>,
): Promise<Result[]> {
  const results = new Map<Job, Result>();
  const pending = jobs.values();
  const lane = async (): Promise<void> => {
    // The lanes share one iterator, so each job is taken once.
    for (const job of pending) results.set(job, await run(job));
  };
  await Promise.all(Array.from({ length: os.availableParallelism() }, lane));
  return jobs.map((job) => results.get(job) as Result);
}
