/** Records in each job's folder that this process is working on the job: see `../job/workers.ts`. */

import { randomBytes } from "node:crypto";
import { constants } from "node:fs";
import * as fs from "node:fs/promises";
import * as path from "node:path";
import { CHUNKED } from "../../../core/limits.ts";
import { HOST } from "../job/temporary.ts";
import { checkFolderIn, type Roots } from "../job/roots.ts";
import { WORKERS } from "../job/job.ts";
import type { Taker, WorkerRecord } from "../job/workers.ts";

interface Work {
  readonly folder: string;
  readonly id: string;
  readonly begin: number;
  done: number;
  running: number;
  /** True if a task has run since the last record was written. */
  isNew: boolean;
}

export class Presence {
  readonly #by: Taker;
  readonly #threads: number;
  readonly #roots: Roots | null;
  readonly #name = `${HOST}-${process.pid}-${randomBytes(3).toString("hex")}`;
  readonly #works = new Map<string, Work>();
  #timer: NodeJS.Timeout | undefined;
  #last: Promise<unknown> = Promise.resolve();

  constructor(by: Taker, threads: number, roots: Roots | null) {
    this.#by = by;
    this.#threads = threads;
    this.#roots = roots;
  }

  /**
   * Runs a task and records it. Without the job's id, nothing is recorded, because the record could be attributed to
   * another job.
   */
  async during(folder: string, id: string | undefined, run: () => Promise<void>): Promise<void> {
    if (id === undefined) return run();
    const work = this.#workOn(folder, id);
    work.running++;
    work.isNew = true;
    try {
      await run();
      work.done++;
    } finally {
      work.running--;
    }
  }

  #workOn(folder: string, id: string): Work {
    const key = `${id} ${folder}`;
    const work = this.#works.get(key) ?? {
      folder,
      id,
      begin: performance.now(),
      done: 0,
      running: 0,
      isNew: true,
    };
    if (!this.#works.has(key))
      this.#last = this.#last.then(() => this.#write(work)).catch(() => {});
    this.#works.set(key, work);
    // The timer does not keep the process alive.
    this.#timer ??= setInterval(() => {
      this.#last = this.#last.then(() => this.#renew());
    }, CHUNKED.record).unref();
    return work;
  }

  async #renew(): Promise<void> {
    for (const [key, work] of this.#works) {
      const isOver = work.running === 0 && !work.isNew;
      work.isNew = false;
      if (isOver) this.#works.delete(key);
      // Errors in writing a record are ignored.
      // oxlint-disable-next-line no-await-in-loop -- one job most often
      await (isOver ? this.#remove(work) : this.#write(work)).catch(() => {});
    }
    if (this.#works.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  async #write({ folder, id, begin, done }: Work): Promise<void> {
    if (this.#roots !== null) await checkFolderIn(this.#roots, folder);
    const place = path.join(folder, WORKERS);
    // The check prevents writing through a link, or into the folder of a finished job.
    if (!(await fs.lstat(place)).isDirectory()) return;
    const seconds = Math.round(performance.now() - begin) / 1000;
    const record: WorkerRecord = {
      job: id,
      host: HOST,
      process: process.pid,
      by: this.#by,
      threads: this.#threads,
      done,
      seconds,
    };
    const { O_CREAT, O_NOFOLLOW, O_TRUNC, O_WRONLY } = constants;
    const flags = O_CREAT | O_NOFOLLOW | O_TRUNC | O_WRONLY;
    const file = path.join(place, this.#name);
    // The record is renamed into place, so that readers never see an incomplete record.
    await fs.writeFile(`${file}.tmp`, JSON.stringify(record), { flag: flags });
    await fs.rename(`${file}.tmp`, file);
  }

  async #remove({ folder }: Work): Promise<void> {
    await fs.rm(path.join(folder, WORKERS, this.#name), { force: true });
  }

  /** Removes this process's records. */
  async end(): Promise<void> {
    clearInterval(this.#timer);
    await this.#last;
    for (const work of this.#works.values()) {
      // oxlint-disable-next-line no-await-in-loop -- one job most often
      await this.#remove(work).catch(() => {});
    }
    this.#works.clear();
  }
}
