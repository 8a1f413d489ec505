/** The Share dialog, which exports a link, an embeddable frame, text, code and pictures. */

import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import { toHash } from "../document/hash.ts";
import type { Viewed } from "../stage/use-corners.ts";
import type { State } from "../values/state.ts";
import { useTheme } from "../widgets/theme.tsx";
import { asMarkdown } from "./as-markdown.ts";
import { asNumPy } from "./as-numpy.ts";
import { asPyTorch } from "./as-pytorch.ts";
import { asTypeScript } from "./as-typescript.ts";
import { embedCode, linkRemark, usePacked } from "./link.ts";
import { LONGEST_QUESTION, withQuestion } from "../document/suffix.ts";
import { copyPicture, copyText, savePicture } from "./save.ts";
import { sceneOf } from "./scene-of.ts";
import { toSVG } from "./svg.ts";

interface Kind {
  readonly name: string;
  print(state: State, link: string): string;
}

const pageAddress = (): string => location.href.replace(/[?#].*$/, "");

const LINK: Kind = { name: "Link", print: (_, link) => link };
/** The address of the page in a frame. */
const framed = (link: string): string => link.replace("#", "?embed#");

const EMBED: Kind = { name: "Embed", print: ({ op }, link) => embedCode(framed(link), op) };

const KINDS: readonly Kind[] = [
  LINK,
  EMBED,
  { name: "Markdown", print: asMarkdown },
  { name: "TypeScript", print: asTypeScript },
  { name: "NumPy", print: asNumPy },
  { name: "PyTorch", print: asPyTorch },
];

export function Share(props: Viewed): JSX.Element {
  const { state } = props.session;
  const [kind, setKind] = useState<Kind>(LINK);
  const [remark, setRemark] = useState("");
  const [question, setQuestion] = useState("");
  const hash = usePacked(
    useMemo(() => toHash(state) + withQuestion("", question), [state, question]),
  );
  const link = `${pageAddress()}#${hash}`;
  const text = printed(kind, state, link);
  return (
    <>
      <div class="row" role="group" aria-label="what to copy">
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
      <textarea
        wrap={kind === LINK ? "soft" : "off"}
        aria-label="code"
        readOnly
        value={text}
        rows={kind === LINK || kind === EMBED ? 4 : 14}
        spellcheck={false}
      />
      {kind === LINK && <p class="soft share-length">{linkRemark(text)}</p>}
      {kind === LINK && <Question text={question} onText={setQuestion} />}
      <div class="row">
        <button type="button" class="main" onClick={() => void copyText(text).then(setRemark)}>
          Copy
        </button>
      </div>
      {kind === EMBED && (
        <div class="embed-preview" role="group" aria-label="preview" tabIndex={0}>
          {/* A frame does not reload if only its hash changes. */}
          <iframe
            key={link}
            src={framed(link)}
            title={`preview of ${state.op}`}
            width="720"
            height="480"
          />
        </div>
      )}
      <Pictures {...props} onRemark={setRemark} />
      <p role="status">{remark}</p>
    </>
  );
}

interface QuestionProps {
  readonly text: string;
  onText(text: string): void;
}

const Question = ({ text, onText }: QuestionProps): JSX.Element => (
  <label class="stack">
    Your question, which the receiver sees first
    <input
      type="text"
      maxLength={LONGEST_QUESTION}
      value={text}
      onInput={(event) => onText(event.currentTarget.value)}
    />
  </label>
);

function Pictures({
  session,
  layout,
  windows,
  onRemark,
}: Viewed & { onRemark(remark: string): void }): JSX.Element {
  const { state } = session;
  const theme = useTheme();
  const name = `${state.op}-${state.opset}`;
  const picture = (): string => toSVG(sceneOf(session, layout, windows), theme);
  return (
    <div class="row" role="group" aria-label="the picture">
      <button type="button" onClick={() => void copyPicture(picture()).then(onRemark)}>
        Copy the picture
      </button>
      <button type="button" onClick={() => void savePicture(picture, "svg", name).then(onRemark)}>
        Save as SVG
      </button>
      <button type="button" onClick={() => void savePicture(picture, "png", name).then(onRemark)}>
        Save as PNG
      </button>
    </div>
  );
}

/** Returns a call as code, or the reason why the page cannot export the call. */
function printed(kind: Kind, state: State, link: string): string {
  try {
    return kind.print(state, link);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return `This state cannot be written in this form: ${reason}`;
  }
}
