/** The bar at the top: the call as an editable sentence, and buttons for actions. */

import type { AttributeSchema } from "ndscatter";
import type { ComponentChildren, JSX } from "preact";
import { useRef, useState } from "preact/hooks";
import { operatorGroups, operatorKey } from "../values/schema.ts";
import { FAULTS_ID } from "../values/spot.ts";
import { NumberField } from "../widgets/number-field.tsx";
import type { Session } from "../cells/session.ts";

const GROUPS = operatorGroups();
const DOMAINS = [...new Set(GROUPS.map(({ domain }) => domain))];
const TITLES: Readonly<Record<string, string>> = { "ai.onnx": "ONNX", openvino: "OpenVINO" };

interface BarProps {
  readonly session: Session;
  readonly middle: ComponentChildren;
  readonly children: ComponentChildren;
}

export function Bar({ session, middle, children }: BarProps): JSX.Element {
  const [isOpen, setOpen] = useState(false);
  const more = useRef<HTMLButtonElement>(null);
  // The focus moves to the menu button, because the menu entry is now hidden. On a wide screen the menu button is
  // hidden and cannot take the focus.
  const close = (): void => {
    more.current?.focus();
    setOpen(false);
  };
  return (
    <header
      class={isOpen ? "bar open" : "bar"}
      onKeyDown={(event) => event.key === "Escape" && isOpen && close()}
    >
      <button
        type="button"
        class="hidden skip"
        onClick={() => document.querySelector<HTMLElement>("td[tabindex='0']")?.focus()}
      >
        Go to the cells
      </button>
      <h1>
        <a href="./" title="ndscatter: start over with the first example">
          <span>nd</span>scatter
        </a>
      </h1>
      <Sentence session={session} />
      {middle}
      <button
        ref={more}
        type="button"
        class="more"
        aria-expanded={isOpen}
        aria-controls="actions"
        onClick={() => setOpen(!isOpen)}
      >
        <span class="hidden">menu</span>☰
      </button>
      <div
        class="actions"
        id="actions"
        // The focus moves before the entry's own handler opens a dialog, because the menu button cannot take the focus
        // later.
        onClickCapture={({ target }) => {
          if (target instanceof Element && target.closest("[data-stays]") === null) close();
        }}
      >
        {children}
      </div>
    </header>
  );
}

function Sentence({ session }: { readonly session: Session }): JSX.Element {
  const { state, version, faults, act } = session;
  const { op } = state;
  return (
    <div class="sentence" role="group" aria-label="operator">
      <select
        class="operator"
        aria-label="operator"
        // A select element is as wide as its longest option, which would be too wide next to a short name.
        style={{ "--letters": String(op.length) }}
        value={operatorKey(state)}
        onChange={(event) => {
          const { value } = event.currentTarget;
          const chosen = GROUPS.find((one) => operatorKey(one) === value);
          if (chosen === undefined) return;
          const [{ sinceVersion }] = chosen.versions;
          act({
            do: "choose",
            choice: { domain: chosen.domain, op: chosen.op, opset: sinceVersion },
          });
        }}
      >
        {DOMAINS.map((one) => (
          <optgroup key={one} label={TITLES[one] ?? one}>
            {GROUPS.filter((other) => other.domain === one).map((other) => (
              <option key={operatorKey(other)} value={operatorKey(other)}>
                {other.op}
              </option>
            ))}
          </optgroup>
        ))}
      </select>
      <span aria-hidden="true">-</span>
      <VersionMenu session={session} />
      {version?.attributes.map((schema) => (
        <Attribute
          key={schema.name}
          schema={schema}
          text={state.attributes[schema.name] ?? String(schema.default ?? "")}
          isWrong={faults.attributes.has(schema.name)}
          onText={(text) => act({ do: "attribute", name: schema.name, text })}
        />
      ))}
    </div>
  );
}

function VersionMenu({ session: { state, act } }: { readonly session: Session }): JSX.Element {
  const { domain, op, opset } = state;
  const group = GROUPS.find((one) => one.domain === domain && one.op === op);
  return (
    <select
      class="version"
      aria-label="version"
      value={String(opset)}
      onChange={(event) =>
        act({ do: "choose", choice: { domain, op, opset: Number(event.currentTarget.value) } })
      }
    >
      {(group?.versions ?? []).toReversed().map(({ sinceVersion, opset: introduced }) => (
        <option key={sinceVersion} value={String(sinceVersion)}>
          {sinceVersion}
          {introduced === undefined || introduced === sinceVersion ? "" : ` (opset${introduced})`}
        </option>
      ))}
    </select>
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
    "aria-invalid": isWrong ? (true as const) : undefined,
    "aria-describedby": isWrong ? FAULTS_ID : undefined,
    title: description,
  };
  return (
    <>
      <span aria-hidden="true">{WORDS[name] ?? name}</span>
      {words === null ? (
        <NumberField
          attributes={{ ...common, class: "number", size: 3 }}
          text={text}
          onText={onText}
          stepped={(by) => (/^-?\d{1,9}$/.test(text) ? String(Number(text) + by) : null)}
        />
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
