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
        onCopy={async () => setRemark(await copy(text))}
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

/** Copies a text and says whether that worked. */
async function copy(text: string): Promise<string> {
  try {
    await navigator.clipboard.writeText(text);
    return "Copied.";
  } catch {
    // Pages that were not loaded by HTTPS may not copy; the text can be selected.
    return "The browser does not let the page copy; select the text instead.";
  }
}

type Format = "svg" | "png" | "moving";

/** Downloads the picture; the error as a sentence, or nothing. */
async function save(format: Format, state: State, sceneOf: SceneOf): Promise<string> {
  try {
    const svg = toSVG(sceneOf(format === "moving"), isDark() ? "dark" : "light");
    const blob = format === "png" ? await asPng(svg) : new Blob([svg], { type: "image/svg+xml" });
    download(
      blob,
      `${state.op}-${state.opset}${format === "moving" ? "-steps" : ""}.${format === "png" ? "png" : "svg"}`,
    );
    return "";
  } catch (error) {
    return `The picture could not be made: ${String(error)}`;
  }
}

/** Pixels for each unit of the picture, so that it is sharp on any screen. */
const SCALE = 2;

/** The SVG as the browser draws it. */
async function asPng(svg: string): Promise<Blob> {
  const url = URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" }));
  try {
    const image = new Image();
    image.src = url;
    await image.decode();
    const canvas = document.createElement("canvas");
    canvas.width = image.naturalWidth * SCALE;
    canvas.height = image.naturalHeight * SCALE;
    canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
    return await new Promise((resolve, reject) => {
      canvas.toBlob((blob) => {
        if (blob === null) reject(new Error("it is larger than the browser draws"));
        else resolve(blob);
      }, "image/png");
    });
  } finally {
    URL.revokeObjectURL(url);
  }
}

function download(blob: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  // The click starts the download but does not wait for it, so the address must live on.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
