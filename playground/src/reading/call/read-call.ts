/**
 * Reads a text with one call of NumPy, PyTorch, TensorFlow, JAX, ONNX or ndscatter whose arrays are literals, in the
 * call or assigned to names on other lines. A text without a call may assign arrays. The text is never executed.
 */

import { TensorError } from "ndscatter";
import type { State } from "../../values/state.ts";
import { Reader, type Call, type Statement, type Value } from "../literals.ts";
import type { NamedTensor } from "../named.ts";
import { LONGEST } from "../paste.ts";
import { draftOf } from "./calls.ts";
import { stateOf } from "./draft-state.ts";
import { isLiteral, Names } from "./names.ts";

export interface ReadCall {
  /** The line of text, truncated to the length of a title. */
  readonly title: string;
  readonly state: State;
  readonly remarks: readonly string[];
}

/** Returns the call, or null with the arrays that the text assigns. Throws a `TensorError` for any other text. */
export function readCall(text: string): {
  readonly call: ReadCall | null;
  readonly tensors: readonly NamedTensor[];
} {
  if (text.length > LONGEST) {
    const sentence = `the text has more than ${LONGEST.toLocaleString("en")} characters`;
    throw new TensorError("too-large", sentence);
  }
  const reader = new Reader(text);
  const names = new Names(reader);
  const calls: Statement[] = [];
  const nameless: Value[] = [];
  for (const statement of reader.statements().map(shown)) {
    const { target, sign, value } = statement;
    if (target?.kind === "word" && sign === "=" && isLiteral(value)) names.set(target.text, value);
    else if (target === null && isObject(value))
      for (const one of value.arguments) names.set(one.name ?? "", one.value);
    else if (target === null && isLiteral(value)) nameless.push(value);
    // A name alone is a line that shows the name's value.
    else if (target !== null || value.kind !== "word") calls.push(statement);
  }
  const [first, second] = calls;
  if (second !== undefined) {
    // A line that makes an array is not a call that the page shows.
    const other = calls.find((one) => draftOf(names, one) === null);
    const sentence =
      other === undefined
        ? "a second call, and only one is read"
        : `${titleOf(text, other, SHORT)} is not supported here: print the array, and paste what is printed`;
    throw names.wrong(sentence, (other ?? second).start);
  }
  if (first !== undefined) return { call: callIn(text, names, first), tensors: [] };
  const tensors = [
    ...[...names.values].map(([name, value]) => ({ name, input: names.array(value) })),
    ...nameless.map((value, at) => ({ name: `array ${at + 1}`, input: names.array(value) })),
  ];
  if (tensors.length === 0) throw names.wrong("no array or call was found", 0);
  return {
    call: null,
    tensors: tensors.map(({ name, input: { dtype, shape, values } }) => ({
      name,
      input: { dtype, shape, values },
    })),
  };
}

/** Returns the statement without `print(…)` around its value. */
function shown(statement: Statement): Statement {
  const { target, value } = statement;
  const isShown =
    target === null && value.kind === "call" && /^(?:print|repr|console\.log)$/.test(value.name);
  const inner = isShown ? value.arguments[0]?.value : undefined;
  return inner === undefined ? statement : shown({ ...statement, value: inner });
}

/** Checks for an object literal whose entries all have names. */
const isObject = (value: Value): value is Call =>
  value.kind === "call" && value.name === "" && value.arguments.every(({ name }) => name !== null);

/** The lengths of titles in a sentence and of a call's title. */
const SHORT = 40;
const LONG = 80;

/** Returns the statement's text in one line, truncated to a length. */
function titleOf(text: string, { start, end }: Pick<Statement, "start" | "end">, most: number) {
  const line = text.slice(start, end).trim().replaceAll(/\s+/g, " ");
  return line.length > most ? `${line.slice(0, most - 1)}…` : line;
}

function callIn(text: string, names: Names, statement: Statement): ReadCall {
  const { value, start, end, target } = statement;
  const draft = draftOf(names, statement);
  const from = { start: target?.kind === "index" ? start : value.start, end };
  const wrong = (what: string): TensorError =>
    names.wrong(`${titleOf(text, from, SHORT)} ${what}`, from.start);
  if (draft === null) throw wrong("is not a call that is read");
  const found = stateOf(draft);
  if (found === null) throw wrong("needs more arrays");
  return { title: titleOf(text, from, LONG), ...found };
}
