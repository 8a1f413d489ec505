/** Runs jobs in parallel, one for each core, in the order given. The results have that order too. */

import * as os from "node:os";

export async function inParallel<Job, Result>(
  jobs: Iterable<Job>,
  run: (job: Job) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  const pending = jobs[Symbol.iterator]();
  let next = 0;
  const lane = async (): Promise<void> => {
    // The lanes share one iterator, so each job is taken once.
    for (let one = pending.next(); !one.done; one = pending.next()) {
      const at = next++;
      results[at] = await run(one.value);
    }
  };
  await Promise.all(Array.from({ length: os.availableParallelism() }, lane));
  return results;
}
