/**
 * Reads a text with one call of NumPy, PyTorch, TensorFlow, JAX, ONNX or ndscatter whose arrays are literals, in the
 * call or assigned to names on other lines. A text without a call may assign arrays. The text is never executed.
 */

import { TensorError } from "ndscatter";
import type { State } from "../../values/state.ts";
import { Reader, type Statement, type Value } from "../literals.ts";
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
    else if (target === null && isLiteral(value)) nameless.push(value);
    // A name alone is a line that shows the name's value.
    else if (target !== null || value.kind !== "word") calls.push(statement);
  }
  const [first, second] = calls;
  if (second !== undefined) throw names.wrong("a second call, and only one is read", second.start);
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

function callIn(text: string, names: Names, statement: Statement): ReadCall {
  const { value, start, end, target } = statement;
  const draft = draftOf(names, statement);
  const from = target?.kind === "index" ? start : value.start;
  const title = text
    .slice(from, Math.min(end, from + 80))
    .trim()
    .replaceAll(/\s+/g, " ");
  if (draft === null) throw names.wrong(`${title.slice(0, 40)} is not a call that is read`, from);
  const found = stateOf(draft);
  if (found === null) throw names.wrong(`${title.slice(0, 40)} needs more arrays`, from);
  return { title, ...found };
}
