/** What can be done with a call: the buttons at the right of the bar. */

import type { JSX } from "preact";
import type { Asked } from "./app.tsx";
import { ExamplesButton } from "./examples-dialog.tsx";
import { HelpButton } from "./help.tsx";
import { OpenFile } from "./open-file.tsx";
import type { SceneOf } from "./scene-of.ts";
import type { Session } from "./session.ts";
import { ShareButton } from "./share.tsx";

interface ActionsProps {
  readonly session: Session;
  readonly sceneOf: SceneOf;
  readonly asked: Asked;
  onAsk(asked: Asked): void;
}

export function Actions({ session, sceneOf, asked, onAsk }: ActionsProps): JSX.Element {
  const { state, page, version, preset, undo, redo, canUndo, canRedo } = session;
  return (
    <>
      <Step label="undo" sign="↶" keys="Ctrl+Z" isThere={canUndo} onStep={undo} />
      <Step label="redo" sign="↷" keys="Ctrl+Shift+Z" isThere={canRedo} onStep={redo} />
      <ExamplesButton
        chosen={preset}
        onPreset={session.showPreset}
        onOwn={session.hasOwn ? session.showOwn : null}
      />
      <OpenFile
        inputs={version?.inputs.map(({ name }) => name) ?? []}
        onTensor={(input, position, remarks) => {
          page.replace(position, input);
          if (remarks.length > 0) page.show(page.state(), remarks);
        }}
        onState={(next, remarks, actual) => {
          page.show(next, remarks, "file");
          if (actual !== null) onAsk({ actual });
        }}
        onActual={(actual) => onAsk({ actual })}
        onText={async (text) => {
          const { withPaste } = await page.load();
          return withPaste({ dtype: "float32", shape: [], values: ["0"] }, null, text);
        }}
        onPasted={(text, position) => void session.edits[position]?.onPaste(null, text)}
        onRefusal={(sentence) => page.show(page.state(), [sentence])}
      />
      <button
        type="button"
        aria-pressed={asked !== undefined}
        title="why is mine different? compare with what another runtime gave"
        onClick={() => onAsk(asked === undefined ? { actual: null } : undefined)}
      >
        Compare
      </button>
      <ShareButton state={state} sceneOf={sceneOf} />
      <a class="button" href="./reference/" title="reference of all operators and versions">
        Docs
      </a>
      <HelpButton />
    </>
  );
}

interface StepProps {
  readonly label: string;
  readonly sign: string;
  readonly keys: string;
  readonly isThere: boolean;
  onStep(): void;
}

/** A button that keeps the focus when there is nothing more to do: a disabled one would lose it. */
const Step = ({ label, sign, keys, isThere, onStep }: StepProps): JSX.Element => (
  <button
    type="button"
    aria-label={label}
    title={`${label}: ${keys}`}
    aria-disabled={!isThere}
    onClick={() => isThere && onStep()}
  >
    {sign}
  </button>
);
