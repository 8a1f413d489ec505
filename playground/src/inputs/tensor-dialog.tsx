/** A dialog for editing a whole input. Opening the dialog does not move the page's content. */

import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import { Dialog } from "../widgets/dialog.tsx";
import type { Session } from "../cells/session.ts";
import { later } from "../widgets/later.tsx";
import type { TensorFormProps } from "./tensor-form.tsx";

const TensorForm = later<TensorFormProps>(
  async () => (await import("./tensor-form.tsx")).TensorForm,
);

export function TensorDialog({ session }: { readonly session: Session }): JSX.Element {
  const { text: shown, state, version, edits, act, load } = session;
  // The text parser is loaded before the user can edit a text.
  useEffect(() => {
    if (shown !== null) void load().catch(() => null);
  }, [shown]);
  const input = shown === null ? null : state.inputs[shown];
  const name = shown === null ? "" : (version?.inputs[shown]?.name ?? `input ${shown}`);
  return (
    <Dialog
      label={name}
      isOpen={input != null}
      isKept
      onClose={() => act({ do: "show", text: null })}
      content={(close) =>
        shown !== null &&
        input != null && (
          <TensorForm name={name} input={input} edits={edits[shown]} onClose={close} />
        )
      }
    />
  );
}
