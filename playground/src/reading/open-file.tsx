/** The button that opens files, and what is seen of files that are dropped or ask for a choice. */

import type { JSX } from "preact";
import { useRef } from "preact/hooks";
import { Dialog } from "../widgets/dialog.tsx";
import type { Files, Offer } from "./use-files.ts";

export function FileButton({ onFiles }: { readonly onFiles: Files["takeFiles"] }): JSX.Element {
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

interface FileDialogProps {
  readonly files: Files;
  /** The names of the inputs that a tensor can be for. */
  readonly inputs: readonly string[];
}

export function FileDialog({ files, inputs }: FileDialogProps): JSX.Element {
  const { offer, isOver, take, dismiss } = files;
  return (
    <>
      {isOver && (
        <div class="drop-here" aria-hidden="true">
          Drop a tensor (.npy, .pb) on an input, or a model (.onnx, .xml) or a captured case
          anywhere
        </div>
      )}
      <Dialog
        label={`What to take from ${offer?.name ?? "the file"}`}
        isOpen={offer !== null}
        onClose={dismiss}
        content={(close) =>
          offer !== null && (
            <>
              <Choices offer={offer} inputs={inputs} onTake={take} />
              <button type="button" onClick={close}>
                Take nothing
              </button>
            </>
          )
        }
      />
    </>
  );
}

interface ChoicesProps {
  readonly offer: Offer;
  readonly inputs: readonly string[];
  readonly onTake: Files["take"];
}

function Choices({ offer, inputs, onTake }: ChoicesProps): JSX.Element {
  const { choices, remarks } = offer;
  return (
    <>
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
                <button type="button" onClick={() => onTake(choice, "actual", remarks)}>
                  another runtime's output
                </button>
              </>
            )}
          </li>
        ))}
      </ul>
      {remarks.map((sentence) => (
        <p key={sentence}>{sentence}</p>
      ))}
    </>
  );
}
