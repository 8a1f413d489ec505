/** What a dialog shows of tensors that are for several inputs, and of a text that was understood in part. */

import { operators, resolve } from "ndscatter";
import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import { operatorGroups, withOperator } from "../document/with-operator.ts";
import type { State } from "../values/state.ts";
import { assigned, matched, withAssignment, type Assignment, type NamedTensor } from "./named.ts";
import { placeOf, type Mark } from "./read-text.ts";
import type { Files } from "./use-files.ts";

export interface MatchProps {
  readonly tensors: readonly NamedTensor[];
  /** The call that the page shows. */
  readonly state: State;
  onTake: Files["takeState"];
}

const keyOf = ({ domain, op }: Pick<State, "domain" | "op">): string => `${domain}/${op}`;
const typeOf = ({ dtype, shape }: NamedTensor["input"]): string => `${dtype} [${shape.join(", ")}]`;

/** A menu for each input, with the best guess chosen. */
export function MatchForm({ tensors, state, onTake }: MatchProps): JSX.Element {
  const fresh = (choice: Pick<State, "domain" | "op" | "opset">): State =>
    withOperator(state, choice).state;
  const guess = useMemo(() => matched(tensors, state, fresh), [tensors, state]);
  const [chosen, setChosen] = useState<{ base: State; assignment: Assignment }>({
    base: keyOf(guess.choice) === keyOf(state) ? state : fresh(guess.choice),
    assignment: guess.assignment,
  });
  const { base, assignment } = chosen;
  const { inputs } = resolve(base);
  const unused = tensors.filter((_, number) => !assignment.includes(number));
  return (
    <form
      class="match"
      onSubmit={(event) => {
        event.preventDefault();
        onTake(
          withAssignment(base, tensors, assignment),
          unused.map(({ name }) => `${name} is not used.`),
        );
      }}
    >
      <label>
        operator
        <select
          value={keyOf(base)}
          onChange={(event) => {
            const { value } = event.currentTarget;
            const version = operators().findLast(
              (one) => keyOf({ domain: one.domain, op: one.name }) === value,
            );
            if (version === undefined) return;
            const next =
              value === keyOf(state)
                ? state
                : fresh({ domain: version.domain, op: version.name, opset: version.sinceVersion });
            setChosen({ base: next, assignment: assigned(tensors, next).assignment });
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
      {inputs.map(({ name }, position) => (
        <label key={name}>
          {name}
          <select
            value={String(assignment[position] ?? "")}
            onChange={(event) => {
              const { value } = event.currentTarget;
              setChosen({
                base,
                assignment: assignment.with(position, value === "" ? null : Number(value)),
              });
            }}
          >
            {tensors.map((one, number) => (
              <option key={number} value={String(number)}>
                {one.name} · {typeOf(one.input)}
              </option>
            ))}
            <option value="">as on the page</option>
          </select>
        </label>
      ))}
      {unused.length > 0 && <p>Not used: {unused.map(({ name }) => name).join(", ")}</p>}
      <p>
        <button type="submit" class="main">
          Show this call
        </button>
      </p>
    </form>
  );
}

export interface MarkedProps {
  readonly text: string;
  readonly marks: readonly Mark[];
}

/** Lines around marks that are shown. A program may have thousands of lines of numbers. */
const AROUND = 3;
const LONGEST_LINE = 400;
const MOST_LINES = 60;

/** The text with what was not understood marked in it, and the reasons by line and column. */
export function MarkedText({ text, marks }: MarkedProps): JSX.Element {
  const lines = linesOf(text);
  const shown = new Set<number>();
  for (const { start } of marks) {
    const { line } = placeOf(text, start);
    for (let near = line - AROUND; near <= line + AROUND; near++) shown.add(near - 1);
  }
  const numbers = [...shown]
    .filter((one) => one in lines)
    .toSorted((a, b) => a - b)
    .slice(0, MOST_LINES);
  return (
    <>
      <p>Not understood, and left out:</p>
      <ul class="marks">
        {marks.map(({ start, sentence }) => {
          const { line, column } = placeOf(text, start);
          return (
            <li key={`${start} ${sentence}`}>
              <b>
                line {line}, column {column}:
              </b>{" "}
              {sentence}
            </li>
          );
        })}
      </ul>
      <pre class="program" tabIndex={0} aria-label="the text, with marks">
        {numbers.map((number) => (
          <Line key={number} number={number} line={lines[number]} marks={marks} />
        ))}
      </pre>
    </>
  );
}

interface TextLine {
  readonly start: number;
  readonly text: string;
}

function linesOf(text: string): TextLine[] {
  const lines: TextLine[] = [];
  let start = 0;
  for (const one of text.split("\n")) {
    lines.push({ start, text: one.slice(0, LONGEST_LINE) });
    start += one.length + 1;
  }
  return lines;
}

function Line({
  number,
  line,
  marks,
}: {
  number: number;
  line: TextLine;
  marks: readonly Mark[];
}): JSX.Element {
  const { start, text } = line;
  const end = start + text.length;
  const parts: (string | JSX.Element)[] = [];
  let from = start;
  for (const mark of marks.filter((one) => one.start < end && one.end > start)) {
    const [first, last] = [Math.max(mark.start, from), Math.min(mark.end, end)];
    if (last <= first) continue;
    parts.push(text.slice(from - start, first - start));
    parts.push(
      <mark key={first} title={mark.sentence}>
        {text.slice(first - start, last - start)}
      </mark>,
    );
    from = last;
  }
  return (
    <>
      <span class="number">{number + 1}</span>
      {parts}
      {text.slice(from - start)}
      {"\n"}
    </>
  );
}
