/**
 * Finds the mutants of a source: small changes by its syntax, each of which makes the code wrong. Types, imports and
 * the sentences of errors are left alone. The compiler and the tests determine the effect of a mutant.
 */

import { parseSync, visitorKeys } from "oxc-parser";
import { RULES, isText } from "./rules.js";

/** TypeScript nodes that hold an expression; all other type nodes hold none. */
const TYPED = new Set([
  "TSAsExpression",
  "TSNonNullExpression",
  "TSSatisfiesExpression",
  "TSTypeAssertion",
]);

/** Maximum length of code that is shown completely. */
const WIDTH = 60;

const UNTOUCHED = new Set([
  "Decorator",
  "ExportAllDeclaration",
  "ImportDeclaration",
  "ImportExpression",
]);

/**
 * Returns the mutants of the source `file`, whose text is `text`: each has the position of its change (`start`, `end`,
 * `after`), its `kind`, the `line`, a description (`change`), and the `site` that is reached when its code runs.
 */
export function mutantsOf(file, text) {
  const isKernel = file.startsWith("assembly/");
  const { program, errors } = parseSync(file, isKernel ? withoutDecorators(text) : text);
  if (errors.length > 0) throw new Error(`${file}: ${errors[0].message}`);
  const mutants = [];
  const visit = (node, ancestors) => {
    const context = { text, isKernel, parent: ancestors.at(-1) };
    for (const change of RULES[node.type]?.(node, context) ?? []) {
      const site = siteOf(node, change, ancestors);
      const line = text.slice(0, change.start).split("\n").length;
      mutants.push({ file, line, ...change, site, change: printChange(text, node, change) });
    }
    for (const child of childrenOf(node)) visit(child, [...ancestors, node]);
  };
  visit(program, []);
  return mutants;
}

/** Blanks out AssemblyScript's function decorators, which are not TypeScript, without moving any position. */
function withoutDecorators(text) {
  return text.replaceAll(/^ *@\w+(?:\(.*\))?$/gm, (line) => " ".repeat(line.length));
}

/** Returns the nodes below `node` that are code. */
function childrenOf(node) {
  const keys = visitorKeys[node.type].filter((key) => !isName(node, key));
  const children = keys.flatMap((key) => node[key]).filter((one) => one && !isUntouched(one));
  return node.type === "NewExpression" && node.callee.name?.endsWith("Error")
    ? children.filter((one) => one.type === "ObjectExpression")
    : children.filter((one) => !isSentence(one));
}

/** Names of properties and paths of modules. */
function isName(node, key) {
  return (key === "key" && !node.computed) || key === "source";
}

function isUntouched({ type }) {
  return UNTOUCHED.has(type) || (type.startsWith("TS") && !TYPED.has(type));
}

/** Text with a blank is written for people; tests need not check every word. */
function isSentence(node) {
  if (node.type === "TemplateLiteral") return node.quasis.some(({ value }) => /\s/.test(value.raw));
  return (
    node.type === "BinaryExpression" && isText(node) && [node.left, node.right].some(isSentence)
  );
}

/**
 * Returns the code to mark in order to observe whether the code of a mutant runs. Marking a link of a chain of members
 * and calls would change its meaning, so the whole chain is marked.
 */
function siteOf(node, change, ancestors) {
  if (node.type === "TryStatement") return { start: change.start + 1, end: change.start + 1 };
  if (node.type === "ExpressionStatement") return within(node.expression);
  if (node.test && change.start === node.test.start) return within(node.test);
  if (node.type.endsWith("Statement")) return { ...within(node), isStatement: true };
  let site = node;
  for (const parent of ancestors.toReversed()) {
    if (!isLink(parent, site)) break;
    site = parent;
  }
  return within(site);
}

const within = ({ start, end }) => ({ start, end });

function isLink(parent, node) {
  return (
    parent.object === node ||
    parent.callee === node ||
    parent.tag === node ||
    (parent.type === "AssignmentExpression" && parent.left === node) ||
    ["ChainExpression", "TSNonNullExpression", "UpdateExpression"].includes(parent.type) ||
    parent.operator === "delete"
  );
}

/** Returns the text with the change of `mutant`. */
export function mutated(text, { start, end, after }) {
  return text.slice(0, start) + after + text.slice(end);
}

/** Returns the text with every site marked: the code of `sites[i].id` calls `globalThis.reached` when it runs. */
export function marked(text, sites) {
  const insertions = sites.flatMap(({ id, start, end, isStatement }) => {
    const call = `globalThis.reached?.(${JSON.stringify(id)})`;
    if (start === end) return [{ at: start, order: 0, text: `${call};` }];
    const [before, after] = isStatement ? [`{${call}; `, "}"] : [`(${call}, `, ")"];
    // If two sites start or end at the same position, the longer one encloses the other.
    return [
      { at: start, order: start - end, text: before },
      { at: end, order: end - start - text.length - 1, text: after },
    ];
  });
  insertions.sort((a, b) => a.at - b.at || a.order - b.order);
  let result = "";
  let from = 0;
  for (const { at, text: inserted } of insertions) {
    result += text.slice(from, at) + inserted;
    from = at;
  }
  return result + text.slice(from);
}

/** `before -> after` on one line, with the surrounding code if it is short. */
function printChange(text, node, change) {
  const around = node.end - node.start <= WIDTH ? node : change;
  const before = text.slice(around.start, around.end).replaceAll(/\s+/g, " ").trim();
  const after =
    text.slice(around.start, change.start) + change.after + text.slice(change.end, around.end);
  const other = after.replaceAll(/\s+/g, " ").trim();
  return `${cropped(before, other)} -> ${cropped(other, before) || "(nothing)"}`;
}

/** Returns the part of `code` that differs from `other`, and some letters before and behind it. */
function cropped(code, other) {
  if (code.length <= WIDTH) return code;
  const shorter = Math.min(code.length, other.length);
  let same = 0;
  while (same < shorter && code[same] === other[same]) same++;
  let end = 0;
  while (end < shorter - same && code.at(-1 - end) === other.at(-1 - end)) end++;
  const from = Math.max(0, same - 20);
  const to = Math.min(code.length, Math.max(code.length - end + 20, from + WIDTH));
  const part = code.slice(from, to);
  const middle = part.length > 2 * WIDTH ? `${part.slice(0, WIDTH)} … ${part.slice(-20)}` : part;
  return `${from > 0 ? "… " : ""}${middle}${to < code.length ? " …" : ""}`;
}
