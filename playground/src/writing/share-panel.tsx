/** What the page gives: the call as code, the picture as a file, the address as a link. */

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { asNumPy } from "./as-numpy.ts";
import { asOnnxPython } from "./as-onnx-python.ts";
import { asTypeScript } from "./as-typescript.ts";
import { toHash } from "../document/hash.ts";
import type { State } from "../values/state.ts";
import { toSVG } from "./svg.ts";
import type { SceneOf } from "./scene-of.ts";
import { copyText, savePicture } from "./save.ts";
import { isDark } from "../widgets/theme.tsx";

export interface ShareProps {
  readonly state: State;
  readonly sceneOf: SceneOf;
}

interface Kind {
  readonly name: string;
  print(state: State): string;
}

const KINDS: readonly [Kind, ...Kind[]] = [
  { name: "Link", print: (state) => `${location.href.replace(/#.*$/, "")}#${toHash(state)}` },
  { name: "TypeScript", print: asTypeScript },
  { name: "NumPy", print: asNumPy },
  { name: "ONNX Python", print: asOnnxPython },
];

/** The content of the dialog. */
export function Share({ state, sceneOf }: ShareProps): JSX.Element {
  const [kind, setKind] = useState<Kind>(KINDS[0]);
  const [remark, setRemark] = useState("");
  const text = printed(kind, state);
  return (
    <>
      <div class="kinds" role="group" aria-label="what to copy">
        {KINDS.map((one) => (
          <button
            type="button"
            key={one.name}
            aria-pressed={one === kind}
            onClick={() => {
              setKind(one);
              setRemark("");
            }}
          >
            {one.name}
          </button>
        ))}
      </div>
      <textarea class="code" aria-label="code" readOnly value={text} rows={12} spellcheck={false} />
      <p role="status">{remark}</p>
      <Buttons
        onCopy={async () => setRemark(await copyText(text))}
        onSave={async (format) => setRemark(await save(format, state, sceneOf))}
      />
    </>
  );
}

interface ButtonsProps {
  onCopy(): Promise<void>;
  onSave(format: Format): Promise<void>;
}

const Buttons = ({ onCopy, onSave }: ButtonsProps): JSX.Element => (
  <div class="kinds">
    <button type="button" class="main" onClick={() => void onCopy()}>
      Copy
    </button>
    <button type="button" onClick={() => void onSave("svg")}>
      Save as SVG
    </button>
    <button type="button" onClick={() => void onSave("png")}>
      Save as PNG
    </button>
    <button type="button" onClick={() => void onSave("moving")}>
      Save the steps as a moving SVG
    </button>
  </div>
);

/** The code of a call, or the reason why there is none. */
function printed(kind: Kind, state: State): string {
  try {
    return kind.print(state);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return `This state cannot be written in this form: ${reason}`;
  }
}

type Format = "svg" | "png" | "moving";

/** Downloads the picture; the error as a sentence, or nothing. */
const save = (format: Format, state: State, sceneOf: SceneOf): Promise<string> =>
  savePicture(
    () => toSVG(sceneOf(format === "moving"), isDark() ? "dark" : "light"),
    format === "png" ? "png" : "svg",
    `${state.op}-${state.opset}${format === "moving" ? "-steps" : ""}`,
  );
