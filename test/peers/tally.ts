/** Counts the cases of a part, and its differences that are not accepted. */

import { printCount } from "../../src/core/foreign.ts";
import type { Counts } from "../runners/outcome.ts";

/** A part of the comparison, which `main.ts` runs. */
export interface Part {
  readonly name: string;
  readonly what: string;
  readonly accepted: readonly Accepted[];
  /** @param factor multiplies the number of random cases */
  run(tally: Tally, factor: number): Promise<void>;
}

/**
 * An accepted difference, with the version of the peer in which it was seen, and the reason. A row that a whole run no
 * longer sees is a failure, so that a correction in the peer is noticed.
 */
export interface Accepted {
  readonly peer: string;
  /** The facts of the difference, each with its possible values; others do not matter. */
  readonly facts: Readonly<Record<string, readonly string[]>>;
  /** Words of the peer's answer, if they distinguish the row. */
  readonly says?: string;
  readonly version: string;
  readonly reason: string;
  /** True if even a whole run may miss the difference. */
  readonly isRare?: true;
}

/** A case in which a peer differs from the package. */
export interface Difference {
  readonly peer: string;
  /** What happened, in a few words, and the properties of the case that rows of accepted differences name. */
  readonly facts: Readonly<Record<string, string>>;
  /** The case, with everything that repeats it. */
  readonly what: string;
  readonly expected: string;
  readonly got: string;
}

/** Maximum number of groups of differences that are printed for each part. */
const SHOWN = 40;

export class Tally {
  readonly #part: Part;
  /** True if every difference is printed, instead of the first of each group. */
  readonly #showsAll: boolean;
  readonly #cases = new Map<string, number>();
  readonly #accepted = new Map<Accepted, number>();
  readonly #differences: Difference[] = [];
  #skipped = 0;

  constructor(part: Part, showsAll = false) {
    this.#part = part;
    this.#showsAll = showsAll;
  }

  /** Prints a line about the part, such as a peer's version. */
  note(what: string): void {
    console.log(`${this.#part.name}: ${what}`);
  }

  /** Counts a case in which a peer agrees. */
  agree(peer: string): void {
    this.#cases.set(peer, (this.#cases.get(peer) ?? 0) + 1);
  }

  differ(difference: Difference): void {
    this.agree(difference.peer);
    const row = this.#part.accepted.find((one) => isAccepted(one, difference));
    if (row === undefined) this.#differences.push(difference);
    else this.#accepted.set(row, (this.#accepted.get(row) ?? 0) + 1);
  }

  skip(what: string): void {
    this.#skipped++;
    this.note(`skipped: ${what}`);
  }

  /**
   * Prints the part, and returns its counts.
   * @param isWhole true if every accepted difference must have been seen
   */
  close(isWhole: boolean): Counts {
    for (const [peer, count] of this.#cases) this.note(`${peer}: ${printCount(count, "case")}`);
    for (const [{ peer, version, reason }, count] of this.#accepted) {
      this.note(`${peer} ${version}: accepted: ${printCount(count, "time")}: ${reason}`);
    }
    const unseen = this.#part.accepted.filter(
      (row) => row.isRare !== true && this.#cases.has(row.peer) && !this.#accepted.has(row),
    );
    const stale = isWhole ? unseen : [];
    for (const { peer, reason } of stale) {
      this.note(`${peer}: no longer seen; remove its row: ${reason}`);
    }
    this.#printDifferences();
    const all = [...this.#cases.values()].reduce((sum, count) => sum + count, 0);
    const failed = this.#differences.length + stale.length;
    return { passed: all - this.#differences.length, failed, skipped: this.#skipped };
  }

  /** Prints the differences in groups of one peer and first fact, each with the values of its facts and its first case. */
  #printDifferences(): void {
    const groups = new Map<string, Difference[]>();
    for (const one of this.#differences) {
      const facts = Object.values(one.facts);
      const title = this.#showsAll
        ? `${one.peer}: ${facts.join(", ")}`
        : `${one.peer}: ${facts[0]}: ${kindOf(one.got)}`;
      groups.set(title, [...(groups.get(title) ?? []), one]);
    }
    const largest = [...groups].toSorted(([, a], [, b]) => b.length - a.length);
    for (const [title, all] of largest.slice(0, this.#showsAll ? groups.size : SHOWN)) {
      const [{ what, facts, expected, got }] = all;
      this.note(`DIFFERS ${printCount(all.length, "time")}: ${title}`);
      for (const name of Object.keys(facts)) {
        const values = new Set(all.map((one) => one.facts[name]));
        console.log(`  ${name}: ${[...values].join(", ")}`);
      }
      console.log(`  ${what}\n  expected ${expected}\n  got      ${got}`);
    }
    if (groups.size > SHOWN) this.note(`${groups.size} groups of differences in all`);
  }
}

/** Returns the kind of an answer: equal for errors that differ only in numbers, and empty for a tensor. */
const kindOf = (got: string): string =>
  /^tensor|^at /.test(got) ? "" : got.replaceAll(/\d+|\[[^\]]*\]/g, "#").slice(0, 100);

const isAccepted = (row: Accepted, { peer, facts, got }: Difference): boolean =>
  row.peer === peer &&
  got.includes(row.says ?? "") &&
  Object.entries(row.facts).every(([name, values]) => values.includes(facts[name]));
