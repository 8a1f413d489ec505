/** The form of the panel "Why is mine different?", which accepts another runtime's output as text or file. */

import type { JSX } from "preact";
import { useRef } from "preact/hooks";
import { MODEL } from "../reading/file-kinds.ts";
import { textIn } from "../reading/tensor-files.ts";
import type { Why } from "./use-why.ts";

interface ActualFormProps extends Pick<
  Why,
  "hasSource" | "onText" | "onFile" | "onRefusal" | "onClear"
> {
  readonly error: string | null;
}

export function ActualForm(props: ActualFormProps): JSX.Element {
  const { error, hasSource, onText, onClear } = props;
  const field = useRef<HTMLTextAreaElement>(null);
  const apply = (): void => onText(field.current?.value ?? "");
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        apply();
      }}
    >
      <label>
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
      <div class="why-buttons">
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

function FileChoice({ onFile, onRefusal }: ActualFormProps): JSX.Element {
  const field = useRef<HTMLInputElement>(null);
  const take = async (file: File): Promise<void> => {
    try {
      const { name } = file;
      if (MODEL.test(name)) {
        return onRefusal(`${name} is a model; choose a file with the runtime's output tensor`);
      }
      const found = await textIn({ name, bytes: new Uint8Array(await file.arrayBuffer()) });
      if ("error" in found) onRefusal(found.error);
      else onFile(found.input);
    } catch (error) {
      onRefusal(`${file.name} could not be read: ${String(error)}`);
    }
  };
  return (
    <>
      <button type="button" onClick={() => field.current?.click()}>
        Choose a file
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
