/**
 * Recognizes pasted text: a link, a runtime's error message, a single array, or a call. This module is loaded when the
 * first text is pasted.
 */

import { fromHash } from "../document/hash.ts";
import { unpack } from "../document/packed.ts";
import type { FileChoice } from "./from-file.ts";
import type { NamedTensor } from "./named.ts";
import { withText } from "./paste.ts";
import { attempt } from "../values/attempt.ts";
import type { State } from "../values/state.ts";
import { readCall } from "./call/read-call.ts";
import { readMessage } from "./runtime-message.ts";

export interface TextContent {
  /** Calls that the page can show. */
  readonly choices: readonly FileChoice[];
  /** Arrays that no call uses. */
  readonly tensors: readonly NamedTensor[];
  readonly understood: readonly string[];
  /** The reason why the text is not read. */
  readonly error: string | null;
  /** True for a single array, whose text is parsed again with the data type of the chosen input. */
  readonly isOneArray: boolean;
}

const NOTHING = {
  choices: [],
  tensors: [],
  understood: [],
  error: null,
  isOneArray: false,
} as const;

/** Returns a text that is one call. */
function shown(
  state: State,
  understood: readonly string[],
  more = "",
  remarks: readonly string[] = [],
): TextContent {
  const title = `${state.op}-${state.opset}${more}`;
  return { ...NOTHING, choices: [{ kind: "node", title, state, remarks }], understood };
}

/** Reads any text, and never rejects. */
export async function readText(text: string): Promise<TextContent> {
  return (await linkIn(text)) ?? messageIn(text) ?? arrayIn(text) ?? callIn(text);
}

/** Reads a link to this page, or its part after `#`. */
async function linkIn(text: string): Promise<TextContent | null> {
  const hash =
    /^\s*(?:https?:\/\/[^\s#]{1,400})?#?((?:(?:ai\.onnx|openvino)\/\w{1,40}\/\d{1,4}|z\d{1,9}\.[\w-]{8})[^\s]*)\s*$/.exec(
      text.length > 4_000_000 ? "" : text,
    )?.[1];
  if (hash === undefined) return null;
  await unpack(hash);
  const found = fromHash(hash);
  if ("error" in found) return { ...NOTHING, error: found.error };
  return shown(found.state, ["This is a link to a call on this page."]);
}

function messageIn(text: string): TextContent | null {
  const found = readMessage(text);
  if (found === null) return null;
  if ("error" in found) return { ...NOTHING, error: found.error };
  return shown(found.state, found.understood);
}

/** Matches the name before `=` in a text with one array. */
const NAME = /^\s*(?:const |let |var )?([A-Za-z_]\w{0,40})\s*[:=](?!=)/;

function arrayIn(text: string): TextContent | null {
  const read = withText({ dtype: "float32", shape: [], values: ["0"] }, text);
  if ("error" in read) return null;
  const name = NAME.exec(text.slice(0, 200))?.[1] ?? "";
  return { ...NOTHING, tensors: [{ name, input: read.input }], isOneArray: true };
}

/** The maximum number of arrays to choose from. */
const MOST_TENSORS = 100;

function callIn(text: string): TextContent {
  const found = attempt(() => readCall(text));
  if ("error" in found) return { ...NOTHING, error: `${found.error}. ${READ}` };
  const { call, tensors } = found;
  if (call === null && tensors.length > MOST_TENSORS) {
    const count = tensors.length.toLocaleString("en");
    return { ...NOTHING, error: `it has ${count} arrays; the page reads up to ${MOST_TENSORS}.` };
  }
  if (call === null) return { ...NOTHING, tensors };
  const { title, state, remarks } = call;
  return shown(state, [`${title} is ${state.op}-${state.opset}.`], `: ${title}`, remarks);
}

/** What the page reads, for a text that it does not read. */
const READ =
  "The page reads one call of NumPy, PyTorch, TensorFlow, JAX, ONNX or ndscatter with its arrays written as lists, in the call or assigned on other lines; or an array, a runtime's error message, or a link.";
