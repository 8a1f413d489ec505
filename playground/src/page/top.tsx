/**
 * The bar, and the dialogs that its buttons open. Dialogs are drawn outside the bar, because the bar's menu is hidden
 * while a dialog is open.
 */

import type { JSX } from "preact";
import type { ModelCheckProps } from "../model/model-check.tsx";
import { later } from "../widgets/later.tsx";
import { Actions } from "./actions.tsx";
import type { Asked } from "../why/use-why.ts";
import { Bar } from "./bar.tsx";
import { useFiles } from "../reading/use-files.ts";
import { FileDialog } from "../reading/file-dialog.tsx";
import { WayInLine } from "../reading/way-in-line.tsx";
import { Panels, type Panel } from "./panels.tsx";
import type { SceneOf } from "../writing/scene-of.ts";
import type { Session } from "./use-session.ts";

const ModelCheck = later<ModelCheckProps>(
  async () => (await import("../model/model-check.tsx")).ModelCheck,
);

interface TopProps {
  readonly session: Session;
  readonly sceneOf: SceneOf;
  readonly asked: Asked;
  readonly panel: Panel | null;
  onAsk(asked: Asked): void;
  onPanel(panel: Panel | null): void;
}

export function Top({ session, sceneOf, asked, panel, onAsk, onPanel }: TopProps): JSX.Element {
  const files = useFiles(session, onAsk);
  return (
    <>
      <Bar session={session} middle={<WayInLine files={files} />}>
        <Actions session={session} asked={asked} onAsk={onAsk} onPanel={onPanel} />
      </Bar>
      {files.model !== null && (
        <ModelCheck
          model={files.model}
          onShow={(shown) => {
            files.take({ kind: "node", title: "", ...shown, dialect: "onnxruntime-cpu" }, 0, []);
            if (shown.actual === undefined) onAsk(undefined);
          }}
          onClose={() => files.setModel(null)}
        />
      )}
      <Panels
        session={session}
        sceneOf={sceneOf}
        files={files}
        panel={panel}
        onClose={() => onPanel(null)}
      />
      <FileDialog
        files={files}
        state={session.state}
        inputs={session.version?.inputs.map(({ name }) => name) ?? []}
      />
    </>
  );
}
