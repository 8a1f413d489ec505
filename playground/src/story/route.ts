/** Returns the sentence under the picture: where each part of updates goes, or where each part of the output comes from. */

import type { Explanation, GatherStory, Reduction, ScatterStory, Tensor } from "ndscatter";
import { printElement } from "../values/scalar-text.ts";
import { capital, inWords, nameOf } from "./target-names.ts";

type Story = ScatterStory | GatherStory;

/** Returns the sentence; an empty text for a call with errors or without updates. */
export function routeOf({ story, inputs, version }: Explanation): string {
  const data = inputs.find(({ role }) => role === "data")?.tensor ?? null;
  if (story === null || data === null || story.summary.count === 0) return "";
  const { shape } = data;
  const entry = story.kind === "gather" ? story.reads.at(0) : story.updates.at(0);
  const place = placeOf(story, shape, entry?.index.axes ?? []);
  const unit = UNITS[Math.min(shape.length - story.addressed, 2)];
  const first =
    story.kind === "scatter"
      ? `Each ${unit.part} goes to ${place}.`
      : `Each ${unit.target} of the output comes from ${place}.`;
  // The index names only the first position, from which a sequence continues.
  if (version?.name === "TensorScatter") {
    return "Each sequence is written from the position its index names. It replaces what was there.";
  }
  const [most] = story.summary.most;
  const meeting =
    story.summary.repeats === 0 || most === undefined
      ? story.kind === "scatter"
        ? ALONE[story.includeSelf ? story.reduction : "none"]
        : ""
      : met(story, data, most);
  return `${first} ${meeting}`.trim();
}

/** The names of a part of updates or of the output, and of its target, by the number of axes. */
const UNITS = [
  { part: "number", target: "cell" },
  { part: "row of numbers", target: "row" },
  { part: "slice", target: "slice" },
] as const;

/** Describes the target or source that an index names, and what the index leaves to its own position. */
function placeOf({ addressed }: Story, shape: readonly number[], axes: readonly number[]): string {
  const { target } = UNITS[Math.min(shape.length - addressed, 2)];
  if (axes.length >= addressed) return `the ${target} its index names`;
  // The axes in front of the index's axes are batches: there, the position is the same in all tensors.
  const isBatch = axes.every((axis, number) => axis === addressed - axes.length + number);
  if (shape.length === 2 && addressed === 2 && axes.length === 1) {
    const [own, other] = axes[0] === 0 ? ["row", "column"] : ["column", "row"];
    return `the ${own} its index names, in its own ${other}`;
  }
  if (isBatch) return `the ${target} its index names, in its own batch`;
  return `the position its index names on axis ${axes.join(" and ")}, at its own place on the other axes`;
}

function met(
  story: Story,
  data: Tensor,
  { coordinates, count }: Story["summary"]["most"][number],
): string {
  const name = nameOf(coordinates, data.shape, story.addressed);
  const one = story.summary.repeats === 1 ? name : `${name}, for example`;
  const words = capital(inWords(count));
  return story.kind === "gather"
    ? `${words} came from ${one}.`
    : `${words} went to ${one}, so ${MEETINGS[story.reduction]}${termsOf(story, data, coordinates)}.`;
}

const MOST_TERMS = 4;

/** Returns what happens in the first cell of a target, such as `: 1 + 10 + 70 = 81`; empty if the cell has many terms. */
function termsOf(
  story: ScatterStory,
  { dtype, shape }: Tensor,
  coordinates: readonly number[],
): string {
  const form = FORMS[story.reduction];
  const rest = shape.slice(coordinates.length);
  const cell = story.cell([...coordinates, ...rest.map(() => 0)]);
  if (form === undefined || rest.includes(0) || cell.count >= MOST_TERMS) return "";
  const steps = [...cell.steps()].filter((step) => step.kind === "update");
  const values = [
    ...(story.includeSelf ? [steps[0].before] : []),
    ...steps.map((one) => one.update),
  ];
  const [result, ...terms] = [cell.value, ...values].map((value) => printElement(dtype, value));
  return `: ${form(terms)} = ${result}${rest.length === 0 ? "" : " in the first cell"}`;
}

const FORMS: Readonly<Partial<Record<Reduction, (terms: readonly string[]) => string>>> = {
  add: (terms) => terms.join(" + "),
  mul: (terms) => terms.join(" × "),
  max: (terms) => `max(${terms.join(", ")})`,
  min: (terms) => `min(${terms.join(", ")})`,
};

const MEETINGS: Readonly<Record<Reduction, string>> = {
  none: "the last one stays",
  add: "they add up",
  sub: "each is subtracted",
  mul: "they are multiplied",
  max: "the largest stays",
  min: "the smallest stays",
  mean: "their mean stays",
};

/** What happens if no two updates have the same target. */
const ALONE: Readonly<Record<Reduction, string>> = {
  none: "It replaces what was there.",
  add: "It is added to what was there.",
  sub: "It is subtracted from what was there.",
  mul: "It is multiplied by what was there.",
  max: "The larger of the two stays.",
  min: "The smaller of the two stays.",
  mean: "The mean of the two stays.",
};
