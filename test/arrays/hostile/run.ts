/** Makes mutants of one kind, reads each, and counts how that ends. */

import * as fs from "node:fs";
import * as path from "node:path";
import { isTensorError } from "../../../src/core/errors.ts";
import { fixedRandom } from "../../support/random.ts";
import type { Kind, Places } from "./places.ts";
import { printContents } from "./sandbox.ts";

export interface Tally {
  readonly mutants: number;
  /** How many ended in each way: a code of a TensorError, a code of the system, or in a word. */
  readonly ends: Readonly<Record<string, number>>;
  /** Mutants that threw anything else, made a wrong result, or changed something outside. */
  readonly wrong: number;
  /** Mutants that took more than a second, and again when they were made once more: a busy machine may stop one. */
  readonly slow: number;
  /** Milliseconds of the slowest mutant, of both times the shorter one. */
  readonly slowest: number;
  /** Megabytes by which the memory of the process grew, at most. */
  readonly growth: number;
  readonly seconds: number;
}

export interface RunOptions {
  readonly count: number;
  readonly first: number;
  readonly seed: number;
  /** In milliseconds of the clock. */
  readonly until?: number;
  readonly onMutant?: (mutant: number) => void;
  /** True where mutants that take longer than a second are counted. */
  readonly isWatched?: boolean;
}

/** How often it is looked whether anything outside has changed. */
const LOOK = 10;

/** Errors of the system that say in plain words what is missing, and that another try may not meet. */
const CLEAR: ReadonlySet<string> = new Set(["ENOENT"]);

export async function runKind(
  make: () => Promise<Kind>,
  places: Places,
  { count, first, seed, until = Infinity, onMutant = () => {}, isWatched = false }: RunOptions,
): Promise<Tally> {
  // The arrays outside are what mutants may want to read and to write.
  const { storeInputs } = await import("../../support/job-files.ts");
  if (!fs.existsSync(path.join(places.outside, "data.zarr"))) await storeInputs(places.outside);
  const kind = await make();
  const untouched = printContents(places.outside);
  const ends: Record<string, number> = {};
  let [wrong, slow, slowest, growth, mutants] = [0, 0, 0, 0, 0];
  const before = process.memoryUsage.rss();
  const begin = Date.now();
  const report = (mutant: number, what: string): void => {
    wrong++;
    if (wrong < 20) console.log(`mutant ${mutant} of seed ${seed}: ${what}`);
  };
  for (let mutant = first; mutant < first + count && Date.now() < until; mutant++) {
    if (mutant % 16 === 0) onMutant(mutant);
    const start = performance.now();
    let end: string;
    try {
      end = await kind(fixedRandom(seed + 7919 * mutant));
    } catch (error) {
      const code = error instanceof Error && "code" in error ? String(error.code) : "";
      const isQuiet =
        isTensorError(error) || CLEAR.has(code) || (error as Error).name === "Failure";
      end = code === "" ? (error as Error).name : code;
      if (!isQuiet) report(mutant, String((error as Error).stack));
    }
    ends[end] = (ends[end] ?? 0) + 1;
    mutants++;
    if (isWatched) {
      let time = performance.now() - start;
      if (time > 1000) {
        const again = performance.now();
        await kind(fixedRandom(seed + 7919 * mutant)).catch(() => {});
        time = Math.min(time, performance.now() - again);
      }
      slowest = Math.max(slowest, Math.round(time));
      if (time > 1000) {
        slow++;
        console.log(`mutant ${mutant} of seed ${seed} took ${Math.round(time)} ms`);
      }
    }
    if (mutant % LOOK === 0) {
      growth = Math.max(growth, process.memoryUsage.rss() - before);
      if (printContents(places.outside) !== untouched) {
        report(mutant, `something outside changed in the last ${LOOK} mutants`);
        break;
      }
    }
  }
  if (printContents(places.outside) !== untouched)
    report(first + count - 1, "something outside changed");
  const seconds = (Date.now() - begin) / 1000;
  return { mutants, ends, wrong, slow, slowest, growth: Math.round(growth / 2 ** 20), seconds };
}
