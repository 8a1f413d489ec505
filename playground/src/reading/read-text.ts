/**
 * Recognizes pasted text: a link, a runtime's error message, a single array, or a call. This module is loaded when the
 * first text is pasted.
 */

import { fromHash } from "../document/hash.ts";
import { unpack } from "../document/packed.ts";
import { withText } from "./paste.ts";
import { attempt } from "../values/attempt.ts";
import type { State } from "../values/state.ts";
import { readCall } from "./call/read-call.ts";
import type { Content, Refusal } from "./offer.ts";
import { readMessage } from "./runtime-message.ts";

/** Returns a text that is one call, with remarks about the text and about the call. */
function shown(
  state: State,
  remarks: readonly string[],
  more = "",
  own: readonly string[] = [],
): Content {
  const title = `${state.op}-${state.opset}${more}`;
  return { choices: [{ kind: "node", title, state, remarks: own }], remarks };
}

/** Reads any text, and never rejects. */
export async function readText(text: string): Promise<Content | Refusal> {
  const found = (await linkIn(text)) ?? messageIn(text) ?? arrayIn(text) ?? callIn(text);
  return "error" in found ? { error: `The text is not read: ${found.error}` } : found;
}

/** Reads a link to this page, or its part after `#`. */
async function linkIn(text: string): Promise<Content | Refusal | null> {
  const hash =
    /^\s*(?:https?:\/\/[^\s#]{1,400})?#?((?:(?:ai\.onnx|openvino)\/\w{1,40}\/\d{1,4}|z\d{1,9}\.[\w-]{8})[^\s]*)\s*$/.exec(
      text.length > 4_000_000 ? "" : text,
    )?.[1];
  if (hash === undefined) return null;
  await unpack(hash);
  const found = fromHash(hash);
  if ("error" in found) return found;
  return shown(found.state, ["This is a link to a call on this page."]);
}

function messageIn(text: string): Content | Refusal | null {
  const found = readMessage(text);
  if (found === null || "error" in found) return found;
  return shown(found.state, found.understood);
}

/** Matches the name before `=` in a text with one array. */
const NAME = /^\s*(?:const |let |var )?([A-Za-z_]\w{0,40})\s*[:=](?!=)/;

function arrayIn(text: string): Content | null {
  const read = withText({ dtype: "float32", shape: [], values: ["0"] }, text);
  if ("error" in read) return null;
  const title = NAME.exec(text.slice(0, 200))?.[1] ?? "";
  return { choices: [{ kind: "tensor", title, ...read }], remarks: [], text };
}

/** The maximum number of arrays to choose from. */
const MOST_TENSORS = 100;

function callIn(text: string): Content | Refusal {
  const found = attempt(() => readCall(text));
  if ("error" in found) return { error: `${found.error}. ${READ}` };
  const { call, tensors } = found;
  if (call !== null) {
    const { title, state, remarks } = call;
    return shown(state, [`${title} is ${state.op}-${state.opset}.`], `: ${title}`, remarks);
  }
  const [{ name: title, input }, ...others] = tensors;
  if (others.length === 0) return { choices: [{ kind: "tensor", title, input }], remarks: [] };
  if (tensors.length <= MOST_TENSORS) return { choices: [], remarks: [], tensors };
  const count = tensors.length.toLocaleString("en");
  return { error: `it has ${count} arrays; the page reads up to ${MOST_TENSORS}.` };
}

/** What the page reads, for a text that it does not read. */
const READ =
  "The page reads one call of NumPy, PyTorch, TensorFlow, JAX, ONNX or ndscatter with its arrays written as lists, in the call or assigned on other lines; or an array, a runtime's error message, or a link.";
