/** Dialog content for embedding the page in another page: the size, a preview, and the HTML line. */

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { embedCode, sizeIn } from "./embed-code.ts";
import { copyText } from "./save.ts";

interface EmbedProps {
  readonly address: string;
  readonly hash: string;
  readonly title: string;
  onRemark(remark: string): void;
}

export function Embed({ address, hash, title, onRemark }: EmbedProps): JSX.Element {
  const [width, setWidth] = useState("720");
  const [height, setHeight] = useState("480");
  const source = `${address}?embed#${hash}`;
  const code = embedCode(source, title, sizeIn(width, 720), sizeIn(height, 480));
  return (
    <>
      <div class="embed-size">
        <Size name="width" text={width} onText={setWidth} />
        <Size name="height" text={height} onText={setHeight} />
      </div>
      <textarea class="code" aria-label="code" readOnly value={code} rows={4} spellcheck={false} />
      <div class="kinds">
        <button type="button" class="main" onClick={() => void copyText(code).then(onRemark)}>
          Copy
        </button>
      </div>
      <div class="embed-preview" role="group" aria-label="preview" tabIndex={0}>
        <iframe
          // A frame does not reload if only its hash changes.
          key={source}
          src={source}
          title={`preview of ${title}`}
          width={sizeIn(width, 720)}
          height={sizeIn(height, 480)}
        />
      </div>
    </>
  );
}

interface SizeProps {
  readonly name: string;
  readonly text: string;
  onText(text: string): void;
}

const Size = ({ name, text, onText }: SizeProps): JSX.Element => (
  <label>
    {name}{" "}
    <input
      type="number"
      inputMode="numeric"
      min={240}
      max={4000}
      step={20}
      value={text}
      onInput={(event) => onText(event.currentTarget.value)}
    />{" "}
    px
  </label>
);
