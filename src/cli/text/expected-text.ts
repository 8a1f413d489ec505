/** Prints the comparison of a model's outputs with the expected outputs. */

import type { ExpectedReport } from "../../entries/onnx.ts";
import { printName } from "./layout.ts";

/** Describes expected outputs, and the changes that would produce them. */
export function expectedLines({ outputs, changes }: ExpectedReport): string[] {
  const lines = outputs.map(({ name, isExpected, sentence }) =>
    isExpected ? `  expected: ${printName(name)} is as expected` : `  not as expected: ${sentence}`,
  );
  if (outputs.every(({ isExpected }) => isExpected)) return lines;
  if (changes.length === 0)
    return [...lines, "  no change of a single scatter or gather gives the expected outputs"];
  return [
    ...lines,
    ...changes.map(
      ({ path, id, sentence }, at) =>
        `  ${at === 0 ? "why" : "or"}: ${path} gives the expected outputs if ${sentence} (${id})`,
    ),
  ];
}
