/** The first examples. The other examples are loaded after the first picture. */

import { presetOf, type Preset, type Row } from "./preset.ts";

/** The name of the menu group for a first visit. */
export const START_GROUP = "Start here";

/** The examples with their ids; the page opens with the first. */
// prettier-ignore
const ROWS: readonly (readonly [id: string, ...Row])[] = [
  ["first", "Rows added to rows", "Where did my row go?",
    "ai.onnx/ScatterND/18;reduction=add;float32:4,3:0*3,1*3,2*3,3*3;int64:3,1:1,-1,1;float32:3,3:10,20,30,40,50,60,70,80,90",
    "The tab beside an index names the row where its update goes, and each row has a colour. The index -1 counts from the end."],
  ["start-gather", "Rows read by their numbers", "Where does each row of the output come from?",
    "ai.onnx/GatherND/13;float32:4,3:0,1,2,10,11,12,20,21,22,30,31,32;int64:3,1:2,-1,2",
    "Each index names the row of data that the output copies. Two name row 2, so row 2 appears twice."],
  ["start-elements", "Elements added one by one", "How does an index find one element?",
    "ai.onnx/ScatterElements/18;reduction=add;float32:3,3:1,2,3,4,5,6,7,8,9;int64:2,3:2,0,1,2,-1,0;float32:2,3:10,20,30,40,50,60",
    "An index selects the row, and each index keeps its own column. Two name the same element, and add keeps both updates."],
  ["start-gather-elements", "Elements read by their rows", "Why does the output have the shape of indices?",
    "ai.onnx/GatherElements/13;float32:3,3:1,2,3,4,5,6,7,8,9;int64:2,3:2,0,1,2,-1,0",
    "Each index reads one element: the index selects the row and keeps its own column. Two read the same element."],
  ["start-batches", "Two batches, each with its own tuples", "What keeps two batches apart?",
    "ai.onnx/GatherND/13;batch_dims=1;float32:2,3,2:0,1,10,11,20,21,100,101,110,111,120,121;int64:2,2,1:1,0,1,-1",
    "With batch_dims 1, an index reads only from its own batch. Two indices are 1, but they read different rows."],
];

const [FIRST, ...OTHERS] = ROWS.map(([id, ...row]) => presetOf(START_GROUP, row, id));

export const START: readonly [Preset, ...Preset[]] = [FIRST, ...OTHERS];
