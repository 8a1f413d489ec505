/** The dialog of dropped files that need a choice or cannot be used. Its content is loaded when it opens. */

import type { JSX } from "preact";
import { Dialog } from "../widgets/dialog.tsx";
import { later } from "../widgets/later.tsx";
import type { OfferedProps } from "./open-file.tsx";
import type { Offer } from "./offer.ts";

const Offered = later<OfferedProps>(async () => (await import("./open-file.tsx")).Offered);

export function FileDialog({
  files,
  state,
  inputs,
}: Omit<OfferedProps, "offer" | "isNothing">): JSX.Element {
  const { offer, isOver, isBusy, cancel, dismiss } = files;
  return (
    <>
      {isOver && (
        <div class="drop-here" aria-hidden="true">
          Drop tensors (.npy, .npz, .pb), a model (.onnx, .xml), or both
        </div>
      )}
      <div class="reading" role="status">
        {isBusy && (
          <>
            Reading …{" "}
            <button type="button" onClick={cancel}>
              Cancel
            </button>
          </>
        )}
      </div>
      <Dialog
        label={
          offer !== null && isNothing(offer)
            ? `${offer.name} contains no scatter or gather`
            : `Choose from ${offer?.name ?? "the file"}`
        }
        isOpen={offer !== null}
        onClose={dismiss}
        content={(close) =>
          offer !== null && (
            <>
              <Offered
                isNothing={isNothing(offer)}
                offer={offer}
                files={files}
                state={state}
                inputs={inputs}
              />
              <button type="button" onClick={close}>
                {isNothing(offer) ? "Close" : "Cancel"}
              </button>
            </>
          )
        }
      />
    </>
  );
}

/** Checks whether an offer contains nothing that the page can show. */
const isNothing = ({ choices, tensors = [], command }: Offer): boolean =>
  choices.length === 0 && tensors.length === 0 && command === undefined;
