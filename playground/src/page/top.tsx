/**
 * The bar, and the dialogs that its buttons open. Dialogs are drawn outside the bar, because the bar's menu is hidden
 * while a dialog is open.
 */

import type { JSX } from "preact";
import type { ModelCheckProps } from "../model/model-check.tsx";
import { later } from "../widgets/later.tsx";
import { Actions } from "./actions.tsx";
import { Bar } from "./bar.tsx";
import { useFiles, type Files } from "../reading/use-files.ts";
import { FileDialog } from "../reading/file-dialog.tsx";
import { WayInLine } from "../reading/way-in-line.tsx";
import type { Panel } from "../document/state.ts";
import type { ExamplesProps } from "../gallery/examples-dialog.tsx";
import type { OpenProps } from "../reading/open-file.tsx";
import { Dialog } from "../widgets/dialog.tsx";
import type { Viewed } from "../stage/use-corners.ts";

const ModelCheck = later<ModelCheckProps>(
  async () => (await import("../model/model-check.tsx")).ModelCheck,
);
const Examples = later<ExamplesProps>(
  async () => (await import("../gallery/examples-dialog.tsx")).Examples,
);
const Open = later<OpenProps>(async () => (await import("../reading/open-file.tsx")).Open);
const Help = later(async () => (await import("./help.tsx")).Help);
const Share = later<Viewed>(async () => (await import("../writing/share-panel.tsx")).Share);

export function Top({ session, layout, windows }: Viewed): JSX.Element {
  const files = useFiles(session);
  return (
    <>
      <Bar session={session} middle={<WayInLine files={files} />}>
        <Actions session={session} />
      </Bar>
      {files.model !== null && (
        <ModelCheck
          model={files.model}
          onShow={(shown) => {
            files.take({ kind: "node", title: "", ...shown, dialect: "onnxruntime-cpu" }, 0, []);
            if (shown.actual === undefined) session.act({ do: "show", asked: undefined });
          }}
          onClose={() => files.setModel(null)}
        />
      )}
      <Panels session={session} layout={layout} windows={windows} files={files} />
      <FileDialog
        files={files}
        state={session.state}
        inputs={session.version?.inputs.map(({ name }) => name) ?? []}
      />
    </>
  );
}

/** The dialogs that the bar opens. */
function Panels({
  session,
  layout,
  windows,
  files,
}: Viewed & { readonly files: Files }): JSX.Element {
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
