/** Prints explained gradients as text: drawings of small gradients, and tables of each element's terms. */

import type {
  Explanation,
  GradientCell,
  GradientTerm,
  Scalar,
  Tensor,
} from "../../entries/index.ts";
import { printFile } from "../failure.ts";
import { gradientsOf, type ExplainedGradient, type InputGradient } from "../input/gradient.ts";
import { printCell } from "./cells.ts";
import { drawTensor, isSmall, type Canvas } from "./drawing.ts";
import { printTable } from "./layout.ts";
import { cellName, first, indexText, namesOf, type Names } from "./explanation-text.ts";

// The text lists at most this many items; --json lists all items.
const MOST_CELLS = 50;
const MOST_TERMS = 20;

export function gradientText(asked: ExplainedGradient, canvas: Canvas): string {
  const { explained, file, outputGradient, cells } = asked;
  const { output } = namesOf(explained.call);
  const gradients = gradientsOf(asked);
  const draw = (name: string, tensor: Tensor): string =>
    drawTensor(`gradient of ${name}`, tensor, () => null, canvas);
  const listed =
    cells === null ? gradients.map((one) => elementsText(asked, one)) : [cellsText(asked, cells)];
  const sections = [
    file === undefined
      ? `gradient of ${output}: 1 for each element; --output-gradient gives another`
      : draw(`${output}, ${printFile(file)}`, outputGradient),
    ...gradients.map(({ name, gradient }) => draw(name, gradient)),
    ...listed,
  ];
  return sections
    .filter((section) => section !== "")
    .map((section) => `\n${section}\n`)
    .join("");
}

/** Prints the input elements that the command explains without --cell. */
function elementsText(asked: ExplainedGradient, input: InputGradient): string {
  const { name, gradient, count } = input;
  if (count === 0) return "";
  if (!isSmall(gradient)) {
    const zeros = gradient.shape.map(() => 0);
    return `--cell '${cellName(name, zeros)}' explains that element of the gradient of ${name}`;
  }
  const { cell } = asked.explained;
  const shown = Array.from(first(input.elements(), MOST_CELLS), (at) => cell(name, at));
  const left = count - shown.length;
  const more = left > 0 ? [`and ${left} more of ${name}; --cell explains any of them`] : [];
  return [cellsText(asked, shown), ...more].join("\n");
}

const HEAD = ["element", "gradient", "factor * gradient of output"] as const;

/** Prints a table with one line for each output element that contributes to a gradient. */
function cellsText(asked: ExplainedGradient, cells: readonly GradientCell[]): string {
  const { explained, outputGradient } = asked;
  const { call } = explained;
  const names = namesOf(call);
  const print = (value: Scalar): string => printCell(outputGradient, value);
  const termText = (term: GradientTerm): string => {
    const product = `${print(term.factor)} * ${print(term.outputGradient)}`;
    return `${product} from ${cellName(names.output, term.output)}${whyText(call, term, names)}`;
  };
  const rows = cells.flatMap(({ input, coordinates, value, terms }) => {
    const shown = Array.from(first(terms, MOST_TERMS), termText);
    const left = terms.length - shown.length;
    if (shown.length === 0) shown.push("no term, because no index gathers the element");
    if (left > 0) shown.push(`and ${left} more`);
    const title = [cellName(input, coordinates), print(value)];
    return shown.map((text, nth) => [...(nth === 0 ? title : ["", ""]), text]);
  });
  return rows.length === 0 ? "" : printTable([HEAD, ...rows]);
}

/** Prints the reason for a factor. For a gather, the reason is the index. */
function whyText({ story }: Explanation, { output, reason }: GradientTerm, names: Names): string {
  if (story?.kind !== "gather") return ` (${reason})`;
  return `, ${indexText(story.cell(output).index, names)}`;
}
