/** The rows of `docs/frameworks.md`: a call of a framework, the same call here, and the result of both. */

import { blocksOf, read, tablesOf } from "./documents.ts";

const FILE = "docs/frameworks.md";

export interface FrameworkRow {
  readonly framework: string;
  /** Name of the call, as users of the framework search for it. */
  readonly name: string;
  readonly theirs: string;
  readonly ours: string;
  readonly result: string;
}

/** The code that creates the inputs of all rows. */
export const [FRAMEWORK_INPUTS] = blocksOf(read(FILE), "ts");

export const FRAMEWORK_ROWS: readonly FrameworkRow[] = tablesOf(read(FILE)).flatMap(
  ({ head: [, framework], rows }) =>
    rows.map(([name, theirs, ours, result]) => ({
      framework,
      name: codeIn(name),
      theirs: codeIn(theirs),
      ours: codeIn(ours),
      result,
    })),
);

function codeIn(cell: string): string {
  return cell.replace(/^`(.*)`$/, "$1");
}

/** Prints a result as the table does, for its elements in row-major order. */
export function printResult(shape: readonly number[], data: ArrayLike<unknown>): string {
  const nested = (from: number, [size, ...rest]: readonly number[], step: number): string => {
    if (size === undefined) return String(data[from]).replace("Infinity", "inf");
    const inner = step / size;
    const parts = Array.from({ length: size }, (_, at) => nested(from + at * inner, rest, inner));
    return `[${parts.join(", ")}]`;
  };
  return nested(0, shape, data.length);
}
