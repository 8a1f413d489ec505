/** Draws the dialogs that the bar opens. */

import type { JSX } from "preact";
import { Dialog } from "../widgets/dialog.tsx";
import type { ExamplesProps } from "../examples/examples-dialog.tsx";
import type { OpenProps } from "../reading/open-file.tsx";
import type { Files } from "../reading/use-files.ts";
import { later } from "../widgets/later.tsx";
import type { SceneOf } from "../writing/scene-of.ts";
import type { Session } from "./use-session.ts";
import type { ShareProps } from "../writing/share-panel.tsx";

const Examples = later<ExamplesProps>(
  async () => (await import("../examples/examples-dialog.tsx")).Examples,
);
const Open = later<OpenProps>(async () => (await import("../reading/open-file.tsx")).Open);
const Help = later(async () => (await import("./help.tsx")).Help);
const Share = later<ShareProps>(async () => (await import("../writing/share-panel.tsx")).Share);

export type Panel = "Examples" | "Open" | "Share" | "Help";

interface PanelsProps {
  readonly session: Session;
  readonly sceneOf: SceneOf;
  readonly files: Files;
  /** The open dialog, or null. */
  readonly panel: Panel | null;
  onClose(): void;
}

export function Panels({ session, sceneOf, files, panel, onClose }: PanelsProps): JSX.Element {
  const { state, preset, hasOwn, showPreset, showOwn } = session;
  const common = (label: Panel) => ({ label, isOpen: panel === label, onClose });
  return (
    <>
      <Dialog
        {...common("Examples")}
        isWide
        content={(close) => (
          <Examples
            chosen={preset}
            onPreset={showPreset}
            onOwn={hasOwn ? showOwn : null}
            onClose={close}
          />
        )}
      />
      <Dialog
        {...common("Open")}
        isKept
        content={(close) => <Open files={files} close={close} />}
      />
      <Dialog {...common("Share")} content={() => <Share state={state} sceneOf={sceneOf} />} />
      <Dialog {...common("Help")} content={() => <Help />} />
    </>
  );
}
