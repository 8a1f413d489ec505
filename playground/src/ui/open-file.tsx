/**
 * Files that are chosen, or dropped anywhere on the page: a tensor for an input, a node of a model, a case of
 * `ndscatter capture`, or what another runtime gave.
 */

import type { JSX, RefObject } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { fromCase, isCase } from "../model/from-case.ts";
import { fromFile, type FileChoice, type FileContent } from "../model/from-file.ts";
import type { Edited } from "../model/edit.ts";
import type { State, TensorText } from "../model/state.ts";
import { droppedFiles } from "./dropped-files.ts";

interface OpenFileProps {
  /** The names of the inputs that a tensor can be for. */
  readonly inputs: readonly string[];
  onTensor(input: TensorText, position: number, remarks: readonly string[]): void;
  /** @param actual what a runtime gave for the call, where a case holds it */
  onState(state: State, remarks: readonly string[], actual: TensorText | null): void;
  /** A tensor that was dropped where another runtime's output belongs; without it nothing is taken for one. */
  onActual?(actual: TensorText, remarks: readonly string[]): void;
  /** A text that is pasted where no cell has the focus, as a tensor. */
  onText(text: string): Promise<Edited>;
  /** That text is for an input. */
  onPasted(text: string, position: number): void;
  /** Nothing could be taken, for that reason. */
  onRefusal(sentence: string): void;
}

/** The content of a file from which somebody has to choose. */
interface Offer {
  readonly name: string;
  readonly choices: readonly FileChoice[];
  readonly remarks: readonly string[];
  /** What was pasted, which is read again in the data type of the input that it is for. */
  readonly text?: string;
}

/** The position of an input, or the place of another runtime's output. */
type Spot = number | "actual";

/** Takes files for a place, or for none in particular. */
type TakeFiles = (files: readonly File[], spot: Spot | null) => Promise<void>;

/** Larger files hold more than the page shows, whatever they are. */
const MOST_BYTES = 64 * 2 ** 20;

export function OpenFile(props: OpenFileProps): JSX.Element {
  const { inputs, onTensor, onState, onActual, onText, onPasted, onRefusal } = props;
  const [offer, setOffer] = useState<Offer | null>(null);
  const dialog = useRef<HTMLDialogElement>(null);
  const take = (choice: FileChoice, spot: Spot, remarks: readonly string[]): void => {
    dialog.current?.close();
    if (choice.kind === "node") {
      onState(choice.state, [...choice.remarks, ...remarks], choice.actual ?? null);
    } else if (spot === "actual") onActual?.(choice.input, remarks);
    else if (offer?.text !== undefined) onPasted(offer.text, spot);
    else onTensor(choice.input, spot, remarks);
  };
  const ask = (found: Offer): void => {
    setOffer(found);
    dialog.current?.showModal();
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
    else ask(found);
  };
  const isOver = useDropping(takeFiles);
  usePastes(async (text) => {
    const found = await offerOf(text, onText);
    if ("error" in found) onRefusal(found.error);
    else ask(found);
  });
  return (
    <>
      <FileButton onFiles={(files) => void takeFiles(files, null)} />
      {isOver && (
        <div class="drop-here" aria-hidden="true">
          Drop a tensor (.npy, .pb) on an input, or a model (.onnx, .xml) or a captured case
          anywhere
        </div>
      )}
      <dialog ref={dialog} aria-label="What to take from the file" onClose={() => setOffer(null)}>
        {offer !== null && (
          <Choices
            offer={offer}
            inputs={inputs}
            hasActual={onActual !== undefined}
            onTake={take}
            dialog={dialog}
          />
        )}
      </dialog>
    </>
  );
}

/**
 * The content of the files: of a case all of them, else of one with the `.bin` that belongs to it. Null without files. It
 * never throws.
 */
async function read(files: readonly File[]): Promise<Offer | { readonly error: string } | null> {
  const bin = files.find(({ name }) => name.toLowerCase().endsWith(".bin"));
  const file = files.find((one) => one !== bin) ?? bin;
  if (file === undefined) return null;
  const isOfCase = isCase(files.map(({ name }) => name));
  const others = files.filter((one) => one !== bin).length;
  if (!isOfCase && others > 1) {
    return {
      error: `of ${others} files the page takes one; it takes several if they are one model and tensors for its inputs`,
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

/** A pasted text as an offer. */
async function offerOf(
  text: string,
  onText: OpenFileProps["onText"],
): Promise<Offer | { readonly error: string }> {
  const read = await onText(text).catch((error: unknown) => ({ error: String(error) }));
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

/** Listens to files that are dropped; whether files are over the page. */
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

/** The place of a tensor that a part of the page belongs to; null for none. */
function spotUnder(target: EventTarget | null): Spot | null {
  const card = target instanceof Element ? target.closest("[data-tensor]") : null;
  const id = card instanceof HTMLElement ? card.dataset["tensor"] : undefined;
  if (id === "actual") return id;
  return id === undefined || id === "output" ? null : Number(id);
}

function FileButton({ onFiles }: { onFiles(files: readonly File[]): void }): JSX.Element {
  const field = useRef<HTMLInputElement>(null);
  return (
    <>
      <button
        type="button"
        title=".npy, .pb, .onnx, .xml with its .bin, or the files of a captured case; files can be dropped on the page as well"
        onClick={() => field.current?.click()}
      >
        Open
      </button>
      <input
        ref={field}
        type="file"
        hidden
        multiple
        aria-label="file"
        accept=".npy,.pb,.onnx,.xml,.bin"
        onChange={(event) => {
          const files = [...(event.currentTarget.files ?? [])];
          event.currentTarget.value = "";
          onFiles(files);
        }}
      />
    </>
  );
}

interface ChoicesProps {
  readonly offer: Offer;
  readonly inputs: readonly string[];
  readonly dialog: RefObject<HTMLDialogElement | null>;
  /** Whether a tensor can be another runtime's output. */
  readonly hasActual: boolean;
  onTake(choice: FileChoice, spot: Spot, remarks: readonly string[]): void;
}

function Choices({ offer, inputs, hasActual, dialog, onTake }: ChoicesProps): JSX.Element {
  const { name: file, choices, remarks } = offer;
  return (
    <>
      <h2>{file}</h2>
      <ul class="choices">
        {choices.map((choice, number) => (
          <li key={number}>
            {choice.kind === "node" ? (
              <button type="button" onClick={() => onTake(choice, 0, remarks)}>
                {choice.title}
              </button>
            ) : (
              <>
                <p>
                  {choice.input.dtype} [{choice.input.shape.join(", ")}] is for
                </p>
                {inputs.map((name, position) => (
                  <button
                    type="button"
                    key={name}
                    onClick={() => onTake(choice, position, remarks)}
                  >
                    {name}
                  </button>
                ))}
                {hasActual && (
                  <button type="button" onClick={() => onTake(choice, "actual", remarks)}>
                    another runtime's output
                  </button>
                )}
              </>
            )}
          </li>
        ))}
      </ul>
      {remarks.map((sentence) => (
        <p key={sentence}>{sentence}</p>
      ))}
      <button type="button" onClick={() => dialog.current?.close()}>
        Take nothing
      </button>
    </>
  );
}
