/** Counts the cases of a part, and compares what differs with the accepted differences. */

import { ACCEPTED, type Accepted } from "./accepted.ts";

/** A case in which a peer does something else than the package. */
export interface Difference {
  readonly peer: string;
  /** What happened, in one word, and what the case consists of: the words that rows of accepted differences name. */
  readonly facts: Readonly<Record<string, string>>;
  /** The case, such that somebody can repeat it. */
  readonly what: string;
  readonly expected: string;
  readonly got: string;
}

/** The differences that are printed for each part. */
const SHOWN = 12;

export class Tally {
  readonly part: string;
  readonly #cases = new Map<string, number>();
  readonly #accepted = new Map<Accepted, number>();
  readonly #differences: Difference[] = [];
  readonly #skipped: string[] = [];

  constructor(part: string) {
    this.part = part;
  }

  /** Counts a case in which a peer agrees. */
  agree(peer: string): void {
    this.#cases.set(peer, (this.#cases.get(peer) ?? 0) + 1);
  }

  differ(difference: Difference): void {
    this.agree(difference.peer);
    const row = ACCEPTED.find((one) => isAccepted(one, this.part, difference));
    if (row === undefined) this.#differences.push(difference);
    else this.#accepted.set(row, (this.#accepted.get(row) ?? 0) + 1);
  }

  /** Says something of the part, such as a peer's version. */
  note(what: string): void {
    console.log(`${this.part}: ${what}`);
  }

  skip(what: string): void {
    this.#skipped.push(what);
  }

  /**
   * Prints the part, and returns its counts.
   * @param isWhole true if every accepted difference must have been seen
   */
  close(isWhole: boolean): { passed: number; failed: number; skipped: number } {
    const cases = [...this.#cases.values()].reduce((sum, count) => sum + count, 0);
    for (const [peer, count] of this.#cases) console.log(`${this.part}: ${peer}: ${count} cases`);
    for (const [{ reason }, count] of this.#accepted) {
      console.log(`${this.part}: accepted: ${count} times: ${reason}`);
    }
    for (const what of this.#skipped) console.log(`${this.part}: skipped: ${what}`);
    const unseen = ACCEPTED.filter(
      (row) => row.part === this.part && this.#cases.has(row.peer) && !this.#accepted.has(row),
    );
    const stale = isWhole ? unseen : [];
    for (const { peer, reason } of stale) {
      console.log(`${this.part}: no longer seen, so its row must go: ${peer}: ${reason}`);
    }
    for (const { peer, facts, what, expected, got } of this.#differences.slice(0, SHOWN)) {
      console.log(`${this.part}: DIFFERS: ${peer}: ${JSON.stringify(facts)}`);
      console.log(`  ${what}\n  expected ${expected}\n  got      ${got}`);
    }
    const failed = this.#differences.length + stale.length;
    if (this.#differences.length > SHOWN) console.log(`${this.part}: ${failed} differences in all`);
    return { passed: cases - this.#differences.length, failed, skipped: this.#skipped.length };
  }
}

function isAccepted(row: Accepted, part: string, { peer, facts }: Difference): boolean {
  return (
    row.part === part &&
    row.peer === peer &&
    Object.entries(row.facts).every(([name, values]) => values.includes(facts[name]))
  );
}
