/** The table of a run: verdicts, and faults by kind. */

import type { Outcome } from "./run.ts";

const VERDICTS = [
  "right",
  "resumed",
  "removed",
  "wrong",
  "stuck",
  "left behind",
  "unclear",
] as const;

function countsOf(names: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  const sorted = [...counts].sort(([, a], [, b]) => b - a);
  return sorted.map(([name, count]) => `${count} ${name}`).join(", ");
}

export function tableOf(seed: number, outcomes: readonly Outcome[]): string {
  const faults = outcomes.flatMap((one) => one.faults);
  const kinds = faults.map(
    (line) => /^(?:server [a-z ]+(?:\d+)?|\w+)/.exec(line)?.[0].trim() ?? line,
  );
  const verdicts = VERDICTS.map(
    (name) => `${outcomes.filter(({ verdict }) => verdict === name).length} ${name}`,
  );
  return [
    `SEED=${seed}: ${outcomes.length} jobs: ${verdicts.join(", ")}`,
    `${faults.length} faults: ${countsOf(kinds)}`,
  ].join("\n");
}
