/** Menu for an input's data type. */

import type { JSX } from "preact";
import type { Edits } from "../document/edits.ts";

interface DTypeMenuProps {
  readonly name: string;
  readonly dtype: string;
  readonly edits: Edits;
}

export const DTypeMenu = ({ name, dtype, edits }: DTypeMenuProps): JSX.Element => (
  <select
    class="quiet"
    aria-label={`data type of ${name}`}
    value={dtype}
    onChange={(event) => edits.onDType(event.currentTarget.value)}
  >
    {edits.dtypes.map((choice) => (
      <option key={choice.name} value={choice.name} disabled={choice.reason !== null}>
        {choice.reason === null ? choice.name : `${choice.name} (${choice.reason})`}
      </option>
    ))}
  </select>
);
