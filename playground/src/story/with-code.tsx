import { visible } from "../values/visible.ts";
import { Fragment, type JSX } from "preact";

/** Renders a sentence in which words in backticks are shown as code. */
export const withCode = (sentence: string): JSX.Element[] =>
  visible(sentence)
    .split("`")
    .map((part, number) =>
      number % 2 === 1 ? (
        <code key={number}>{part}</code>
      ) : (
        <Fragment key={number}>{part}</Fragment>
      ),
    );
