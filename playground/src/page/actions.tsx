/** Buttons at the right of the bar, for actions on the call. */

import type { JSX } from "preact";
import type { Panel } from "../document/state.ts";
import type { Session } from "../cells/session.ts";

export function Actions({ session }: { readonly session: Session }): JSX.Element {
  const { act, asked, canUndo, canRedo } = session;
  const onPanel = (panel: Panel): void => act({ do: "show", panel });
  return (
    <>
      <Step
        label="undo"
        sign="↶"
        keys="Ctrl+Z"
        isThere={canUndo}
        onStep={() => act({ do: "undo" })}
      />
      <Step
        label="redo"
        sign="↷"
        keys="Ctrl+Shift+Z"
        isThere={canRedo}
        onStep={() => act({ do: "redo" })}
      />
      <PanelButton panel="Examples" onPanel={onPanel} />
      <PanelButton
        panel="Open"
        title="files, code or an error message; files can be dropped on the page as well"
        onPanel={onPanel}
      />
      <button
        type="button"
        aria-pressed={asked !== undefined}
        title="why is mine different? compare with the output of another runtime"
        onClick={() =>
          act({ do: "show", asked: asked === undefined ? { actual: null } : undefined })
        }
      >
        Compare
      </button>
      <PanelButton panel="Share" onPanel={onPanel} />
      <a href="./reference/" title="reference of all operators and versions">
        Docs
      </a>
      <PanelButton panel="Help" sign="?" title="help and keys: ?" onPanel={onPanel} />
    </>
  );
}

interface PanelButtonProps {
  readonly panel: Panel;
  /** The button's text; by default the dialog's name. */
  readonly sign?: string;
  readonly title?: string;
  onPanel(panel: Panel): void;
}

const PanelButton = ({ panel, sign = panel, title, onPanel }: PanelButtonProps): JSX.Element => (
  <button
    type="button"
    aria-label={panel}
    aria-haspopup="dialog"
    title={title}
    onClick={() => onPanel(panel)}
  >
    {sign}
  </button>
);

interface StepProps {
  readonly label: string;
  readonly sign: string;
  readonly keys: string;
  readonly isThere: boolean;
  onStep(): void;
}

/**
 * A button that is never disabled, because a disabled button would lose the focus. On phones, the menu stays open after
 * this button is pressed, because users often take several steps.
 */
const Step = ({ label, sign, keys, isThere, onStep }: StepProps): JSX.Element => (
  <button
    type="button"
    aria-label={label}
    title={`${label}: ${keys}`}
    aria-disabled={!isThere}
    data-stays=""
    onClick={() => isThere && onStep()}
  >
    {sign}
  </button>
);
