/** Recognizes loops over index tuples, which ONNX's documentation uses to define scatters. */

import type { Found } from "./calls.ts";
import { tuples } from "./draft.ts";
import { Misread, type Scope } from "./scope.ts";

const NAME = String.raw`([A-Za-z_]\w{0,40})`;
const HEAD = new RegExp(`^for ${NAME} in np\\.ndindex\\([^\\n]{1,80}\\):$`);
const TARGET = new RegExp(`^${NAME} = tuple\\(${NAME}\\[${NAME}\\]\\)$`);
const WRITE = new RegExp(
  `^${NAME}\\[(?:tuple\\()?${NAME}(?:\\[${NAME}\\])?\\)?\\] ([+*]?=) ${NAME}\\[${NAME}\\]$`,
);
const APPLY = new RegExp(
  `^np\\.(add|multiply|maximum|minimum|subtract)\\.at\\(${NAME}, ${NAME}, ${NAME}\\[${NAME}\\]\\)$`,
);

const REDUCTIONS: Readonly<Record<string, string>> = {
  "=": "none",
  "+=": "add",
  "*=": "mul",
  add: "add",
  multiply: "mul",
  maximum: "max",
  minimum: "min",
  subtract: "sub",
};

/**
 * Returns the scatter that a loop performs; null for any other loop. A loop applies updates one after the other, so
 * `+=` keeps all updates.
 */
export function loopIn(
  scope: Scope,
  text: string,
  place: { readonly start: number; readonly end: number },
): Found | null {
  const lines = text
    .split("\n", 9)
    .map((line) => line.trim())
    .filter((line) => line !== "");
  const [head, ...body] = lines;
  const at = HEAD.exec(head ?? "")?.[1];
  const last = body[body.length - 1] ?? "";
  if (at === undefined || body.length > 2) return null;
  const [, target, indices, by] = (body.length === 2 ? TARGET.exec(body[0]) : null) ?? [];
  if (body.length === 2 && by !== at) return null;
  const written = WRITE.exec(last);
  const applied = APPLY.exec(last);
  if (written === null && applied === null) return null;
  const [data, index, inner, sign, updates, step] =
    written === null
      ? [applied?.[2], applied?.[3], undefined, applied?.[1], applied?.[4], applied?.[5]]
      : written.slice(1);
  const own = target === undefined ? index : indices;
  const isTarget = target === undefined ? inner === at : index === target && inner === undefined;
  const reduction = REDUCTIONS[sign ?? ""];
  if (
    !isTarget ||
    step !== at ||
    data === undefined ||
    own === undefined ||
    updates === undefined ||
    reduction === undefined
  )
    return null;
  const [array, tuple, values] = [data, own, updates].map((name) => {
    const found = scope.names.get(name);
    if (found === undefined) throw new Misread(`the text does not define ${name}`, place);
    return found;
  });
  const node = { kind: "name", name: data, ...place } as const;
  return { draft: tuples(array, tuple, values, reduction), node, target: data, elsewhere: [] };
}
