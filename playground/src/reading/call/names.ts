/** The literals that a text assigns to names, and the arrays that they contain. */

import { blockOf, isArrayCall, numberIn } from "../blocks.ts";
import type { Call, Reader, Value } from "../literals.ts";
import { asText } from "../paste.ts";
import { inferredType, type Arr } from "./arrays.ts";

/** Libraries, by the names under which programs import them. */
const LIBRARIES: Readonly<Record<string, string | undefined>> = Object.assign(Object.create(null), {
  np: "numpy",
  numpy: "numpy",
  cp: "numpy",
  jnp: "jax",
  jax: "jax",
  torch: "torch",
  F: "torch",
  nn: "torch",
  tf: "tf",
  tensorflow: "tf",
});

/** Returns the library of a path such as `np.add.at`; null if the path does not start with a library. */
export const libraryOf = (path: string): string | null => LIBRARIES[path.split(".")[0]] ?? null;

/** Checks whether a value contains nothing but literals. */
export const isLiteral = (value: Value): boolean =>
  value.kind === "list" ||
  (value.kind === "call" && (value.name === "" || isArrayCall(value))) ||
  (value.kind === "word" && (value.isQuoted || !/^[A-Za-z_$]/.test(value.text)));

export class Names {
  readonly values = new Map<string, Value>();
  readonly wrong: Reader["wrong"];

  constructor({ wrong }: Reader) {
    this.wrong = wrong;
  }

  set(name: string, value: Value): void {
    if (this.values.has(name)) throw this.wrong(`${name} is assigned twice`, value.start);
    this.values.set(name, value);
  }

  /** Returns the literal that a name stands for; any other value is returned unchanged. */
  valueOf(value: Value): Value {
    return value.kind === "word" && !value.isQuoted
      ? (this.values.get(value.text) ?? value)
      : value;
  }

  /** Returns the name before the method in `x.scatter_(…)`, or null if the text does not assign the name. */
  owner({ name, self, start }: Call): Value | null {
    const [, text = ""] = /^(\w+)\.\w+$/.exec(name) ?? [];
    if (self !== null || text === "") return null;
    return { kind: "word", text, isQuoted: false, start };
  }

  readonly array = (value: Value): Arr => {
    const found = this.valueOf(value);
    if (found === value && value.kind === "word" && !value.isQuoted && isName(value.text)) {
      throw this.wrong(
        `the text does not assign a list to ${value.text.slice(0, 40)}`,
        value.start,
      );
    }
    const block = blockOf(found, this.wrong);
    const library = found.kind === "call" ? libraryOf(found.name) : null;
    const dtype = block.dtype ?? inferredType(block.words, library ?? "");
    return { ...asText(block, dtype, this.wrong), isSaid: block.dtype !== undefined };
  };

  integer(value: Value, parameter: string): number {
    const number = numberIn(this.valueOf(value));
    if (number !== null && Number.isInteger(number)) return number;
    throw this.wrong(`${parameter} must be an integer in the text`, value.start);
  }
}

const isName = (text: string): boolean =>
  /^[A-Za-z_$][\w$.]*$/.test(text) &&
  !/^(?:[\w.]*\.)?(?:true_?|false_?|nan|inf|infinity)$/i.test(text);
