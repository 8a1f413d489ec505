/**
 * The page's presets: every example in the operator specifications, and common confusions. Example 1 of OpenVINO's
 * ScatterUpdate-3 is omitted, because its 38 million elements are more than the page can show.
 */

import { CONFUSIONS } from "./confusions.ts";
import { ONNX_EXAMPLES } from "./examples-onnx.ts";
import { OPENVINO_EXAMPLES } from "./examples-openvino.ts";
import { presetOf, type Preset } from "./preset.ts";
import { START } from "./start.ts";

export const CONFUSIONS_GROUP = "Classic confusions";

const CONFUSED = CONFUSIONS.map((row) => presetOf(CONFUSIONS_GROUP, row));

const OF_DOCUMENTS = [...ONNX_EXAMPLES, ...OPENVINO_EXAMPLES].map((row) => {
  const [domain, op] = row[2].split("/");
  return presetOf(domain === "openvino" ? `OpenVINO ${op}` : op, row);
});

export const PRESETS: readonly Preset[] = [...OF_DOCUMENTS, ...CONFUSED];

/** All examples in the order of the menu. */
export const EXAMPLES: readonly Preset[] = [...START, ...CONFUSED, ...OF_DOCUMENTS];
