/**
 * Reads opened files and pasted texts: a tensor, an archive of tensors, a model, a test case or another runtime's
 * output. Large ones are read in a worker.
 */

import type { State } from "../values/state.ts";
import { commandOf } from "./command.ts";
import { areTensors, isCase, MOST_BYTES, TENSOR } from "./file-kinds.ts";
import type { FileChoice, FileContent } from "./from-file.ts";
import type { NamedTensor } from "./named.ts";
import { unpacked } from "./npz.ts";

export interface Offer {
  readonly name: string;
  readonly choices: readonly FileChoice[];
  readonly remarks: readonly string[];
  /** Pasted text of a single array, which is parsed again with the data type of the chosen input. */
  readonly text?: string;
  /** Tensors that fit several inputs. */
  readonly tensors?: readonly NamedTensor[];
  /** The command line for the whole call, if the page shows only a part. */
  readonly command?: string;
}

/** What the user opened, and the page's call. */
export type Opened = { readonly state: State } & (
  | { readonly files: readonly File[] }
  | { readonly text: string }
);

/** An offer, or the reason why there is none; null if no file is given. */
export type Read = Offer | { readonly error: string } | null;

/** Reads files or a text. The function never throws. */
export async function readOpened(opened: Opened): Promise<Read> {
  try {
    return "text" in opened
      ? await offerOf(opened.text)
      : await offerOfFiles(opened.files, opened.state);
  } catch (error) {
    const what = "text" in opened ? "The text" : (opened.files[0]?.name ?? "The file");
    return {
      error: `${what} could not be read: ${error instanceof Error ? error.message : String(error)}`,
    };
  }
}

/** Reads a model with its tensors and its data, several tensors, or a single file. */
async function offerOfFiles(files: readonly File[], state: State): Promise<Read> {
  const [file] = files;
  if (file === undefined) return null;
  const names = files.map(({ name }) => name);
  if (files.length > 1 && !isCase(names) && !areTensors(names)) {
    return {
      error: `The page accepts one model with its data and tensors (.npy, .npz, .pb) for its inputs, or only tensors; got ${names.slice(0, 5).join(", ")}${names.length > 5 ? " …" : ""}.`,
    };
  }
  const large = files.find(({ size }) => size > MOST_BYTES);
  if (large !== undefined) {
    const sentence = `${large.name} has ${large.size.toLocaleString("en")} bytes; the page reads up to ${MOST_BYTES.toLocaleString("en")}.`;
    return {
      name: nameOf(files, file),
      choices: [],
      remarks: [sentence],
      command: commandOf(names, state),
    };
  }
  const found = await contentOf(files, state);
  return "error" in found ? found : { name: nameOf(files, file), ...found };
}

const nameOf = (files: readonly File[], { name }: File): string =>
  files.length > 1 ? `${files.length} files` : name;

async function contentOf(
  files: readonly File[],
  state: State,
): Promise<FileContent | Omit<Offer, "name">> {
  const read = files.map(async (file) =>
    unpacked({ name: file.name, bytes: new Uint8Array(await file.arrayBuffer()) }),
  );
  const named = (await Promise.all(read)).flat();
  const names = named.map(({ name }) => name);
  // The file readers are loaded when the first file is opened.
  const { fromCase, tensorsOf } = await import("./from-case.ts");
  if (isCase(names)) return withCommand(await fromCase(named), named, state);
  if (areTensors(names) || TENSOR.test(names[0] ?? "")) {
    const { largeOf } = await import("./large.ts");
    const large = await largeOf(named, state);
    if (large !== null) return large;
  }
  if (areTensors(names)) {
    const { tensors, remarks } = await tensorsOf(named);
    if (tensors.length === 0) return { error: remarks.join("; ") };
    return { choices: [], tensors, remarks };
  }
  const [first] = named;
  if (first === undefined) return { error: `${files[0].name} contains no arrays` };
  const { fromFile } = await import("./from-file.ts");
  return withCommand(await fromFile(first.name, first.bytes), named, state);
}

/** Returns a model's content, with a command line if one of its tensors is too large for the page. */
function withCommand(
  content: FileContent,
  files: readonly { readonly name: string }[],
  state: State,
): FileContent | Omit<Offer, "name"> {
  const sentences = "error" in content ? [content.error] : content.remarks;
  if (!sentences.some((one) => /shows up to [\d,]+ (?:elements|lists)/.test(one))) return content;
  const names = files.map(({ name }) => name);
  const command = commandOf(names, state);
  if ("error" in content) return { choices: [], remarks: sentences, command };
  return { ...content, command };
}

/** Returns the choices that pasted text offers. The code that reads text is loaded when the first text is pasted. */
async function offerOf(text: string): Promise<Read> {
  const { readText } = await import("./read-text.ts");
  const { choices, tensors, understood, error, isOneArray } = await readText(text);
  if (error !== null) return { error: `The text is not read: ${error}` };
  const common = { name: "the text", remarks: understood };
  if (choices.length > 0) return { ...common, choices };
  if (tensors.length > 1) return { ...common, choices: [], tensors };
  return { ...common, choices: tensorChoices(tensors), ...(isOneArray ? { text } : {}) };
}

const tensorChoices = (tensors: readonly NamedTensor[]): FileChoice[] =>
  tensors.length === 1 ? [{ kind: "tensor", title: tensors[0].name, input: tensors[0].input }] : [];
