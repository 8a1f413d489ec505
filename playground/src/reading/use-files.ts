/**
 * Handles chosen or dropped files: a tensor, a model, a test case from `ndscatter capture`, or another runtime's
 * output. Text pasted outside a cell is handled in the same way.
 */

import { useEffect, useRef, useState } from "preact/hooks";
import { ONNX } from "./file-kinds.ts";
import type { Choice, Offer } from "./offer.ts";
import type { Opened, Read } from "./read-files.ts";
import type { State } from "../values/state.ts";
import type { Session } from "../cells/session.ts";

/** An input's position, or the slot for another runtime's output. */
export type Spot = number | "actual";

/** Opens files for a slot, or for the whole call if no slot is chosen. */
type TakeFiles = (files: readonly File[], spot: Spot | null) => Promise<void>;

export interface Files {
  /** Choices for the user, or null. */
  readonly offer: ModelOffer | null;
  /** True if reading takes so long that the page shows it. */
  readonly isBusy: boolean;
  /** Stops reading. */
  cancel(): void;
  /** True while files are dragged over the page. */
  readonly isOver: boolean;
  /** Opens files that the user chose. */
  takeFiles(files: readonly File[]): void;
  /** Reads pasted or typed text: a call, an array, an error message or a link. */
  takeText(text: string): void;
  take(choice: Choice, spot: Spot, remarks: readonly string[]): void;
  /** Assigns tensors to a call's inputs. */
  takeState(state: State, remarks: readonly string[]): void;
  /** Closes the offer without changing the page. */
  dismiss(): void;
  /** The last opened ONNX model, which the page can run; null if there is none. */
  readonly model: OpenedModel | null;
  setModel(model: OpenedModel | null): void;
}

/** A model with the tensors that were opened with it. */
export interface OpenedModel {
  readonly files: readonly File[];
  /** True if the user has asked to run the model. */
  readonly isAsked: boolean;
}

/** An offer, with the model among its files that the page can run; null if there is none. */
export interface ModelOffer extends Offer {
  readonly model: OpenedModel | null;
}

export function useFiles({ act, latest, edits, generation }: Session): Files {
  const [offer, setOffer] = useState<ModelOffer | null>(null);
  const [model, setModel] = useState<OpenedModel | null>(null);
  // An offer belongs to one call, so the offer closes when a link opens another call.
  useEffect(() => setOffer(null), [generation]);
  const take: Files["take"] = (choice, spot, remarks) => {
    setOffer(null);
    if (choice.kind === "node") {
      act({ do: "open", state: choice.state, remarks: [...remarks, ...choice.remarks] });
      const { actual, dialect } = choice;
      if (actual !== undefined) act({ do: "show", asked: { actual, dialect } });
    } else if (spot === "actual") act({ do: "show", asked: { actual: choice.input } });
    else if (offer?.text !== undefined) void edits[spot]?.onPaste(null, offer.text);
    else {
      act({ do: "replace", input: spot, text: choice.input });
      if (remarks.length > 0) act({ do: "say", remarks });
    }
  };
  const takeState: Files["takeState"] = (state, remarks) =>
    take({ kind: "node", title: "", state, remarks: [] }, 0, remarks);
  const takeOffer = async (found: ModelOffer, spot: Spot | null): Promise<void> => {
    const { choices, remarks, tensors = [], command } = found;
    const [only] = choices;
    if (command !== undefined) setOffer(found);
    else if (tensors.length > 1) {
      const { certainOf } = await import("./certain.ts");
      const certain = certainOf(tensors, latest());
      if (certain === null || remarks.length > 0) setOffer(found);
      else takeState(certain.state, certain.remarks);
    } else if (choices.length === 1 && only.kind === "node") take(only, 0, remarks);
    else if (choices.length === 1 && spot !== null) take(only, spot, remarks);
    else setOffer(found);
  };
  const { isBusy, read, cancel } = useReading(generation);
  const takeRead = async (opened: Opened, spot: Spot | null): Promise<void> => {
    const found = await read(opened);
    if (found === null) return;
    if ("error" in found) return act({ do: "say", remarks: [found.error] });
    const own = modelIn(opened);
    if (own !== null) setModel(own);
    return takeOffer({ ...found, model: own }, spot);
  };
  const takeFiles: TakeFiles = (files, spot) => takeRead({ files, state: latest() }, spot);
  const takeText = (text: string): Promise<void> => takeRead({ text, state: latest() }, null);
  const isOver = useGiven(takeFiles, takeText);
  return {
    offer,
    isBusy,
    cancel,
    isOver,
    takeFiles: (files) => void takeFiles(files, null),
    takeText: (text) => void takeText(text),
    take,
    takeState,
    dismiss: () => setOffer(null),
    model,
    setModel,
  };
}

/** Returns the model among the opened files with all of them; null if the page cannot run one. */
const modelIn = (opened: Opened): OpenedModel | null =>
  "files" in opened && opened.files.some(({ name }) => ONNX.test(name))
    ? { files: opened.files, isAsked: false }
    : null;

/** The time in milliseconds after which the page shows that it reads. */
const PATIENCE = 300;

/** Reads one thing at a time: a new reading, another call and the end of the component cancel the one before. */
export function useReading(generation: number) {
  const [isBusy, setBusy] = useState(false);
  const stop = useRef(() => {});
  useEffect(() => () => stop.current(), [generation]);
  const read = async (opened: Opened): Promise<Read> => {
    stop.current();
    const ending = new AbortController();
    const { signal } = ending;
    const end = (): void => ending.abort();
    stop.current = end;
    const timer = setTimeout(() => setBusy(true), PATIENCE);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      setBusy(false);
    });
    const { reading } = await import("./in-worker.ts");
    const found = await reading(opened, signal);
    if (signal.aborted) return null;
    end();
    return found;
  };
  return { isBusy, read, cancel: () => stop.current() };
}

type Listeners = {
  readonly [Name in keyof DocumentEventMap]?: (event: DocumentEventMap[Name]) => void;
};

/** Listens for events of the document. The listeners are added once, and call the latest functions. */
function useListeners(listeners: Listeners): void {
  const latest = useRef(listeners);
  latest.current = listeners;
  useEffect(() => {
    const ending = new AbortController();
    for (const name of Object.keys(listeners)) {
      const listen = (event: Event): void =>
        (latest.current as Record<string, (event: Event) => void>)[name](event);
      document.addEventListener(name, listen, { signal: ending.signal });
    }
    return () => ending.abort();
  }, []);
}

/** Takes pastes that neither a cell nor a field handles, and drops. Returns true while files are over the page. */
function useGiven(takeFiles: TakeFiles, takeText: (text: string) => Promise<void>): boolean {
  const [isOver, setOver] = useState(false);
  useListeners({
    paste: (event) => {
      const isTaken = event.target instanceof Element && event.target.matches("input, textarea");
      const text = event.clipboardData?.getData("text/plain") ?? "";
      if (isTaken || event.defaultPrevented || text.trim() === "") return;
      event.preventDefault();
      void takeText(text);
    },
    dragover: (event) => {
      if (event.dataTransfer?.types.includes("Files") !== true) return;
      event.preventDefault();
      setOver(true);
    },
    dragleave: (event) => {
      // The event also fires when the pointer moves between parts of the page.
      if (event.relatedTarget === null) setOver(false);
    },
    drop: (event) => {
      setOver(false);
      if (event.dataTransfer === null || event.dataTransfer.files.length === 0) return;
      event.preventDefault();
      const spot = spotUnder(event.target);
      // The browser empties a drop when its event ends.
      const plain = [...event.dataTransfer.files];
      const entries = [...event.dataTransfer.items].map((item) => item.webkitGetAsEntry());
      void import("./dropped-files.ts")
        .then(({ droppedFiles }) => droppedFiles(plain, entries))
        .then((files) => takeFiles(files, spot));
    },
  });
  return isOver;
}

/** Returns the slot of the tensor that contains a page element, or null. */
function spotUnder(target: EventTarget | null): Spot | null {
  const card = target instanceof Element ? target.closest("[data-tensor]") : null;
  const id = card instanceof HTMLElement ? card.dataset["tensor"] : undefined;
  if (id === "actual") return id;
  return id === undefined || id === "output" ? null : Number(id);
}
