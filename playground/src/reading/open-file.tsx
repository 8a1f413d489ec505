/** Dialog content: the list of accepted files and texts, and dropped files that need a choice or cannot be used. */

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { State } from "../values/state.ts";
import { copyText } from "../writing/save.ts";
import { MatchForm } from "./offers.tsx";
import type { Files, ModelOffer, OpenedModel } from "./use-files.ts";
import { WayIn } from "./way-in.tsx";

/** The accepted kinds of input, in display order. */
const TAKES: readonly (readonly [what: string, sentence: string])[] = [
  [
    ".npy, .pb, .npz",
    "Tensor files: a single tensor for one input, or three or four tensors for a whole call, matched by name, type and shape.",
  ],
  [
    ".onnx, .xml with .bin",
    "A model that contains a scatter or gather. Tensor files opened with the model become the model's inputs; external data is opened with the model too. The page can run an ONNX model, and compare every scatter and gather with the exact result.",
  ],
  ["a folder", "A test case: written by ndscatter capture, or an ONNX test folder."],
  [
    "a call",
    "One scatter or gather in NumPy, PyTorch, TensorFlow, JAX, ONNX or ndscatter, with its arrays written as lists in the call or assigned on other lines.",
  ],
  [
    "an error message",
    "A message from onnxruntime, PyTorch, NumPy or TensorFlow; the page shows a call that fails the same way.",
  ],
];

export interface OpenProps {
  readonly files: Files;
  readonly close: () => void;
}

export const Open = ({ files, close }: OpenProps): JSX.Element => (
  <>
    <WayIn files={files} onGiven={close} />
    <dl class="takes">
      {TAKES.map(([what, sentence]) => (
        <div key={what}>
          <dt>{what}</dt>
          <dd class="soft">{sentence}</dd>
        </div>
      ))}
    </dl>
    <p>Your data never leaves the page, which shows up to 20,000 elements of a tensor.</p>
  </>
);

/** What the dialog of dropped files shows. */
export interface OfferedProps {
  readonly offer: ModelOffer;
  /** True if the offer contains nothing that the page can show. */
  readonly isNothing: boolean;
  readonly files: Files;
  readonly state: State;
  /** The names of the inputs that can receive a tensor. */
  readonly inputs: readonly string[];
}

export function Offered(props: OfferedProps): JSX.Element {
  const { offer, isNothing, files, state } = props;
  const { remarks, tensors = [], choices, command } = offer;
  return (
    <>
      {remarks.map((sentence) => (
        <p key={sentence}>{sentence}</p>
      ))}
      {offer.model !== null && <RunModel model={offer.model} files={files} />}
      {tensors.length > 1 && <MatchForm tensors={tensors} state={state} onTake={files.takeState} />}
      {choices.length > 0 && <Choices {...props} />}
      {command !== undefined && <Command line={command} />}
      {isNothing && (
        <p>Open tensors as .npy, .npz or .pb files, or a model with a scatter or gather.</p>
      )}
    </>
  );
}

/** Asks to run the whole model instead of choosing one of its nodes. */
const RunModel = ({
  model,
  files,
}: Pick<OfferedProps, "files"> & { readonly model: OpenedModel }): JSX.Element => (
  <p>
    <button
      type="button"
      class="main"
      onClick={() => {
        files.dismiss();
        files.setModel({ ...model, isAsked: true });
      }}
    >
      Run the model here, and check every node
    </button>
  </p>
);

/** Shows a command line to copy into a terminal. */
function Command({ line }: { readonly line: string }): JSX.Element {
  const [said, setSaid] = useState("");
  return (
    <>
      <p>To explain the whole call, run this in a terminal:</p>
      <div class="command row">
        <code tabIndex={0}>{line}</code>
        <button type="button" onClick={() => void copyText(line).then(setSaid)}>
          Copy
        </button>
      </div>
      <p role="status">{said}</p>
    </>
  );
}

function Choices({ offer, inputs, files }: Omit<OfferedProps, "isNothing">): JSX.Element {
  const { choices, remarks } = offer;
  return (
    <ul class="choices stack">
      {choices.map((choice, number) => (
        <li class="row" key={number}>
          {choice.kind === "node" ? (
            <button type="button" onClick={() => files.take(choice, 0, remarks)}>
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
                  onClick={() => files.take(choice, position, remarks)}
                >
                  {name}
                </button>
              ))}
              <button type="button" onClick={() => files.take(choice, "actual", remarks)}>
                another runtime's output
              </button>
            </>
          )}
        </li>
      ))}
    </ul>
  );
}
