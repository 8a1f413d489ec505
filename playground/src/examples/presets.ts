/**
 * The page's presets: every example in the operator specifications, and common confusions. Example 1 of OpenVINO's
 * ScatterUpdate-3 is omitted, because its 38 million elements are more than the page can show.
 */

import { CONFUSIONS } from "./confusions.ts";
import { ONNX_EXAMPLES } from "./examples-onnx.ts";
import { OPENVINO_SCATTERS } from "./examples-openvino.ts";
import { OPENVINO_GATHERS } from "./examples-openvino-gather.ts";
import type { Example, Examples } from "./example.ts";
import type { State } from "../values/state.ts";

type Version = Pick<State, "domain" | "op" | "opset">;

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

const ofDocuments = (
  domain: State["domain"],
  home: string,
  documents: readonly Examples[],
): Preset[] =>
  documents.flatMap(({ examples, ...own }) =>
    examples.map((one) => presetOf(`${home}${own.op}`, { domain, ...own, ...one })),
  );

export const PRESETS: readonly Preset[] = [
  ...ofDocuments("ai.onnx", "", ONNX_EXAMPLES),
  ...ofDocuments("openvino", "OpenVINO ", [...OPENVINO_SCATTERS, ...OPENVINO_GATHERS]),
  ...CONFUSIONS.map((one) => presetOf(CONFUSIONS_GROUP, one)),
];

/** Returns an example as a preset, whose id follows from the group and the title. */
export function presetOf(
  group: string,
  { title, question, note = "", attributes = {}, inputs, ...version }: Example & Version,
): Preset {
  const words = `${group} ${title}`.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-");
  const { domain, op, opset } = version;
  return {
    id: words.replaceAll(/^-|-$/g, ""),
    ...{ group, title, question, note },
    state: { domain, op, opset, attributes, inputs },
  };
}
