/**
 * The bar, and the dialogs that its buttons open. Dialogs are drawn outside the bar, because the bar's menu is hidden
 * while a dialog is open.
 */

import type { JSX } from "preact";
import { Actions } from "./actions.tsx";
import { Bar } from "./bar.tsx";
import { useFiles } from "../reading/use-files.ts";
import { FileDialog } from "../reading/file-dialog.tsx";
import { WayInLine } from "../reading/way-in-line.tsx";
import { Panels } from "./panels.tsx";
import type { SceneOf } from "../writing/scene-of.ts";
import type { Session } from "../cells/session.ts";

interface TopProps {
  readonly session: Session;
  readonly sceneOf: SceneOf;
}

export function Top({ session, sceneOf }: TopProps): JSX.Element {
  const files = useFiles(session);
  return (
    <>
      <Bar session={session} middle={<WayInLine files={files} />}>
        <Actions session={session} />
      </Bar>
      <Panels session={session} sceneOf={sceneOf} files={files} />
      <FileDialog
        files={files}
        state={session.state}
        inputs={session.version?.inputs.map(({ name }) => name) ?? []}
      />
    </>
  );
}
