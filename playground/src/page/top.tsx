/**
 * The bar, and the dialogs that its buttons open. Dialogs are drawn outside the bar, because the bar's menu is hidden
 * while a dialog is open.
 */

import type { JSX } from "preact";
import type { ModelCheckProps } from "../model/model-check.tsx";
import { later } from "../widgets/later.tsx";
import { Actions } from "./actions.tsx";
import { Bar } from "./bar.tsx";
import { useFiles } from "../reading/use-files.ts";
import { FileDialog } from "../reading/file-dialog.tsx";
import { WayInLine } from "../reading/way-in-line.tsx";
import { Panels } from "./panels.tsx";
import type { Viewed } from "../stage/use-corners.ts";

const ModelCheck = later<ModelCheckProps>(
  async () => (await import("../model/model-check.tsx")).ModelCheck,
);

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
