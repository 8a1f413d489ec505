/** Dialog content for tensors that fit several inputs. */

import { resolve } from "ndscatter/operators";
import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import { withOperator } from "../document/with-operator.ts";
import { operatorGroups } from "../values/schema.ts";
import { newestOf } from "../values/schema.ts";
import type { State } from "../values/state.ts";
import {
  assigned,
  matched,
  operatorRemark,
  unusedRemarks,
  withAssignment,
  type Assignment,
  type NamedTensor,
} from "./named.ts";
import type { Files } from "./use-files.ts";

export interface MatchProps {
  readonly tensors: readonly NamedTensor[];
  readonly state: State;
  onTake: Files["takeState"];
}

const keyOf = ({ domain, op }: Pick<State, "domain" | "op">): string => `${domain}/${op}`;
const typeOf = ({ dtype, shape }: NamedTensor["input"]): string => `${dtype} [${shape.join(", ")}]`;

/** A call for the user to confirm: a state, and each input's tensor. */
interface Chosen {
  readonly base: State;
  readonly assignment: Assignment;
}

/** Shows a menu for each input, with the best guess selected. */
export function MatchForm({ tensors, state, onTake }: MatchProps): JSX.Element {
  const first = useMemo(() => guessOf(tensors, state), [tensors, state]);
  const [{ base, assignment }, setChosen] = useState<Chosen>(first);
  const { inputs } = resolve(base);
  const made = withAssignment(base, tensors, assignment);
  const remarks = [...made.remarks, ...unusedRemarks(base, tensors, assignment)];
  const kept = operatorRemark(base);
  return (
    <form
      class="match"
      onSubmit={(event) => {
        event.preventDefault();
        onTake(made.state, [...remarks, kept]);
      }}
    >
      <OperatorMenu tensors={tensors} state={state} base={base} onChosen={setChosen} />
      {inputs.map(({ name }, position) => (
        <InputMenu
          key={name}
          name={name}
          tensors={tensors}
          number={assignment[position] ?? null}
          onNumber={(number) =>
            setChosen({ base, assignment: exchanged(assignment, position, number) })
          }
        />
      ))}
      {[...remarks, kept].map((sentence) => (
        <p key={sentence}>{sentence}</p>
      ))}
      <p>
        <button type="submit" class="main">
          Show this call
        </button>
      </p>
    </form>
  );
}

function guessOf(tensors: readonly NamedTensor[], state: State): Chosen {
  const { choice, assignment } = matched(tensors, state, (one) => withOperator(state, one).state);
  const isOwn = keyOf(choice) === keyOf(state);
  return { base: isOwn ? state : withOperator(state, choice).state, assignment };
}

/** Returns the assignment with one tensor moved to another input. The two inputs exchange their tensors. */
export const exchanged = (
  assignment: Assignment,
  position: number,
  number: number | null,
): Assignment => {
  const other = number === null ? -1 : assignment.indexOf(number);
  const moved = other === -1 ? assignment : assignment.with(other, assignment[position] ?? null);
  return moved.with(position, number);
};

interface OperatorMenuProps {
  readonly tensors: readonly NamedTensor[];
  readonly state: State;
  readonly base: State;
  onChosen(chosen: Chosen): void;
}

const OperatorMenu = ({ tensors, state, base, onChosen }: OperatorMenuProps): JSX.Element => (
  <label>
    operator
    <select
      aria-label="operator"
      value={keyOf(base)}
      onChange={(event) => {
        const [domain, op] = event.currentTarget.value.split("/");
        const version = newestOf(domain, op);
        if (version === null) return;
        const choice = { domain: version.domain, op, opset: version.sinceVersion };
        const isOwn = keyOf(choice) === keyOf(state);
        const next = isOwn ? state : withOperator(state, choice).state;
        onChosen({ base: next, assignment: assigned(tensors, next).assignment });
      }}
    >
      {operatorGroups().map((one) => (
        <option key={keyOf(one)} value={keyOf(one)}>
          {one.op}
          {one.domain === "openvino" ? " (OpenVINO)" : ""}
        </option>
      ))}
    </select>
  </label>
);

interface InputMenuProps {
  readonly name: string;
  readonly tensors: readonly NamedTensor[];
  readonly number: number | null;
  onNumber(number: number | null): void;
}

const InputMenu = ({ name, tensors, number, onNumber }: InputMenuProps): JSX.Element => (
  <label>
    {name}
    <select
      aria-label={name}
      value={String(number ?? "")}
      onChange={({ currentTarget: { value } }) => onNumber(value === "" ? null : Number(value))}
    >
      {tensors.map((one, position) => (
        <option key={position} value={String(position)}>
          {one.name} · {typeOf(one.input)}
        </option>
      ))}
      <option value="">as on the page</option>
    </select>
  </label>
);
