/** The menu of examples. */

import type { JSX } from "preact";
import { EXAMPLES } from "./examples.ts";

interface PresetMenuProps {
  readonly chosen: string | null;
  onPreset(id: string): void;
}

export function PresetMenu({ chosen, onPreset }: PresetMenuProps): JSX.Element {
  const groups = [...new Set(EXAMPLES.map(({ group }) => group))];
  return (
    <label class="presets">
      <span>example</span>
      <select value={chosen ?? ""} onChange={(event) => onPreset(event.currentTarget.value)}>
        {chosen === null && <option value="">your own</option>}
        {groups.map((group) => (
          <optgroup key={group} label={group}>
            {EXAMPLES.filter((one) => one.group === group).map(({ id, title }) => (
              <option key={id} value={id}>
                {title}
              </option>
            ))}
          </optgroup>
        ))}
      </select>
    </label>
  );
}
