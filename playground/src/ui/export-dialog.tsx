/** What the page gives: the call as code, the picture as a file, the address as a link. */

import type { Explanation } from "ndscatter";
import type { JSX } from "preact";
import { useRef, useState } from "preact/hooks";
import { asNumPy } from "../model/as-numpy.ts";
import { asOnnxPython } from "../model/as-onnx-python.ts";
import { asTypeScript } from "../model/as-typescript.ts";
import { toHash } from "../model/hash.ts";
import { diagramOf } from "../model/diagram.ts";
import type { State } from "../model/state.ts";
import { toSVG } from "../model/svg.ts";
import { isDark } from "./theme.tsx";

interface ExportDialogProps {
  readonly state: State;
  readonly explanation: Explanation | null;
}

interface Kind {
  readonly name: string;
  print(state: State): string;
}

const KINDS: readonly Kind[] = [
  { name: "TypeScript", print: asTypeScript },
  { name: "NumPy", print: asNumPy },
  { name: "ONNX Python", print: asOnnxPython },
  { name: "Link", print: (state) => `${location.href.replace(/#.*$/, "")}#${toHash(state)}` },
];

export function ExportDialog({ state, explanation }: ExportDialogProps): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null);
  const [kind, setKind] = useState<Kind | null>(null);
  const [said, setSaid] = useState("");
  const text = kind === null ? "" : printed(kind, state);
  const close = (): void => dialog.current?.close();
  const save = async (isPng: boolean): Promise<void> => {
    try {
      const svg = toSVG(diagramOf(state, explanation), isDark() ? "dark" : "light");
      const blob = isPng ? await asPng(svg) : new Blob([svg], { type: "image/svg+xml" });
      download(blob, `${state.op}-${state.opset}.${isPng ? "png" : "svg"}`);
      setSaid("");
    } catch (error) {
      setSaid(`The picture could not be made: ${String(error)}`);
    }
  };
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text);
      setSaid("Copied.");
    } catch {
      // Pages without a certificate may not; the text can be selected.
      setSaid("The browser does not let the page copy; select the text instead.");
    }
  };
  return (
    <>
      <button
        type="button"
        onClick={() => {
          setSaid("");
          setKind((before) => before ?? KINDS[0]);
          dialog.current?.showModal();
        }}
      >
        Copy or save
      </button>
      <dialog ref={dialog} aria-label="Copy or save" onClose={() => setKind(null)}>
        <div class="kinds" role="group" aria-label="what to copy">
          {KINDS.map((one) => (
            <button
              type="button"
              key={one.name}
              aria-pressed={one === kind}
              onClick={() => {
                setKind(one);
                setSaid("");
              }}
            >
              {one.name}
            </button>
          ))}
        </div>
        <textarea
          class="code"
          aria-label="code"
          readOnly
          value={text}
          rows={16}
          spellcheck={false}
        />
        <p role="status">{said}</p>
        <div class="kinds">
          <button type="button" class="main" onClick={() => void copy()}>
            Copy
          </button>
          <button type="button" onClick={() => void save(false)}>
            Save as SVG
          </button>
          <button type="button" onClick={() => void save(true)}>
            Save as PNG
          </button>
          <button type="button" class="last" onClick={close}>
            Close
          </button>
        </div>
      </dialog>
    </>
  );
}

/** Code of a call that cannot be written says why. */
function printed(kind: Kind, state: State): string {
  try {
    return kind.print(state);
  } catch (error) {
    return `This state cannot be written so: ${error instanceof Error ? error.message : String(error)}`;
  }
}

/** Pixels for each unit of the picture, so that it is sharp on any screen. */
const SCALE = 2;

/** The browser draws the SVG, and gives what it drew. */
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
  // The download has begun with the click, but not ended.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
