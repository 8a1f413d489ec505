/** Stories as lines of text, for rows of tests. */

import type {
  GatherStory,
  IndexStory,
  ScatterStory,
} from "../../src/insight/explain/explanation.ts";

export const list = (values: unknown): string =>
  JSON.stringify(values, (_, value: unknown) =>
    typeof value === "bigint" ? String(value) : Object.is(value, -0) ? "-0" : value,
  );

const printIndex = ({ at, given, places }: IndexStory): string =>
  `@${list(at)}=${list(given)}${places === null ? "?" : list(places)}`;

/** A line for each target: its coordinates, and each step with the values around it. */
export const scatterLines = ({ targets }: ScatterStory): string[] =>
  Array.from(targets, ({ coordinates, steps }) => {
    const printed = Array.from(steps(), (step) => {
      const after = list(step.after.toArray());
      if (step.kind === "division") return `/${step.divisor} > ${after}`;
      return `${step.by} ${list(step.at)}${printIndex(step.index)} > ${after}`;
    });
    const [first] = steps();
    return `${list(coordinates)} ${list(first.before.toArray())} ${printed.join(" ")}`;
  });

/** A line for each slice of the output: its position, its source, and its index. */
export const gatherLines = ({ reads }: GatherStory): string[] =>
  Array.from(
    reads,
    ({ at, index, target }) => `${list(at)} < ${list(target)} ${printIndex(index)}`,
  );
