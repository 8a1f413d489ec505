/** Files that are dropped anywhere on the page, or chosen: a tensor for an input, or a node of a model. */

import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { fromFile, type FileChoice } from "../model/from-file.ts";
import type { State, TensorText } from "../model/state.ts";

interface OpenFileProps {
  /** The names of the inputs that a tensor can be for. */
  readonly inputs: readonly string[];
  onTensor(input: TensorText, position: number, said: readonly string[]): void;
  onState(state: State, said: readonly string[]): void;
  /** There was nothing to take, for that reason. */
  onRefusal(sentence: string): void;
}

interface Offer {
  readonly name: string;
  readonly choices: readonly FileChoice[];
  readonly said: readonly string[];
}

/** Larger files hold more than the page shows, whatever they are. */
const MOST_BYTES = 64 * 2 ** 20;

export function OpenFile(props: OpenFileProps): JSX.Element {
  const { inputs, onTensor, onState, onRefusal } = props;
  const [offer, setOffer] = useState<Offer | null>(null);
  const [isOver, setOver] = useState(false);
  const field = useRef<HTMLInputElement>(null);
  const dialog = useRef<HTMLDialogElement>(null);
  // Listeners live as long as the page, and call what is there by then.
  const latest = useRef<(files: readonly File[], position: number | null) => Promise<void>>(() =>
    Promise.resolve(),
  );

  const take = (choice: FileChoice, position: number, said: readonly string[]): void => {
    dialog.current?.close();
    if (choice.kind === "node") onState(choice.state, [...choice.remarks, ...said]);
    else onTensor(choice.input, position, said);
  };
  latest.current = async (files, position) => {
    const bin = files.find(({ name }) => name.toLowerCase().endsWith(".bin"));
    const file = files.find((one) => one !== bin) ?? bin;
    if (file === undefined) return;
    const large = [file, bin].find((one) => one !== undefined && one.size > MOST_BYTES);
    if (large !== undefined) {
      onRefusal(`${large.name} has ${large.size} bytes; the page reads up to ${MOST_BYTES}`);
      return;
    }
    try {
      const found = await fromFile(file.name, await bytesOf(file), bin && (await bytesOf(bin)));
      if ("error" in found) {
        onRefusal(found.error);
        return;
      }
      const { choices, remarks: said } = found;
      const [only] = choices;
      if (choices.length === 1 && only.kind === "node") take(only, 0, said);
      else if (choices.length === 1 && position !== null) take(only, position, said);
      else {
        setOffer({ name: file.name, choices, said });
        dialog.current?.showModal();
      }
    } catch (error) {
      onRefusal(`${file.name} could not be read: ${String(error)}`);
    }
  };

  useEffect(() => {
    const onDragOver = (event: DragEvent): void => {
      if (event.dataTransfer?.types.includes("Files") !== true) return;
      event.preventDefault();
      setOver(true);
    };
    const onDragLeave = (event: DragEvent): void => {
      // It also comes when the pointer goes from one part of the page to another.
      if (event.relatedTarget === null) setOver(false);
    };
    const onDrop = (event: DragEvent): void => {
      const files = [...(event.dataTransfer?.files ?? [])];
      setOver(false);
      if (files.length === 0) return;
      event.preventDefault();
      void latest.current(files, inputUnder(event.target));
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

  return (
    <>
      <button
        type="button"
        title=".npy, .pb, .onnx, or .xml with its .bin; files can be dropped on the page as well"
        onClick={() => field.current?.click()}
      >
        Open a file
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
          void latest.current(files, null);
        }}
      />
      {isOver && (
        <div class="drop-here" aria-hidden="true">
          Drop a tensor (.npy, .pb) on an input, or a model (.onnx, .xml) anywhere
        </div>
      )}
      <dialog ref={dialog} aria-label="What to take from the file" onClose={() => setOffer(null)}>
        {offer !== null && (
          <>
            <h2>{offer.name}</h2>
            <ul class="choices">
              {offer.choices.map((choice, number) => (
                <li key={number}>
                  {choice.kind === "node" ? (
                    <button type="button" onClick={() => take(choice, 0, offer.said)}>
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
                          onClick={() => take(choice, position, offer.said)}
                        >
                          {name}
                        </button>
                      ))}
                    </>
                  )}
                </li>
              ))}
            </ul>
            {offer.said.map((sentence) => (
              <p key={sentence}>{sentence}</p>
            ))}
            <button type="button" onClick={() => dialog.current?.close()}>
              Take nothing
            </button>
          </>
        )}
      </dialog>
    </>
  );
}

const bytesOf = async (file: File): Promise<Uint8Array> => new Uint8Array(await file.arrayBuffer());

/** The input that a place of the page belongs to; null for none. */
function inputUnder(target: EventTarget | null): number | null {
  const card = target instanceof Element ? target.closest("[data-tensor]") : null;
  const id = card instanceof HTMLElement ? card.dataset["tensor"] : undefined;
  return id === undefined || id === "output" ? null : Number(id);
}
