/**
 * Handles chosen or dropped files: a tensor, a model, a test case from `ndscatter capture`, or another runtime's
 * output. Text pasted outside a cell is handled in the same way.
 */

import { useEffect, useRef, useState } from "preact/hooks";
import { commandOf } from "./command.ts";
import { areTensors, isCase, TENSOR } from "./file-kinds.ts";
import type { FileChoice, FileContent } from "./from-file.ts";
import type { NamedTensor } from "./named.ts";
import type { State } from "../values/state.ts";
import type { Asked } from "../why/use-why.ts";
import { droppedFiles } from "./dropped-files.ts";
import type { Session } from "../page/use-session.ts";

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

/** An input's position, or the slot for another runtime's output. */
export type Spot = number | "actual";

/** Opens files for a slot, or for the whole call if no slot is chosen. */
type TakeFiles = (files: readonly File[], spot: Spot | null) => Promise<void>;

/** The maximum file size. A larger file contains more than the page can show in any format. */
const MOST_BYTES = 64 * 2 ** 20;

export interface Files {
  /** Choices for the user, or null. */
  readonly offer: Offer | null;
  /** True while files are dragged over the page. */
  readonly isOver: boolean;
  /** Opens files that the user chose. */
  takeFiles(files: readonly File[]): void;
  /** Reads pasted or typed text: a call, an array, an error message or a link. */
  takeText(text: string): void;
  take(choice: FileChoice, spot: Spot, remarks: readonly string[]): void;
  /** Assigns tensors to a call's inputs. */
  takeState(state: State, remarks: readonly string[]): void;
  /** Closes the offer without changing the page. */
  dismiss(): void;
}

export function useFiles(session: Session, onAsk: (asked: Asked) => void): Files {
  const { page, edits, generation } = session;
  const [offer, setOffer] = useState<Offer | null>(null);
  // An offer belongs to one call, so the offer closes when a link opens another call.
  useEffect(() => setOffer(null), [generation]);
  const onRefusal = (sentence: string): void => page.show(page.state(), [sentence]);
  const take: Files["take"] = (choice, spot, remarks) => {
    setOffer(null);
    if (choice.kind === "node") {
      page.show(choice.state, [...remarks, ...choice.remarks], "file");
      if (choice.actual !== undefined) onAsk({ actual: choice.actual });
    } else if (spot === "actual") onAsk({ actual: choice.input });
    else if (offer?.text !== undefined) void edits[spot]?.onPaste(null, offer.text);
    else {
      page.replace(spot, choice.input);
      if (remarks.length > 0) page.show(page.state(), remarks);
    }
  };
  const takeState: Files["takeState"] = (state, remarks) =>
    take({ kind: "node", title: "", state, remarks: [] }, 0, remarks);
  const takeOffer = async (found: Offer, spot: Spot | null): Promise<void> => {
    const { choices, remarks, tensors = [], command } = found;
    const [only] = choices;
    if (command !== undefined) setOffer(found);
    else if (tensors.length > 1) {
      const { certainOf } = await import("./certain.ts");
      const certain = certainOf(tensors, page.state());
      if (certain === null || remarks.length > 0) setOffer(found);
      else takeState(certain.state, certain.remarks);
    } else if (choices.length === 1 && only.kind === "node") take(only, 0, remarks);
    else if (choices.length === 1 && spot !== null) take(only, spot, remarks);
    else setOffer(found);
  };
  const takeFiles: TakeFiles = async (files, spot) => {
    const found = await read(files, page.state());
    if (found === null) return;
    if ("error" in found) onRefusal(found.error);
    else await takeOffer(found, spot);
  };
  const takeText = async (text: string): Promise<void> => {
    try {
      const found = await offerOf(text);
      if ("error" in found) onRefusal(found.error);
      else await takeOffer(found, null);
    } catch (error) {
      onRefusal(`The text could not be read: ${String(error)}`);
    }
  };
  const isOver = useDropping(takeFiles);
  usePastes(takeText);
  return {
    offer,
    isOver,
    takeFiles: (files) => void takeFiles(files, null),
    takeText: (text) => void takeText(text),
    take,
    takeState,
    dismiss: () => setOffer(null),
  };
}

/**
 * Reads a model with its tensors, several tensors, or a single file with its `.bin` file. The function never throws.
 * Returns null if no file is given.
 */
async function read(
  files: readonly File[],
  state: State,
): Promise<Offer | { readonly error: string } | null> {
  const bin = files.find(({ name }) => name.toLowerCase().endsWith(".bin"));
  const file = files.find((one) => one !== bin) ?? bin;
  if (file === undefined) return null;
  const names = files.map(({ name }) => name);
  const isOfCase = isCase(names);
  const isOfTensors = areTensors(names);
  const others = files.filter((one) => one !== bin).length;
  if (!isOfCase && !isOfTensors && others > 1) {
    return {
      error: `The page accepts one model with tensors (.npy, .pb) for its inputs, or only tensors; got ${names.slice(0, 5).join(", ")}${names.length > 5 ? " …" : ""}.`,
    };
  }
  const taken = isOfCase || isOfTensors ? files : [file, ...(bin === undefined ? [] : [bin])];
  const large = taken.find(({ size }) => size > MOST_BYTES);
  if (large !== undefined) {
    const sentence = `${large.name} has ${large.size.toLocaleString("en")} bytes; the page reads up to ${MOST_BYTES.toLocaleString("en")}.`;
    return {
      name: nameOf(files, file),
      choices: [],
      remarks: [sentence],
      command: commandOf(names, state),
    };
  }
  try {
    const found = await contentOf(taken, isOfCase, isOfTensors, state);
    return "error" in found ? found : { name: nameOf(files, file), ...found };
  } catch (error) {
    return { error: `${file.name} could not be read: ${String(error)}` };
  }
}

const nameOf = (files: readonly File[], { name }: File): string =>
  files.length > 1 ? `${files.length} files` : name;

async function contentOf(
  files: readonly File[],
  isOfCase: boolean,
  isOfTensors: boolean,
  state: State,
): Promise<FileContent | Omit<Offer, "name">> {
  const bytes = await Promise.all(files.map(bytesOf));
  const named = files.map(({ name }, p) => ({ name, bytes: bytes[p] }));
  // The file readers are loaded when the first file is opened.
  const { fromCase, tensorsOf } = await import("./from-case.ts");
  const { fromFile } = await import("./from-file.ts");
  if (isOfCase) return withCommand(await fromCase(named), named, state);
  if (isOfTensors || TENSOR.test(files[0].name)) {
    const { largeOf } = await import("./large.ts");
    const large = await largeOf(named, state);
    if (large !== null) return large;
  }
  if (isOfTensors) {
    const { tensors, remarks } = await tensorsOf(named);
    if (tensors.length === 0) return { error: remarks.join("; ") };
    return { choices: [], tensors, remarks };
  }
  return withCommand(await fromFile(files[0].name, bytes[0], bytes.at(1)), named, state);
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

const bytesOf = async (file: File): Promise<Uint8Array> => new Uint8Array(await file.arrayBuffer());

/** Returns the choices that pasted text offers. The code that reads text is loaded when the first text is pasted. */
async function offerOf(text: string): Promise<Offer | { readonly error: string }> {
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

/** Listens for pastes that neither a cell nor a field handles. */
function usePastes(takeText: (text: string) => Promise<void>): void {
  const latest = useRef(takeText);
  latest.current = takeText;
  useEffect(() => {
    const onPaste = (event: ClipboardEvent): void => {
      const isTaken = event.target instanceof Element && event.target.matches("input, textarea");
      const text = event.clipboardData?.getData("text/plain") ?? "";
      if (isTaken || event.defaultPrevented || text.trim() === "") return;
      event.preventDefault();
      void latest.current(text);
    };
    document.addEventListener("paste", onPaste);
    return () => document.removeEventListener("paste", onPaste);
  }, []);
}

/** Listens for dropped files, and returns true while files are dragged over the page. */
function useDropping(takeFiles: TakeFiles): boolean {
  const [isOver, setOver] = useState(false);
  // The listeners are added once, so they must call the latest version of the function.
  const latest = useRef(takeFiles);
  latest.current = takeFiles;
  useEffect(() => {
    const onDragOver = (event: DragEvent): void => {
      if (event.dataTransfer?.types.includes("Files") !== true) return;
      event.preventDefault();
      setOver(true);
    };
    const onDragLeave = (event: DragEvent): void => {
      // The event also fires when the pointer moves between parts of the page.
      if (event.relatedTarget === null) setOver(false);
    };
    const onDrop = (event: DragEvent): void => {
      setOver(false);
      if (event.dataTransfer === null || event.dataTransfer.files.length === 0) return;
      event.preventDefault();
      const spot = spotUnder(event.target);
      void droppedFiles(event.dataTransfer).then((files) => latest.current(files, spot));
    };
    document.addEventListener("dragover", onDragOver);
    document.addEventListener("dragleave", onDragLeave);
    document.addEventListener("drop", onDrop);
    return () => {
      document.removeEventListener("dragover", onDragOver);
      document.removeEventListener("dragleave", onDragLeave);
      document.removeEventListener("drop", onDrop);
    };
  }, []);
  return isOver;
}

/** Returns the slot of the tensor that contains a page element, or null. */
function spotUnder(target: EventTarget | null): Spot | null {
  const card = target instanceof Element ? target.closest("[data-tensor]") : null;
  const id = card instanceof HTMLElement ? card.dataset["tensor"] : undefined;
  if (id === "actual") return id;
  return id === undefined || id === "output" ? null : Number(id);
}
