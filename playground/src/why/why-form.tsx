/** The form of the panel "Why is mine different?", which accepts another runtime's output as text or file. */

import type { JSX } from "preact";
import { useRef, useState } from "preact/hooks";
import { reading } from "../reading/in-worker.ts";
import type { State } from "../values/state.ts";
import type { Why } from "./use-why.ts";

interface ActualFormProps extends Pick<
  Why,
  "hasSource" | "onText" | "onFile" | "onRefusal" | "onClear"
> {
  readonly state: State;
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

/** Reads a file as a dropped file is read: in a worker if it is large. The button then cancels the reading. */
function FileChoice({ state, onFile, onRefusal }: ActualFormProps): JSX.Element {
  const field = useRef<HTMLInputElement>(null);
  const [ending, setEnding] = useState<AbortController | null>(null);
  const take = async (file: File): Promise<void> => {
    const own = new AbortController();
    setEnding(own);
    const found = await reading({ files: [file], state }, own.signal);
    if (own.signal.aborted) return;
    setEnding(null);
    if (found === null) return;
    const [choice] = "error" in found ? [] : found.choices;
    if ("error" in found) onRefusal(found.error);
    else if (choice?.kind === "tensor") onFile(choice.input);
    else onRefusal([...found.remarks, `${found.name} is no file with a single tensor`].join(" "));
  };
  const cancel = (): void => {
    ending?.abort();
    setEnding(null);
  };
  return (
    <>
      <button type="button" onClick={ending === null ? () => field.current?.click() : cancel}>
        {ending === null ? "Choose a file" : "Cancel the reading"}
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
