/** Exports a call as Markdown for an issue or chat: a link, and the tensors in a code block. */

import type { Tensor } from "ndscatter";
import { printShape } from "ndscatter/operators";
import { explainState } from "../document/read-state.ts";
import { titleOf } from "../document/title-of.ts";
import type { State } from "../values/state.ts";
import { valueTexts } from "../values/tensor-text.ts";
import { oneLine, printNested } from "./source-text.ts";

export function asMarkdown(state: State, link: string): string {
  const { explanation, faults } = explainState(state);
  const inputs = (explanation?.inputs ?? []).flatMap(({ name, tensor }) =>
    tensor === null ? [] : [printed(name, tensor)],
  );
  const output = explanation?.output ?? null;
  const wrong = explanation?.error?.message ?? faults[0]?.sentence;
  return [
    // Parentheses in a URL would end the Markdown link.
    `**[${titleOf(state)}](${link.replaceAll("(", "%28").replaceAll(")", "%29")})**`,
    "",
    "```text",
    ...inputs,
    ...(output === null ? [] : [printed("output", output)]),
    ...(output === null && wrong !== undefined ? [`error: ${oneLine(wrong)}`] : []),
    "```",
    "",
  ].join("\n");
}

/** Prints a tensor. A fence would end the code block, so text that contains a fence is printed differently. */
const printed = (name: string, tensor: Tensor): string =>
  `${name} = ${tensor.dtype} ${printShape(tensor.shape)} ${printNested(
    tensor.shape,
    valueTexts(tensor).map((text) => oneLine(text).replaceAll("`", "'")),
  )}`;
