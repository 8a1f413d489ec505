/** The top of the page: examples, files, code to copy, and colours. */

import type { JSX } from "preact";
import { ExportDialog } from "./export-dialog.tsx";
import { OpenFile } from "./open-file.tsx";
import { PresetMenu } from "./preset-menu.tsx";
import type { Session } from "./session.ts";
import { ThemeMenu } from "./theme.tsx";

export function Header({ session }: { readonly session: Session }): JSX.Element {
  const { state, preset, version, explanation, page, showPreset, forget } = session;
  return (
    <header class="top">
      <h1>
        <a href="./">ndscatter</a> <span>playground</span>
      </h1>
      <PresetMenu chosen={preset} onPreset={showPreset} />
      <OpenFile
        inputs={version?.inputs.map(({ name }) => name) ?? []}
        onTensor={(input, position, remarks) =>
          page.show({ ...state, inputs: state.inputs.with(position, input) }, remarks)
        }
        onState={(next, remarks) => {
          forget();
          page.show(next, remarks);
        }}
        onRefusal={(sentence) => page.show(state, [sentence])}
      />
      <ExportDialog state={state} explanation={explanation} />
      <ThemeMenu />
    </header>
  );
}
