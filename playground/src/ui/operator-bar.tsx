/** The operator, its version and its attributes. Everything that is offered comes from the registry. */

import type { AttributeSchema, OperatorVersion } from "ndscatter";
import type { JSX } from "preact";
import { operatorGroups, type OperatorChoice } from "../model/with-operator.ts";
import type { State } from "../model/state.ts";

interface OperatorBarProps {
  readonly state: State;
  /** Null where the state names no operator. */
  readonly version: OperatorVersion | null;
  /** The errors of attributes, by their names. */
  readonly faults: ReadonlyMap<string, string>;
  onChoice(choice: OperatorChoice): void;
  onAttribute(name: string, text: string): void;
}

const GROUPS = operatorGroups();
const DOMAINS = [...new Set(GROUPS.map(({ domain }) => domain))];

const keyOf = ({ domain, op }: { readonly domain: string; readonly op: string }): string =>
  `${domain}/${op}`;

export function OperatorBar(props: OperatorBarProps): JSX.Element {
  const { state, version, faults, onChoice, onAttribute } = props;
  const { domain, op, opset } = state;
  const group = GROUPS.find((one) => one.domain === domain && one.op === op);
  return (
    <div class="operator" role="group" aria-label="operator">
      <label>
        <span>operator</span>
        <select
          value={keyOf(state)}
          onChange={(event) => {
            const { value } = event.currentTarget;
            const chosen = GROUPS.find((one) => keyOf(one) === value);
            if (chosen === undefined) return;
            const { sinceVersion } = chosen.versions[0];
            onChoice({ domain: chosen.domain, op: chosen.op, opset: sinceVersion });
          }}
        >
          {DOMAINS.map((one) => (
            <optgroup key={one} label={one}>
              {GROUPS.filter((other) => other.domain === one).map((other) => (
                <option key={keyOf(other)} value={keyOf(other)}>
                  {other.op}
                </option>
              ))}
            </optgroup>
          ))}
        </select>
      </label>
      <fieldset class="versions">
        <legend>version</legend>
        {(group?.versions ?? []).toReversed().map(({ sinceVersion, opset: introduced }) => (
          <label
            key={sinceVersion}
            title={introduced === undefined ? undefined : `in opset${introduced} of OpenVINO`}
          >
            <input
              type="radio"
              name="version"
              checked={sinceVersion === opset}
              onChange={() => onChoice({ domain, op, opset: sinceVersion })}
            />
            <span>{sinceVersion}</span>
          </label>
        ))}
      </fieldset>
      {version?.attributes.map((schema) => (
        <Attribute
          key={schema.name}
          schema={schema}
          text={state.attributes[schema.name] ?? String(schema.default ?? "")}
          fault={faults.get(schema.name)}
          onText={(text) => onAttribute(schema.name, text)}
        />
      ))}
    </div>
  );
}

interface AttributeProps {
  readonly schema: AttributeSchema;
  readonly text: string;
  readonly fault: string | undefined;
  onText(text: string): void;
}

function Attribute({ schema, text, fault, onText }: AttributeProps): JSX.Element {
  const { name, description } = schema;
  const words = schema.values ?? (schema.type === "boolean" ? ["true", "false"] : null);
  const faultId = `fault-of-${name}`;
  const common = {
    "aria-invalid": fault === undefined ? undefined : true,
    "aria-describedby": fault === undefined ? undefined : faultId,
    title: description,
  };
  return (
    <label class={fault === undefined ? undefined : "wrong"}>
      <span>{name}</span>
      {words === null ? (
        <input
          {...common}
          class="number"
          inputMode="numeric"
          autocomplete="off"
          size={4}
          value={text}
          onInput={(event) => onText(event.currentTarget.value)}
          onKeyDown={(event) => {
            const step = event.key === "ArrowUp" ? 1 : event.key === "ArrowDown" ? -1 : 0;
            if (step === 0 || !/^-?\d{1,9}$/.test(text)) return;
            event.preventDefault();
            onText(String(Number(text) + step));
          }}
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
      {fault !== undefined && (
        <span class="fault" id={faultId} role="alert">
          {fault}
        </span>
      )}
    </label>
  );
}
