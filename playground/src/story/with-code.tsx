import { Fragment, type JSX } from "preact";

/** Renders a sentence whose words in backticks are code. */
export const withCode = (sentence: string): JSX.Element[] =>
  sentence
    .split("`")
    .map((part, number) =>
      number % 2 === 1 ? (
        <code key={number}>{part}</code>
      ) : (
        <Fragment key={number}>{part}</Fragment>
      ),
    );
