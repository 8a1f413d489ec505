/** The lists in the panel "Why is mine different?": candidate causes, and results of other systems. */

import type { ComponentChildren, JSX } from "preact";
import { useState } from "preact/hooks";
import {
  isResultOf,
  sentenceOf,
  type Cause,
  type Comparison,
  type RuleChoice,
  type Rules,
} from "./on-demand.ts";
import { causeKey, type Pressing } from "./use-why.ts";

interface ListProps {
  readonly rules: Rules;
  readonly pressing: Pressing;
}

/** The maximum number of causes in the list, because users do not read longer lists. */
const MOST_CAUSES = 5;

export function Causes(props: ListProps & { readonly comparison: Comparison }): JSX.Element | null {
  const { comparison, rules, pressing } = props;
  const [isAsked, setAsked] = useState(false);
  const whole = comparison.causes.filter(({ isWhole }) => isWhole);
  const guesses = comparison.causes.length - whole.length;
  const causes = isAsked ? comparison.causes : whole;
  if (comparison.causes.length === 0) return null;
  const rest = causes.length - MOST_CAUSES;
  return (
    <>
      {causes.length > 0 && <h3>Why</h3>}
      <ol>
        {causes.slice(0, MOST_CAUSES).map((cause) => (
          <li class="stack" key={`${cause.id} ${cause.sentence}`}>
            <p>{sentenceOf(cause)}</p>
            {cause.dialects.length > 0 && <p class="soft">{cause.who}</p>}
            <div class="row">
              {togglesOf(cause, comparison, rules).map(({ key, name, text }) => (
                <Toggle key={key} id={key} name={name} pressing={pressing}>
                  {text}
                </Toggle>
              ))}
            </div>
          </li>
        ))}
      </ol>
      {rest > 0 && <p class="soft">{rest} more causes explain the same cells.</p>}
      {guesses > 0 && (
        <div class="row">
          <button type="button" aria-pressed={isAsked} onClick={() => setAsked(!isAsked)}>
            Faults that explain only some of the cells
          </button>
        </div>
      )}
    </>
  );
}

interface ToggleText {
  readonly key: string;
  /** The toggle's accessible name, if its text is not sufficient. */
  readonly name?: string;
  readonly text: string;
}

/**
 * Returns toggles for systems that show this fault. If no system has a result, one toggle shows the result that the
 * cause explains.
 */
function togglesOf(cause: Cause, { causes, isOtherShape }: Comparison, rules: Rules): ToggleText[] {
  if (isOtherShape) return [];
  const choices = "error" in rules ? [] : rules.choices;
  const known = choices.flatMap(({ key, rule, rows, agrees }) => {
    const row = rows.find(({ id }) => cause.dialects.includes(id));
    if (rule === null || row === undefined || agrees) return [];
    return [{ key, text: `Show ${row.name}` }];
  });
  if (known.length > 0 || !cause.isWhole) return known;
  return [
    {
      key: causeKey(causes.indexOf(cause)),
      name: `Show the result when ${cause.sentence}`,
      text: "Show the result",
    },
  ];
}

export function OtherSystems(
  props: ListProps & { readonly comparison: Comparison | null },
): JSX.Element {
  const { rules, comparison, pressing } = props;
  if ("error" in rules) return <p class="soft">Other systems: {rules.error}</p>;
  const mine = rules.choices.filter(
    ({ rule, rows }) =>
      rule !== null &&
      comparison !== null &&
      isResultOf(
        rule,
        rows.map(({ id }) => id),
        comparison,
      ),
  );
  return (
    <>
      <h3>The same call in other systems</h3>
      <ul>
        {[...mine, ...rules.choices.filter((one) => !mine.includes(one))].map((choice) => (
          <System
            key={choice.key}
            choice={choice}
            isMine={mine.includes(choice)}
            pressing={pressing}
          />
        ))}
      </ul>
    </>
  );
}

interface SystemProps {
  readonly choice: RuleChoice;
  /** True if the other runtime's output equals the result of these systems. */
  readonly isMine: boolean;
  readonly pressing: Pressing;
}

function System({ choice, isMine, pressing }: SystemProps): JSX.Element {
  const { key, name, sentence, rule, agrees, why } = choice;
  return (
    <li class={why === "missing" || why === "undefined" ? "stack soft" : "stack"}>
      <p>{sentence}</p>
      {isMine && rule !== null && (
        <p class="verdict">
          {rule.undecided.size === 0
            ? "This equals your output."
            : "Your output may be such a result."}
        </p>
      )}
      {rule !== null && !agrees && (
        <div class="row">
          <Toggle id={key} name={`Show the result of ${name}`} pressing={pressing}>
            Show the result
          </Toggle>
        </div>
      )}
    </li>
  );
}

interface ToggleProps {
  readonly id: string;
  readonly name?: string | undefined;
  readonly pressing: Pressing;
  readonly children: ComponentChildren;
}

const Toggle = ({ id, name, pressing, children }: ToggleProps): JSX.Element => (
  <button
    type="button"
    aria-pressed={pressing.pressed === id}
    aria-label={name}
    onClick={() => pressing.onPress(id)}
  >
    {children}
  </button>
);
