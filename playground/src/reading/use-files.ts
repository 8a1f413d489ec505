/**
 * Files that are chosen, or dropped anywhere on the page: a tensor for an input, a node of a model, a case of
 * `ndscatter capture`, or what another runtime gave. Texts that are pasted where no cell has the focus are taken likewise.
 */

import { useEffect, useRef, useState } from "preact/hooks";
import { fromCase, isCase } from "./from-case.ts";
import { fromFile, type FileChoice, type FileContent } from "./from-file.ts";
import type { Asked } from "../why/use-why.ts";
import { droppedFiles } from "./dropped-files.ts";
import type { Session } from "../page/use-session.ts";

/** The content of a file with several parts, one of which the user has to choose. */
export interface Offer {
  readonly name: string;
  readonly choices: readonly FileChoice[];
  readonly remarks: readonly string[];
  /** The pasted text. It is read again in the data type of the input that the user chooses for it. */
  readonly text?: string;
}

/** The position of an input, or the place of another runtime's output. */
export type Spot = number | "actual";

/** Takes files for a place, or for no particular place. */
type TakeFiles = (files: readonly File[], spot: Spot | null) => Promise<void>;

/** Larger files hold more than the page can show, whatever their format. */
const MOST_BYTES = 64 * 2 ** 20;

export interface Files {
  /** What somebody has to choose from; null while there is nothing to choose. */
  readonly offer: Offer | null;
  /** Whether files are dragged over the page. */
  readonly isOver: boolean;
  /** Takes files that were chosen. */
  takeFiles(files: readonly File[]): void;
  take(choice: FileChoice, spot: Spot, remarks: readonly string[]): void;
  /** Closes the offer without taking anything. */
  dismiss(): void;
}

export function useFiles(
  { page, edits, generation }: Session,
  onAsk: (asked: Asked) => void,
): Files {
  const [offer, setOffer] = useState<Offer | null>(null);
  // An offer was made for one call, so it ends when a link opens another call.
  useEffect(() => setOffer(null), [generation]);
  const onRefusal = (sentence: string): void => page.show(page.state(), [sentence]);
  const take: Files["take"] = (choice, spot, remarks) => {
    setOffer(null);
    if (choice.kind === "node") {
      page.show(choice.state, [...choice.remarks, ...remarks], "file");
      if (choice.actual !== undefined) onAsk({ actual: choice.actual });
    } else if (spot === "actual") onAsk({ actual: choice.input });
    else if (offer?.text !== undefined) void edits[spot]?.onPaste(null, offer.text);
    else {
      page.replace(spot, choice.input);
      if (remarks.length > 0) page.show(page.state(), remarks);
    }
  };
  const takeFiles: TakeFiles = async (files, spot) => {
    const found = await read(files);
    if (found === null) return;
    if ("error" in found) {
      onRefusal(found.error);
      return;
    }
    const { choices, remarks } = found;
    const [only] = choices;
    if (choices.length === 1 && only.kind === "node") take(only, 0, remarks);
    else if (choices.length === 1 && spot !== null) take(only, spot, remarks);
    else setOffer(found);
  };
  const isOver = useDropping(takeFiles);
  usePastes(async (text) => {
    const found = await offerOf(text, page);
    if ("error" in found) onRefusal(found.error);
    else setOffer(found);
  });
  return {
    offer,
    isOver,
    takeFiles: (files) => void takeFiles(files, null),
    take,
    dismiss: () => setOffer(null),
  };
}

/**
 * The content of the files: of all of them if they are a case, otherwise of one file with the `.bin` that belongs to it.
 * Null without files. Never throws.
 */
async function read(files: readonly File[]): Promise<Offer | { readonly error: string } | null> {
  const bin = files.find(({ name }) => name.toLowerCase().endsWith(".bin"));
  const file = files.find((one) => one !== bin) ?? bin;
  if (file === undefined) return null;
  const isOfCase = isCase(files.map(({ name }) => name));
  const others = files.filter((one) => one !== bin).length;
  if (!isOfCase && others > 1) {
    return {
      error: `the page takes one file, or one model with tensors for its inputs; got ${others} files`,
    };
  }
  const taken = isOfCase ? files : [file, ...(bin === undefined ? [] : [bin])];
  const large = taken.find(({ size }) => size > MOST_BYTES);
  if (large !== undefined) {
    return { error: `${large.name} has ${large.size} bytes; the page reads up to ${MOST_BYTES}` };
  }
  try {
    const found = await contentOf(taken, isOfCase);
    return "error" in found ? found : { name: file.name, ...found };
  } catch (error) {
    return { error: `${file.name} could not be read: ${String(error)}` };
  }
}

async function contentOf(files: readonly File[], isOfCase: boolean): Promise<FileContent> {
  const bytes = await Promise.all(files.map(bytesOf));
  if (isOfCase) return fromCase(files.map(({ name }, p) => ({ name, bytes: bytes[p] })));
  return fromFile(files[0].name, bytes[0], bytes.at(1));
}

const bytesOf = async (file: File): Promise<Uint8Array> => new Uint8Array(await file.arrayBuffer());

/**
 * A pasted text as an offer. The data type here only serves to read the text: the text gets that of the input that the user
 * chooses.
 */
async function offerOf(
  text: string,
  page: Session["page"],
): Promise<Offer | { readonly error: string }> {
  const tried = { dtype: "float32", shape: [], values: ["0"] } as const;
  const read = await page.load().then(
    ({ withPaste }) => withPaste(tried, null, text),
    (error: unknown) => ({ error: String(error) }),
  );
  if ("error" in read) return read;
  const choice = { kind: "tensor", title: "", input: read.input } as const;
  return { name: "pasted text", choices: [choice], remarks: [], text };
}

/** Listens to texts that are pasted where neither a cell nor a field takes them. */
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

/** Listens to files that are dropped. Returns whether files are dragged over the page. */
function useDropping(takeFiles: TakeFiles): boolean {
  const [isOver, setOver] = useState(false);
  // The listeners live as long as the page and call the latest function.
  const latest = useRef(takeFiles);
  latest.current = takeFiles;
  useEffect(() => {
    const onDragOver = (event: DragEvent): void => {
      if (event.dataTransfer?.types.includes("Files") !== true) return;
      event.preventDefault();
      setOver(true);
    };
    const onDragLeave = (event: DragEvent): void => {
      // The event also comes when the pointer goes from one part of the page to another.
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

/** The place of the tensor that an element of the page belongs to; null for none. */
function spotUnder(target: EventTarget | null): Spot | null {
  const card = target instanceof Element ? target.closest("[data-tensor]") : null;
  const id = card instanceof HTMLElement ? card.dataset["tensor"] : undefined;
  if (id === "actual") return id;
  return id === undefined || id === "output" ? null : Number(id);
}
