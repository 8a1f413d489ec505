/**
 * The page's presets: every example in the operator specifications, and common confusions. Example 1 of OpenVINO's
 * ScatterUpdate-3 is omitted, because its 38 million elements are more than the page can show.
 */

import { CONFUSIONS } from "./confusions.ts";
import { ONNX_EXAMPLES } from "./examples-onnx.ts";
import { OPENVINO_SCATTERS } from "./examples-openvino.ts";
import { OPENVINO_GATHERS } from "./examples-openvino-gather.ts";
import type { Example } from "./example.ts";
import type { State } from "../values/state.ts";

export interface Preset {
  readonly id: string;
  readonly group: string;
  readonly title: string;
  readonly question: string;
  /** A note about the picture or a corrected erratum; may be empty. */
  readonly note: string;
  readonly state: State;
}

export const CONFUSIONS_GROUP = "Classic confusions";

export const PRESETS: readonly Preset[] = [
  ...ONNX_EXAMPLES.flatMap(({ op, examples }) =>
    examples.map((one) => preset("ai.onnx", op, one, op)),
  ),
  ...[...OPENVINO_SCATTERS, ...OPENVINO_GATHERS].flatMap(({ op, examples }) =>
    examples.map((one) => preset("openvino", op, one, `OpenVINO ${op}`)),
  ),
  ...CONFUSIONS.map((one) => preset(one.domain, one.op, one, CONFUSIONS_GROUP)),
];

function preset(domain: State["domain"], op: string, example: Example, group: string): Preset {
  const { title, question, note, opset, attributes, inputs } = example;
  return {
    id: slug(`${group} ${title}`),
    group,
    title,
    question,
    note,
    state: { domain, op, opset, attributes, inputs },
  };
}

function slug(text: string): string {
  const words = text.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-");
  return words.replaceAll(/^-|-$/g, "");
}
