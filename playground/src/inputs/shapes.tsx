/** Shows the shape rules term by term, compared with the actual shapes. */

import type { DerivedShape } from "ndscatter";
import { printShape } from "ndscatter/operators";
import { Fragment, type JSX } from "preact";

/** Explains `++` to readers who do not know this notation. */
const JOINS = "++ joins two shapes: [3] ++ [2] is [3, 2]";

interface ShapesProps {
  readonly shapes: readonly DerivedShape[];
  /** Gives the named input the required shape; null if the story already offers this fix. */
  readonly onFit: ((name: string, shape: readonly number[]) => void) | null;
}

export function Shapes({ shapes, onFit }: ShapesProps): JSX.Element | null {
  if (shapes.length === 0) return null;
  return (
    <ul class="shapes stack" aria-label="derived shapes">
      {shapes.map(({ of, terms, expected, got, fits }) => (
        <li key={of} class={fits ? undefined : "unfit"}>
          <code class="of">{of}.shape</code>
          <span> {got === null || fits ? "is" : "must be"} </span>
          {terms.map(({ text, shape }, position) => (
            <Fragment key={text}>
              {position > 0 && (
                <span class="plus" title={JOINS}>
                  {" ++ "}
                </span>
              )}
              <span class="term">
                <code>{text}</code>
                <code class="is">{printShape(shape)}</code>
              </span>
            </Fragment>
          ))}
          <span class="total">
            <span> = </span>
            <code class="sum">{printShape(expected)}</code>
            {got !== null && (
              <span class={fits ? "verdict" : "verdict unfit"}>
                {fits ? " ✓" : ` ✗ got ${printShape(got)}`}
              </span>
            )}
          </span>
          {!fits && onFit !== null && (
            <button type="button" onClick={() => onFit(of, expected)}>
              use this shape
            </button>
          )}
        </li>
      ))}
    </ul>
  );
}
