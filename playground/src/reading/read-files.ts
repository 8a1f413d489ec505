/**
 * Reads opened files and pasted texts: a tensor, an archive of tensors, a model, a test case or another runtime's
 * output. Large ones are read in a worker.
 */

import type { State } from "../values/state.ts";
import { commandOf } from "./command.ts";
import { areTensors, isCase, MODEL, MOST_BYTES } from "./file-kinds.ts";
import { unpacked } from "./tensor-files.ts";
import type { Content, Offer, Refusal } from "./offer.ts";

/** What the user opened, and the page's call. */
export type Opened = { readonly state: State } & (
  | { readonly files: readonly File[] }
  | { readonly text: string }
);

/** An offer, or the reason why there is none; null if no file is given. */
export type Read = Offer | Refusal | null;

/** Reads files or a text. The code for each kind is loaded when it is first needed. The function never throws. */
export async function readOpened(opened: Opened): Promise<Read> {
  const isText = "text" in opened;
  const files = isText ? [] : opened.files;
  const name = isText
    ? "the text"
    : files.length > 1
      ? `${files.length} files`
      : (files[0]?.name ?? "");
  if (!isText && files.length === 0) return null;
  try {
    const found = isText
      ? await (await import("./read-text.ts")).readText(opened.text)
      : await contentOf(files, opened.state);
    return "error" in found ? found : { name, ...found };
  } catch (error) {
    const what = isText ? "The text" : files[0].name;
    return {
      error: `${what} could not be read: ${error instanceof Error ? error.message : String(error)}`,
    };
  }
}

/** Reads a model with its tensors and its data, several tensors, or a single file. */
async function contentOf(files: readonly File[], state: State): Promise<Content | Refusal> {
  const given = files.map(({ name }) => name);
  if (files.length > 1 && !isCase(given) && !areTensors(given)) {
    return {
      error: `The page accepts one model with its data and tensors (.npy, .npz, .pb) for its inputs, or only tensors; got ${given.slice(0, 5).join(", ")}${given.length > 5 ? " …" : ""}.`,
    };
  }
  const large = files.find(({ size }) => size > MOST_BYTES);
  if (large !== undefined) {
    const sentence = `${large.name} has ${large.size.toLocaleString("en")} bytes; the page reads up to ${MOST_BYTES.toLocaleString("en")}.`;
    return { choices: [], remarks: [sentence], command: commandOf(given, state) };
  }
  const read = files.map(async (file) =>
    unpacked({ name: file.name, bytes: new Uint8Array(await file.arrayBuffer()) }),
  );
  const all = (await Promise.all(read)).flat();
  if (all.length === 0) return { error: `${files[0].name} contains no arrays` };
  const found = all.some(({ name }) => MODEL.test(name))
    ? await (await import("./from-model.ts")).fromModel(all)
    : await (await import("./from-tensors.ts")).fromTensors(all, state);
  // If the page can show only a part, a command explains the whole call.
  const sentences = "error" in found ? [found.error] : found.remarks;
  const names = all.map(({ name }) => name);
  const isLarge = sentences.some((one) => /shows up to [\d,]+ (?:elements|lists)/.test(one));
  if (!isLarge || areTensors(names)) return found;
  const whole = "error" in found ? { choices: [], remarks: sentences } : found;
  return { command: commandOf(names, state), ...whole };
}
