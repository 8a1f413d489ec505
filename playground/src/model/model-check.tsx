/** The strip below the bar that runs an opened model, and lists its scatters and gathers. */

import type { JSX } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { MODEL } from "../reading/file-kinds.ts";
import type { OpenedModel } from "../reading/use-files.ts";
import { download } from "../writing/save.ts";
import { visible } from "../values/visible.ts";
import type { Checked, Row, ShownNode } from "./messages.ts";
import { useCheck } from "./use-check.ts";
// oxlint-disable-next-line import/no-unassigned-import -- Vite loads the styles with this module.
import "./model.css";

export interface ModelCheckProps {
  readonly model: OpenedModel;
  onShow(shown: ShownNode): void;
  onClose(): void;
}

const OFFER =
  "Check every scatter and gather in ONNX Runtime, here? The page loads 14 MB, and nothing leaves the browser.";

/** The words for verdicts in the list. */
const WORDS: Readonly<Record<Row["verdict"], string>> = {
  equal: "equal",
  near: "equal",
  "nan-or-zero": "nearly equal",
  differs: "different",
  wrong: "invalid",
  failed: "not run",
  behind: "not run",
  "not-run": "not run",
};

type Shown = ReturnType<typeof useCheck>;

export function ModelCheck({ model, onShow, onClose }: ModelCheckProps): JSX.Element {
  const { files, isAsked } = model;
  const check = useCheck(files, onShow);
  const { progress, checked, problem, refused } = check;
  // On a small screen, the list would hide the picture.
  const [isOpen, setOpen] = useState(!document.documentElement.classList.contains("small"));
  useEffect(() => {
    if (isAsked) check.run();
  }, [model]);
  const name = visible(files.find((one) => MODEL.test(one.name))?.name ?? "");
  const sentences = [
    checked && summaryOf(checked.rows),
    progress?.sentence,
    problem,
    // The open list shows the reason beside its node.
    !isOpen && refused && `A node cannot be shown: ${refused.sentence}.`,
  ];
  const said = sentences.filter(Boolean).join(" ");
  return (
    <section class="model-check" aria-label={`check of ${name}`}>
      <div class="model-line">
        <p role="status">
          <b>{name}</b> {said || OFFER}
        </p>
        {progress !== null && (
          <progress
            aria-label="progress"
            {...(progress.share !== null && { value: progress.share })}
          />
        )}
        <div class="model-buttons">
          <Buttons check={check} name={name} isNew={said === ""} />
          {checked !== null && (
            <button type="button" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
              Nodes
            </button>
          )}
        </div>
        <button type="button" class="quiet" aria-label="close the check" onClick={onClose}>
          ×
        </button>
      </div>
      {checked !== null && isOpen && <Nodes check={check} checked={checked} />}
    </section>
  );
}

interface ButtonsProps {
  readonly check: Shown;
  readonly name: string;
  /** True before the first run. */
  readonly isNew: boolean;
}

function Buttons({ check, name, isNew }: ButtonsProps): JSX.Element {
  const { progress, isAlive, run, stop } = check;
  const model = check.cure?.model ?? null;
  const again = useRef<HTMLButtonElement>(null);
  const isCanceled = useRef(false);
  // The button for canceling is gone, so its focus moves to the button in its place.
  useLayoutEffect(() => {
    if (isCanceled.current) again.current?.focus();
    isCanceled.current = false;
  }, [progress]);
  return (
    <>
      {progress !== null && (
        <button
          type="button"
          onClick={() => {
            isCanceled.current = true;
            stop();
          }}
        >
          Cancel
        </button>
      )}
      {progress === null && !isAlive && (
        <button ref={again} type="button" class="main" onClick={run}>
          {isNew ? "Check the model" : "Check again"}
        </button>
      )}
      {model !== null && (
        <button
          type="button"
          class="main"
          onClick={() => download(model, name.replace(MODEL, "-fixed.onnx"))}
        >
          Save the fixed model
        </button>
      )}
    </>
  );
}

function Nodes({ check, checked }: { check: Shown; checked: Checked }): JSX.Element {
  const { cure, shown, refused, isAlive, show } = check;
  return (
    // The list scrolls, so it must be reachable by keyboard.
    <div class="model-nodes" tabIndex={0} role="group" aria-label="nodes">
      {[...(cure === null ? [] : [cure.sentence]), ...(shown?.remarks ?? [])].map((sentence) => (
        <p key={sentence}>{visible(sentence)}</p>
      ))}
      <ul>
        {checked.rows.map((row, at) => (
          <Node
            key={at}
            row={row}
            isShown={shown?.row === at}
            refusal={refused?.row === at ? refused.sentence : ""}
            onShow={row.canShow && isAlive ? () => show(at) : null}
          />
        ))}
      </ul>
      {[...checked.remarks, ONE_THREAD].map((sentence) => (
        <p class="soft" key={sentence}>
          {visible(sentence)}
        </p>
      ))}
    </div>
  );
}

/** What the check cannot find. */
const ONE_THREAD =
  "The runtime has one thread here, so a result that changes when threads race is not found; npx ndscatter verify finds it.";

function summaryOf(rows: readonly Row[]): string {
  if (rows.length === 0) return "The model has no scatter or gather.";
  const counts = new Map<string, number>();
  for (const { verdict } of rows) counts.set(WORDS[verdict], (counts.get(WORDS[verdict]) ?? 0) + 1);
  const parts = [...counts].map(([word, count]) => `${count} ${word}`);
  return `${rows.length} ${rows.length === 1 ? "node" : "nodes"}: ${parts.join(", ")}.`;
}

interface NodeProps {
  readonly row: Row;
  readonly isShown: boolean;
  /** The reason why the page cannot show the node; empty if nobody asked. */
  readonly refusal: string;
  readonly onShow: (() => void) | null;
}

function Node({ row, isShown, refusal, onShow }: NodeProps): JSX.Element {
  const { path, title, verdict, sentence, differing, why } = row;
  const count =
    differing === null || differing[0] === 0
      ? ""
      : `${differing[0].toLocaleString("en")} of ${differing[1].toLocaleString("en")} cells ${differing[0] === 1 ? "differs" : "differ"}`;
  const said = [count, sentence, why, refusal].filter(Boolean).join("; ");
  const line = useRef<HTMLLIElement>(null);
  useEffect(() => {
    if (isShown) line.current?.scrollIntoView({ block: "nearest" });
  }, [isShown]);
  return (
    <li ref={line} class={`is-${verdict}`} aria-current={isShown}>
      <b class="model-verdict">{WORDS[verdict]}</b>{" "}
      <span class="model-path">
        <b>{title}</b> {visible(path)}
      </span>{" "}
      {onShow !== null && (
        <button type="button" aria-label={`show ${path}`} aria-pressed={isShown} onClick={onShow}>
          Show
        </button>
      )}{" "}
      {said !== "" && (
        <span class="model-said" role={refusal === "" ? undefined : "alert"}>
          {visible(said)}
        </span>
      )}
    </li>
  );
}
