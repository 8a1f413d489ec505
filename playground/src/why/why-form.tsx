/** The form of the panel "Why is mine different?", which accepts another runtime's output as text or file. */

import type { JSX } from "preact";
import { useRef } from "preact/hooks";
import type { Session } from "../cells/session.ts";
import { useReading } from "../reading/use-files.ts";
import type { Why } from "./use-why.ts";

interface ActualFormProps extends Pick<
  Why,
  "hasSource" | "onText" | "onFile" | "onRefusal" | "onClear"
> {
  readonly session: Session;
  readonly error: string | null;
}

export function ActualForm(props: ActualFormProps): JSX.Element {
  const { error, hasSource, onText, onClear } = props;
  const field = useRef<HTMLTextAreaElement>(null);
  const apply = (): void => onText(field.current?.value ?? "");
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        apply();
      }}
    >
      <label class="soft">
        Paste another runtime's output of this call, or drop its .npy or .pb file here.
        <textarea
          ref={field}
          rows={4}
          spellcheck={false}
          autocomplete="off"
          placeholder="[[1., 2.], [3., 4.]]"
          aria-invalid={error === null ? undefined : true}
          aria-describedby={error === null ? undefined : "why-error"}
          // The field contains the new text only after the event.
          onPaste={() => setTimeout(apply)}
          onKeyDown={(event) => {
            if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) apply();
          }}
        />
      </label>
      {error !== null && (
        <p class="faults" id="why-error" role="alert">
          {error}
        </p>
      )}
      <div class="row">
        <button type="submit" class="main">
          Compare
        </button>
        <FileChoice {...props} />
        {hasSource && (
          <button
            type="button"
            onClick={() => {
              if (field.current !== null) field.current.value = "";
              onClear();
            }}
          >
            Clear
          </button>
        )}
      </div>
    </form>
  );
}

/** Reads a file as a dropped file is read. While the reading takes long, the button cancels it. */
function FileChoice({ session, onFile, onRefusal }: ActualFormProps): JSX.Element {
  const field = useRef<HTMLInputElement>(null);
  const { isBusy, read, cancel } = useReading(session.generation);
  const take = async (file: File): Promise<void> => {
    const found = await read({ files: [file], state: session.latest() });
    if (found === null) return;
    const [choice] = "error" in found ? [] : found.choices;
    if ("error" in found) onRefusal(found.error);
    else if (choice?.kind === "tensor") onFile(choice.input);
    else onRefusal([...found.remarks, `${found.name} does not hold exactly one tensor`].join(" "));
  };
  return (
    <>
      <button type="button" onClick={isBusy ? cancel : () => field.current?.click()}>
        {isBusy ? "Cancel the reading" : "Choose a file"}
      </button>
      <input
        ref={field}
        type="file"
        hidden
        accept=".npy,.pb"
        aria-label="the output of another runtime"
        onChange={(event) => {
          const file = event.currentTarget.files?.[0];
          if (file !== undefined) void take(file);
          event.currentTarget.value = "";
        }}
      />
    </>
  );
}
