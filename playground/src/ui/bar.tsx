/** The bar at the top: the call as a sentence that can be changed, and what can be done with it. */

import type { AttributeSchema } from "ndscatter";
import type { ComponentChildren, JSX } from "preact";
import { useState } from "preact/hooks";
import { operatorGroups } from "../model/with-operator.ts";
import { withAttribute } from "./edits.ts";
import { FAULTS_ID } from "./lane.tsx";
import type { Session } from "./session.ts";

const GROUPS = operatorGroups();
const DOMAINS = [...new Set(GROUPS.map(({ domain }) => domain))];
const TITLES: Readonly<Record<string, string>> = { "ai.onnx": "ONNX", openvino: "OpenVINO" };

const keyOf = ({ domain, op }: { readonly domain: string; readonly op: string }): string =>
  `${domain}/${op}`;

interface BarProps {
  readonly session: Session;
  /** The buttons at the right. */
  readonly children: ComponentChildren;
}

export function Bar({ session, children }: BarProps): JSX.Element {
  const [isOpen, setOpen] = useState(false);
  return (
    <header class={isOpen ? "bar open" : "bar"}>
      <h1>
        <a href="./" title="ndscatter: start over with the first example">
          <span>nd</span>scatter
        </a>
      </h1>
      <Sentence session={session} />
      <button
        type="button"
        class="more"
        aria-expanded={isOpen}
        aria-controls="actions"
        onClick={() => setOpen(!isOpen)}
      >
        <span class="hidden">menu</span>☰
      </button>
      <div class="actions" id="actions" onClick={() => setOpen(false)}>
        {children}
      </div>
    </header>
  );
}

function Sentence({ session }: { readonly session: Session }): JSX.Element {
  const { state, version, faults, page } = session;
  const { domain, op, opset } = state;
  const group = GROUPS.find((one) => one.domain === domain && one.op === op);
  return (
    <div class="sentence" role="group" aria-label="operator">
      <select
        class="operator"
        aria-label="operator"
        value={keyOf(state)}
        onChange={(event) => {
          const { value } = event.currentTarget;
          const chosen = GROUPS.find((one) => keyOf(one) === value);
          if (chosen === undefined) return;
          const [{ sinceVersion }] = chosen.versions;
          page.choose({ domain: chosen.domain, op: chosen.op, opset: sinceVersion });
        }}
      >
        {DOMAINS.map((one) => (
          <optgroup key={one} label={TITLES[one] ?? one}>
            {GROUPS.filter((other) => other.domain === one).map((other) => (
              <option key={keyOf(other)} value={keyOf(other)}>
                {other.op}
              </option>
            ))}
          </optgroup>
        ))}
      </select>
      <span aria-hidden="true">-</span>
      <select
        class="version"
        aria-label="version"
        value={String(opset)}
        onChange={(event) => page.choose({ domain, op, opset: Number(event.currentTarget.value) })}
      >
        {(group?.versions ?? []).toReversed().map(({ sinceVersion, opset: introduced }) => (
          <option key={sinceVersion} value={String(sinceVersion)}>
            {sinceVersion}
            {introduced === undefined || introduced === sinceVersion ? "" : ` (opset${introduced})`}
          </option>
        ))}
      </select>
      {version?.attributes.map((schema) => (
        <Attribute
          key={schema.name}
          schema={schema}
          text={state.attributes[schema.name] ?? String(schema.default ?? "")}
          isWrong={faults.attributes.has(schema.name)}
          onText={(text) => page.show(withAttribute(state, version, schema.name, text))}
        />
      ))}
    </div>
  );
}

/** The words before an attribute in the sentence. */
const WORDS: Readonly<Record<string, string>> = {
  reduction: "with",
  axis: "along axis",
  batch_dims: "batch dims",
  mode: "mode",
  use_init_val: "init",
};

interface AttributeProps {
  readonly schema: AttributeSchema;
  readonly text: string;
  readonly isWrong: boolean;
  onText(text: string): void;
}

function Attribute({ schema, text, isWrong, onText }: AttributeProps): JSX.Element {
  const { name, description } = schema;
  const words = schema.values ?? (schema.type === "boolean" ? ["true", "false"] : null);
  const common = {
    "aria-label": name,
    "aria-invalid": isWrong ? true : undefined,
    "aria-describedby": isWrong ? FAULTS_ID : undefined,
    title: `${name}: ${description}`,
  };
  return (
    <>
      <span aria-hidden="true">{WORDS[name] ?? name}</span>
      {words === null ? (
        <NumberField attributes={common} text={text} onText={onText} />
      ) : (
        <select {...common} value={text} onChange={(event) => onText(event.currentTarget.value)}>
          {(words.includes(text) ? words : [...words, text]).map((word) => (
            <option key={word} value={word}>
              {word}
            </option>
          ))}
        </select>
      )}
    </>
  );
}

interface NumberFieldProps {
  readonly attributes: object;
  readonly text: string;
  onText(text: string): void;
}

/** A number takes effect on Enter or when the field is left: "-1" must not be "-" first. Arrows step. */
function NumberField({ attributes, text, onText }: NumberFieldProps): JSX.Element {
  const [draft, setDraft] = useState<string | null>(null);
  const commit = (): void => {
    setDraft(null);
    if (draft !== null && draft !== text) onText(draft);
  };
  return (
    <input
      {...attributes}
      class="number"
      inputMode="numeric"
      autocomplete="off"
      size={3}
      value={draft ?? text}
      onInput={(event) => setDraft(event.currentTarget.value)}
      onBlur={commit}
      onKeyDown={(event) => {
        if (event.key === "Enter") commit();
        if (event.key === "Escape") setDraft(null);
        const step = event.key === "ArrowUp" ? 1 : event.key === "ArrowDown" ? -1 : 0;
        if (step === 0 || !/^-?\d{1,9}$/.test(text)) return;
        event.preventDefault();
        setDraft(null);
        onText(String(Number(text) + step));
      }}
    />
  );
}
