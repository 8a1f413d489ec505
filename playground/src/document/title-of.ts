/** Returns the operator, version and attributes as one line, such as `ScatterND-18, reduction = add`. */

import type { State } from "../values/state.ts";

export function titleOf({ op, opset, attributes }: State): string {
  const given = Object.entries(attributes).map(([name, text]) => `, ${name} = ${text}`);
  return `${op}-${opset}${given.join("")}`;
}
