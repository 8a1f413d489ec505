/** Which mutants `npm run mutate` finds in a piece of code: a row is the code and how its mutants read. */

import assert from "node:assert/strict";
import path from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

interface Site {
  readonly start: number;
  readonly end: number;
}

interface Mutant extends Site {
  readonly kind: string;
  readonly line: number;
  readonly change: string;
  readonly site: Site;
}

interface Mutants {
  readonly mutantsOf: (file: string, text: string) => readonly Mutant[];
  readonly mutated: (text: string, mutant: Mutant) => string;
  readonly marked: (text: string, sites: readonly (Site & { readonly id: number })[]) => string;
}

const root = fileURLToPath(new URL("../../..", import.meta.url));
const found: Mutants = await import(path.join(root, "scripts/mutate/mutants.js"));
const { mutantsOf, mutated, marked } = found;

const changesOf = (code: string, kind?: string, file = "src/a.ts"): readonly string[] =>
  mutantsOf(file, code)
    .filter((mutant) => kind === undefined || mutant.kind === kind)
    .map(({ change }) => change);

const ROWS: readonly (readonly [code: string, kind: string, changes: readonly string[]])[] = [
  ["a < b;", "operator", ["a < b -> a <= b", "a < b -> a >= b"]],
  ["a >= b;", "operator", ["a >= b -> a > b", "a >= b -> a < b"]],
  ["(a) === b;", "operator", ["(a) === b -> (a) !== b"]],
  ["a * b << c;", "operator", ["a * b << c -> a * b >> c", "a * b -> a / b"]],
  ["a += b;", "operator", ["a += b -> a -= b", "a += b -> a = b"]],
  ["a = -b;", "operator", ["-b -> b"]],
  ["x = !(a && b);", "operator", ["!(a && b) -> (a && b)", "a && b -> a || b"]],
  [
    "x = a && (b || c);",
    "operand",
    ["a && (b || c) -> a", "a && (b || c) -> (b || c)", "b || c -> b", "b || c -> c"],
  ],
  ["x = a ?? b;", "operand", ["a ?? b -> a", "a ?? b -> b"]],
  ["if (a) b;", "condition", ["if (a) b; -> if (!(a)) b;", "if (a) b; -> if (false) b;"]],
  ["if (!a) b;", "condition", ["if (!a) b; -> if (false) b;"]],
  ["if (a < b) c;", "condition", ["if (a < b) c; -> if (false) c;"]],
  ["while (a) b;", "condition", ["while (a) b; -> while (false) b;"]],
  ["for (; a; ) b;", "condition", ["for (; a; ) b; -> for (; false; ) b;"]],
  ["x = a ? b : c;", "condition", ["a ? b : c -> !(a) ? b : c", "a ? b : c -> false ? b : c"]],
  ["x = [0, 1, 7, 0x10];", "constant", ["0 -> 1", "1 -> 0", "7 -> 8", "0x10 -> 17"]],
  ["x = [0n, true, 'one'];", "constant", ["0n -> 1n", "true -> false", `'one' -> ""`]],
  ["x = 2 ** k;", "constant", ["2 ** k -> 2 ** (k - 1)", "2 -> 3"]],
  ["x = [a, b];", "entry", ["[a, b] -> [b]", "[a, b] -> [a]"]],
  ["x = { a, b: c, };", "entry", ["{ a, b: c, } -> { b: c, }", "{ a, b: c, } -> { a, }"]],
  ["x = [...a];", "copy", ["[...a] -> a"]],
  ["x = a.slice();", "copy", ["a.slice() -> a"]],
  ["x = Object.freeze(a);", "copy", ["Object.freeze(a) -> a"]],
  ["x = new Uint8Array(a);", "copy", ["new Uint8Array(a) -> a"]],
  ["x = Math.min(a, b);", "function", ["Math.min(a, b) -> Math.max(a, b)"]],
  ["x = a.some(b);", "function", ["a.some(b) -> a.every(b)"]],
  ["f(a, b);", "argument", ["f(a, b) -> f(b, a)", "f(a, b) -> f(a)"]],
  ["Math.imul(a, b);", "argument", ["Math.imul(a, b) -> Math.imul(a)"]],
  ["f(a, 1);", "argument", ["f(a, 1) -> f(a)"]],
  ["a();", "statement", ["a(); -> ;"]],
  ["a = b;", "statement", ["a = b; -> ;"]],
  ["for (;;) { if (a) continue; }", "statement", ["continue; -> {}"]],
  ["if (a) b(); else { c(); }", "statement", ["b(); -> {}", "c(); -> ;"]],
  [
    "try { a(); } finally { b(); }",
    "statement",
    ["a(); -> ;", "b(); -> ;", "try { a(); } finally { b(); } -> try { a(); } finally {}"],
  ],
  ["await a();", "await", ["await a(); -> a();"]],
];

for (const [code, kind, changes] of ROWS) {
  test(`${kind}: ${code}`, () => {
    assert.deepEqual([...changesOf(code, kind)].sort(), [...changes].sort());
  });
}

for (const code of [
  "import { a } from './a.ts';",
  "export * from './a.ts';",
  "type A = 0 | 1 | 'one';",
  "interface A { readonly b: 1 }",
  "declare function a(b: 0): true;",
  "// a < b",
  "throw new TensorError('rank', `${a + 1} is ${b < c}`);",
  "const a = 'two words';",
  "const a = `${b + 1} words`;",
  "const a = b.toString();",
]) {
  test(`no mutant: ${code}`, () => assert.deepEqual(changesOf(code), []));
}

test("fields of an error are mutated, its sentence is not", () => {
  const code = "throw new TensorError('rank', `${a + 1} words`, { got: a });";
  assert.deepEqual(changesOf(code), ["{ got: a } -> { }"]);
});

test("AssemblyScript is read with its decorators and casts", () => {
  const code = "@inline\nexport function f<T>(a: usize): T { return load<T>(a + <usize>1); }\n";
  const mutants = mutantsOf("assembly/a.ts", code);
  assert.deepEqual(
    mutants.map(({ line, change }) => [line, change]),
    [
      [2, "a + <usize>1 -> a - <usize>1"],
      [2, "1 -> 0"],
    ],
  );
  assert.equal(mutated(code, mutants[1]), code.replace("<usize>1", "<usize>0"));
});

test("a long piece of code is shown around its change", () => {
  const [change] = changesOf(`f(${"a".repeat(40)}, 1, ${"b".repeat(40)} + c);`, "operator");
  assert.equal(change, `${"b".repeat(40)} + c -> ${"b".repeat(40)} - c`);
  const [statement] = changesOf(`f(${"a".repeat(200)});`, "statement");
  assert.ok(statement.length < 120, statement);
});

test("marked code does what it did, and its sites tell when they are reached", () => {
  const code = `
    const list = [3, 1, 2];
    let sum = 0;
    for (let i = 0; i < 3; i++) { if (i === 1) continue; sum += list.slice().sort()[i]; }
    try { sum = sum > 9 ? -1 : sum; } finally { sum++; }
    if (sum < 0) { sum = sum * 2; }
    return list?.concat(sum).length + sum;
  `;
  // The code is the body of a function.
  const [head, foot] = ["function f() {", "}"];
  const text = head + code + foot;
  const mutants = mutantsOf("src/a.ts", text);
  const sites = mutants.map(({ site }, id) => ({ ...site, id }));
  const reached = new Set<number>();
  const program = `${marked(text, sites)} return f();`;
  // oxlint-disable-next-line no-new-func, no-implied-eval
  const run = new Function("globalThis", program);
  assert.equal(run({ reached: (id: number) => reached.add(id) }), 4 + 5);
  const missed = mutants.filter((_, id) => !reached.has(id)).map(({ change }) => change);
  assert.deepEqual(missed, [
    "-1 -> 1",
    "1 -> 0",
    "sum = sum * 2; -> ;",
    "sum * 2 -> sum / 2",
    "2 -> 3",
  ]);
});
