/** The examples of the menu: the one that the page opens with, then the presets. */

import { CONFUSIONS_GROUP, PRESETS, type Preset } from "./presets.ts";

const numbers = (text: string): string[] => text.split(" ");

const FIRST: Preset = {
  id: "first",
  group: "Start here",
  title: "Rows added to rows",
  note:
    "Each index tuple has a letter and a colour. It names the row of data to which its row of updates is added. " +
    "Row 1 is named twice, and -1 counts from the end.",
  state: {
    domain: "ai.onnx",
    op: "ScatterND",
    opset: 18,
    attributes: { reduction: "add" },
    inputs: [
      { dtype: "float32", shape: [4, 3], values: numbers("0 0 0 1 1 1 2 2 2 3 3 3") },
      { dtype: "int64", shape: [3, 1], values: numbers("1 -1 1") },
      { dtype: "float32", shape: [3, 3], values: numbers("10 20 30 40 50 60 70 80 90") },
    ],
  },
};

const isConfusion = ({ group }: Preset): boolean => group === CONFUSIONS_GROUP;

/** The classic confusions come before the examples of the documents. */
export const EXAMPLES: readonly [Preset, ...Preset[]] = [
  FIRST,
  ...PRESETS.filter(isConfusion),
  ...PRESETS.filter((one) => !isConfusion(one)),
];
