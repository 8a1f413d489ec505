/** The first examples. The other examples are loaded after the first picture. */

import { f32, i64 } from "./example.ts";
import type { Preset } from "./presets.ts";

/** The name of the menu group for a first visit. */
export const START_GROUP = "Start here";

/** The call shown when the page opens. */
// prettier-ignore
const FIRST: Preset = {
  id: "first",
  group: START_GROUP,
  title: "Rows added to rows",
  question: "Where did my row go?",
  note:
    "The tab beside an index names the row where its update goes, and each row has a colour. The index -1 counts from the end.",
  state: {
    domain: "ai.onnx",
    op: "ScatterND",
    opset: 18,
    attributes: { reduction: "add" },
    inputs: [
      f32([[0, 0, 0], [1, 1, 1], [2, 2, 2], [3, 3, 3]]),
      i64([[1], [-1], [1]]),
      f32([[10, 20, 30], [40, 50, 60], [70, 80, 90]]),
    ],
  },
};

// prettier-ignore
const OTHERS: readonly Preset[] = [
  {
    id: "start-gather",
    group: START_GROUP,
    title: "Rows read by their numbers",
    question: "Where does each row of the output come from?",
    note: "Each index names the row of data that the output copies. Two name row 2, so row 2 appears twice.",
    state: {
      domain: "ai.onnx",
      op: "GatherND",
      opset: 13,
      attributes: {},
      inputs: [f32([[0, 1, 2], [10, 11, 12], [20, 21, 22], [30, 31, 32]]), i64([[2], [-1], [2]])],
    },
  },
  {
    id: "start-elements",
    group: START_GROUP,
    title: "Elements added one by one",
    question: "How does an index find one element?",
    note: "An index selects the row, and each index keeps its own column. Two name the same element, and add keeps both updates.",
    state: {
      domain: "ai.onnx",
      op: "ScatterElements",
      opset: 18,
      attributes: { reduction: "add" },
      inputs: [
        f32([[1, 2, 3], [4, 5, 6], [7, 8, 9]]),
        i64([[2, 0, 1], [2, -1, 0]]),
        f32([[10, 20, 30], [40, 50, 60]]),
      ],
    },
  },
  {
    id: "start-gather-elements",
    group: START_GROUP,
    title: "Elements read by their rows",
    question: "Why does the output have the shape of indices?",
    note: "Each index reads one element: the index selects the row and keeps its own column. Two read the same element.",
    state: {
      domain: "ai.onnx",
      op: "GatherElements",
      opset: 13,
      attributes: {},
      inputs: [f32([[1, 2, 3], [4, 5, 6], [7, 8, 9]]), i64([[2, 0, 1], [2, -1, 0]])],
    },
  },
  {
    id: "start-batches",
    group: START_GROUP,
    title: "Two batches, each with its own tuples",
    question: "What keeps two batches apart?",
    note: "With batch_dims 1, an index reads only from its own batch. Two indices are 1, but they read different rows.",
    state: {
      domain: "ai.onnx",
      op: "GatherND",
      opset: 13,
      attributes: { batch_dims: "1" },
      inputs: [
        f32([[[0, 1], [10, 11], [20, 21]], [[100, 101], [110, 111], [120, 121]]]),
        i64([[[1], [0]], [[1], [-1]]]),
      ],
    },
  },
];

export const START: readonly [Preset, ...Preset[]] = [FIRST, ...OTHERS];
