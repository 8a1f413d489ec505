/** Draws the dialogs that the bar opens. */

import type { JSX } from "preact";
import { Dialog } from "../widgets/dialog.tsx";
import type { ExamplesProps } from "../gallery/examples-dialog.tsx";
import type { OpenProps } from "../reading/open-file.tsx";
import type { Files } from "../reading/use-files.ts";
import { later } from "../widgets/later.tsx";
import type { Viewed } from "../stage/use-corners.ts";
import type { Panel } from "../document/state.ts";

const Examples = later<ExamplesProps>(
  async () => (await import("../gallery/examples-dialog.tsx")).Examples,
);
const Open = later<OpenProps>(async () => (await import("../reading/open-file.tsx")).Open);
const Help = later(async () => (await import("./help.tsx")).Help);
const Share = later<Viewed>(async () => (await import("../writing/share-panel.tsx")).Share);

interface PanelsProps extends Viewed {
  readonly files: Files;
}

export function Panels({ session, layout, windows, files }: PanelsProps): JSX.Element {
  const { preset, hasOwn, panel, act } = session;
  const onClose = (): void => act({ do: "show", panel: null });
  const common = (label: Panel) => ({ label, isOpen: panel === label, onClose });
  return (
    <>
      <Dialog
        {...common("Examples")}
        isWide
        content={(close) => (
          <Examples
            chosen={preset}
            onPreset={(id) => act({ do: "example", id })}
            onOwn={hasOwn ? () => act({ do: "own" }) : null}
            onClose={close}
          />
        )}
      />
      <Dialog
        {...common("Open")}
        isKept
        content={(close) => <Open files={files} close={close} />}
      />
      <Dialog
        {...common("Share")}
        content={() => <Share session={session} layout={layout} windows={windows} />}
      />
      <Dialog {...common("Help")} content={() => <Help />} />
    </>
  );
}
