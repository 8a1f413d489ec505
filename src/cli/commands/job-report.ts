/** Formats a job's progress and final report: bytes, rates and remaining time. */

import { printAmount, printCount } from "../../core/foreign.ts";
import type { JobProgress, StageName } from "../../entries/chunked.ts";
import { CLI } from "../../core/limits.ts";
import type { Io } from "../io.ts";
import { ProgressLine } from "../text/progress.ts";

/** Width of a progress bar, in characters. */
const BAR = 20;

/** Duration and data volume of a finished stage. */
export interface StageTimes {
  readonly stage: StageName;
  readonly tasks: number;
  /** Bytes that the stage's tasks have read and written in this run. */
  readonly bytes: number;
  readonly seconds: number;
}

export class JobReport {
  readonly stages: StageTimes[] = [];
  /** Disk speed in bytes per second; null if not measured. */
  disk: number | null = null;
  readonly #io: Io;
  readonly #line: ProgressLine;
  #printedAt = performance.now();

  constructor(io: Io) {
    this.#io = io;
    this.#line = new ProgressLine(io.stderr);
  }

  show(progress: JobProgress): void {
    const { stage, done, tasks, taskBytes, before, seconds } = progress;
    if (done === tasks && stage !== "finish") {
      const bytes = Math.round((done - before) * taskBytes);
      this.stages.push({ stage, tasks: done - before, bytes, seconds });
    }
    if (this.#io.stderr.isTTY) return this.#line.show(() => printProgress(progress, true));
    if (performance.now() - this.#printedAt < CLI.lines) return;
    this.#printedAt = performance.now();
    void this.#io.stderr.write(`${printProgress(progress, false)}\n`);
  }

  end(): void {
    this.#line.clear();
  }

  /** Total duration of all stages, in seconds. */
  get seconds(): number {
    return this.stages.reduce((sum, { seconds }) => sum + seconds, 0);
  }

  /** Formats a line for each stage that took at least a second, and a line for the disk speed if it was measured. */
  lines(): string[] {
    const disk =
      this.disk === null ? [] : [`  the disk: ${printAmount(this.disk)}/s, written and synced`];
    const stages = this.stages.flatMap(({ stage, tasks, bytes, seconds }) => {
      if (seconds < CLI.stage) return [];
      const rate = `${printAmount(bytes)} in ${printSeconds(seconds)}, ${printAmount(bytes / seconds)}/s`;
      return [`  ${stage}: ${printCount(tasks, "task")}, ${rate}`];
    });
    return [...stages, ...disk];
  }
}

/** Formats a line such as `apply [#######     ] 22 of 60, 610 MB/s, 12 s left`. */
export function printProgress(
  { stage, done, tasks, taskBytes, before, seconds }: JobProgress,
  hasBar: boolean,
): string {
  const filled = tasks === 0 ? BAR : Math.floor((BAR * done) / tasks);
  const bar = hasBar ? ` [${"#".repeat(filled).padEnd(BAR)}]` : ":";
  const far = `${stage}${bar} ${done} of ${tasks}`;
  const own = done - before;
  if (own === 0 || seconds === 0) return far;
  const rate = taskBytes > 0 ? `, ${printAmount((own * taskBytes) / seconds)}/s` : "";
  return `${far}${rate}, ${printSeconds(((tasks - done) * seconds) / own)} left`;
}

/** Returns a text such as `12 s`, `3 min 20 s` or `2 h 5 min`. */
export function printSeconds(seconds: number): string {
  const whole = Math.round(seconds);
  if (whole < 60) return `${seconds < 10 ? seconds.toFixed(1) : whole} s`;
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  return `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`;
}
