/** Dialog content for tensors that fit several inputs. */

import { resolve } from "ndscatter/operators";
import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import { withOperator } from "../document/with-operator.ts";
import { newestOf, operatorGroups, operatorKey } from "../values/schema.ts";
import type { State } from "../values/state.ts";
import {
  assigned,
  matched,
  operatorRemark,
  unusedRemarks,
  withAssignment,
  type Assignment,
  type Match,
  type NamedTensor,
} from "./named.ts";
import type { Files } from "./use-files.ts";

interface MatchProps {
  readonly tensors: readonly NamedTensor[];
  readonly state: State;
  onTake: Files["takeState"];
}

const typeOf = ({ dtype, shape }: NamedTensor["input"]): string => `${dtype} [${shape.join(", ")}]`;

/** Shows a menu for each input, with the best guess selected. */
export function MatchForm({ tensors, state, onTake }: MatchProps): JSX.Element {
  const first = useMemo(() => matched(tensors, state), [tensors, state]);
  const [{ base, assignment }, setChosen] = useState<Pick<Match, "base" | "assignment">>(first);
  const { inputs } = resolve(base);
  const made = withAssignment(base, tensors, assignment);
  const remarks = [...made.remarks, ...unusedRemarks(base, tensors, assignment)];
  const kept = operatorRemark(base);
  const files = tensors.map(
    ({ name, input }, number) => [String(number), `${name} · ${typeOf(input)}`] as const,
  );
  const chooseOperator = (key: string): void => {
    const [domain, op] = key.split("/");
    const version = newestOf(domain, op);
    if (version === null) return;
    const next = under(state, { domain: version.domain, op, opset: version.sinceVersion });
    setChosen({ base: next, assignment: assigned(tensors, next).assignment });
  };
  return (
    <form
      class="match stack"
      onSubmit={(event) => {
        event.preventDefault();
        onTake(made.state, [...remarks, kept]);
      }}
    >
      <Menu
        name="operator"
        value={operatorKey(base)}
        options={operatorGroups().map((one) => [
          operatorKey(one),
          one.domain === "openvino" ? `${one.op} (OpenVINO)` : one.op,
        ])}
        onValue={chooseOperator}
      />
      {inputs.map(({ name }, position) => (
        <Menu
          key={name}
          name={name}
          value={String(assignment[position] ?? "")}
          options={[...files, ["", "as on the page"]]}
          onValue={(value) => {
            const number = value === "" ? null : Number(value);
            setChosen({ base, assignment: exchanged(assignment, position, number) });
          }}
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

/** Returns the state under an operator; the state itself if it already has the operator. */
const under = (state: State, choice: Pick<State, "domain" | "op" | "opset">): State =>
  operatorKey(choice) === operatorKey(state) ? state : withOperator(state, choice).state;

/** Returns the assignment with one tensor moved to another input. The two inputs exchange their tensors. */
const exchanged = (assignment: Assignment, position: number, number: number | null): Assignment => {
  const other = number === null ? -1 : assignment.indexOf(number);
  const moved = other === -1 ? assignment : assignment.with(other, assignment[position] ?? null);
  return moved.with(position, number);
};

interface MenuProps {
  readonly name: string;
  readonly value: string;
  readonly options: readonly (readonly [value: string, text: string])[];
  onValue(value: string): void;
}

const Menu = ({ name, value: chosen, options, onValue }: MenuProps): JSX.Element => (
  <label>
    {name}
    <select
      aria-label={name}
      value={chosen}
      onChange={({ currentTarget }) => onValue(currentTarget.value)}
    >
      {options.map(([value, text]) => (
        <option key={value} value={value}>
          {text}
        </option>
      ))}
    </select>
  </label>
);
