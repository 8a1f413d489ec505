/**
 * Finds the sentences in sources by their syntax: the arguments of errors, of the command's failures and of helpers
 * that make such errors, the command's help and notes, and any other text of several words.
 */

import path from "node:path";
import { parseSync, visitorKeys } from "oxc-parser";
import { dependsOn, isFunction, isPhrase, shown, substitute, textsOf } from "./texts.js";

/** The positions of the sentence and of the code among the arguments of constructors and functions that print it. */
const SINKS = {
  TensorError: { sentence: 1, code: 0 },
  malformed: { sentence: 0, code: "malformed-file" },
  wrongUsage: { sentence: 0, code: "usage" },
  wrongData: { sentence: 0, code: "data" },
  InvalidArgumentError: { sentence: 0, code: "usage" },
  UnrecoverableError: { sentence: 0, code: "queue" },
  Error: { sentence: 0, code: "internal" },
  RangeError: { sentence: 0, code: "internal" },
  TypeError: { sentence: 0, code: "internal" },
  printNote: { sentence: 1, code: "note" },
};

/** The calls of commander whose texts are help. */
const HELP_CALLS = new Set(
  "addHelpText argument description helpCommand helpOption option optionsGroup requiredOption summary Argument Option".split(
    " ",
  ),
);

/** A line of shader code. */
const SHADER = /[;{]\n/;

/** Maximum depth of helpers that call helpers. */
const MOST_HELPERS = 2;

/** Matches enough words in a row to treat a text as a sentence, wherever it occurs. */
const PROSE = /[A-Za-z][a-z]+,? [a-z]+,? [a-z]+/;

/**
 * Returns the sentences of `sources`, texts by file name: each has its `file`, `line`, `code` and `text`. The code is
 * an error's, or `usage` or `data` for failures of the command, `queue`, `internal`, `note`, `help` or `text`.
 */
export function collect(sources) {
  const files = new Map([...sources].map(([name, text]) => [name, parse(name, text)]));
  const project = {
    sinks: new Map(),
    resolve: (file, name, at) => resolve(files, file, name, at),
  };
  for (let before = -1; project.sinks.size > before;) {
    before = project.sinks.size;
    for (const file of files.values()) findSinks(project, file);
  }
  return [...files.values()].flatMap((file) => sentencesOf(project, file));
}

/** Returns a file's syntax: what it declares, imports, calls and says. */
function parse(name, text) {
  const { program, errors } = parseSync(name, text);
  if (errors.length > 0) throw new Error(`${name}: ${errors[0].message}`);
  const file = { name, text, declared: new Map(), imports: new Map(), calls: [], texts: [] };
  const visit = (node, ancestors) => {
    keep(file, node, ancestors);
    const inner = [...ancestors, node];
    for (const key of visitorKeys[node.type]) {
      for (const child of [node[key]].flat()) if (child && !isSkipped(child)) visit(child, inner);
    }
  };
  visit(program, []);
  return file;
}

const TYPED = new Set(["TSAsExpression", "TSNonNullExpression", "TSSatisfiesExpression"]);
const isSkipped = ({ type }) =>
  type === "ExportAllDeclaration" || (type.startsWith("TS") && !TYPED.has(type));

function keep(file, node, ancestors) {
  const declare = (name, value, param, block = scopeOf(ancestors)) => {
    file.declared.set(name, [...(file.declared.get(name) ?? []), { file, value, param, block }]);
  };
  if (node.type === "ImportDeclaration") {
    for (const { local, imported } of node.specifiers) {
      if (imported) file.imports.set(local.name, { from: node.source.value, name: imported.name });
    }
  } else if (node.type === "VariableDeclarator" && node.id.type === "Identifier") {
    declare(node.id.name, node.init);
  } else if (isFunction(node)) {
    if (node.type === "FunctionDeclaration") declare(node.id.name, node);
    for (const param of node.params) {
      const { name } = param.type === "AssignmentPattern" ? param.left : param;
      if (name !== undefined) declare(name, null, node, node);
    }
  } else if (node.type === "NewExpression" || node.type === "CallExpression") {
    file.calls.push({ node, ancestors });
  } else if (isText(node)) {
    file.texts.push({ node, ancestors });
  }
}

const isText = (node) =>
  node.type === "TemplateLiteral" || (node.type === "Literal" && typeof node.value === "string");

const scopeOf = (ancestors) =>
  ancestors.findLast(
    (one) => isFunction(one) || /^(BlockStatement|Program|For\w+)$/.test(one.type),
  );

/**
 * Returns the declaration of `name` at a position: the innermost declaration, or a declaration in another file; null if
 * unknown.
 */
function resolve(files, file, name, at) {
  const found = (file.declared.get(name) ?? [])
    .filter(({ block }) => block.start <= at && at <= block.end)
    .toSorted((a, b) => b.block.start - a.block.start);
  if (found.length > 0) return found[0];
  const { from, name: original } = file.imports.get(name) ?? {};
  if (from === undefined || !from.startsWith(".")) return null;
  const other = files.get(path.posix.join(path.posix.dirname(file.name), from));
  return other === undefined ? null : resolve(files, other, original, 0);
}

/** Returns the texts and codes that a call prints. */
function printedBy(project, file, { node }) {
  const { callee } = node;
  const name = (callee.type === "MemberExpression" ? callee.property : callee).name ?? "";
  const found = callee.type === "Identifier" ? project.resolve(file, name, node.start) : null;
  const sinks = found === null ? undefined : project.sinks.get(found.value);
  if (sinks !== undefined) {
    const fill = (text) => substitute(project, file, text, found.value, node);
    return [...sinks.values()].flatMap(({ code, text, depth }) =>
      fill(code).flatMap((one) =>
        fill(text).map((filled) => ({ code: one, text: filled, depth: depth + 1, from: text })),
      ),
    );
  }
  if (!Object.hasOwn(SINKS, name) || node.arguments.length <= SINKS[name].sentence) return [];
  const { sentence, code } = SINKS[name];
  const codes = typeof code === "string" ? [code] : textsOf(project, file, node.arguments[code]);
  const texts = textsOf(project, file, node.arguments[sentence]);
  return codes.flatMap((one) => texts.map((text) => ({ code: one, text, depth: 0, from: "" })));
}

/** Finds functions whose parameters are printed by a call in them. */
function findSinks(project, file) {
  for (const call of file.calls) {
    const printed = printedBy(project, file, call);
    for (const definition of call.ancestors.filter(isFunction)) {
      const derived = printed.filter(
        ({ code, text, depth }) =>
          depth < MOST_HELPERS && (dependsOn(text, definition) || dependsOn(code, definition)),
      );
      if (derived.length === 0) continue;
      const all = project.sinks.get(definition) ?? new Map();
      for (const one of derived) all.set(`${one.code} ${one.text}`, one);
      project.sinks.set(definition, all);
    }
  }
}

function sentencesOf(project, file) {
  const found = new Map();
  const covered = new Set();
  const add = (node, code, text) => {
    const line = file.text.slice(0, node.start).split("\n").length;
    const sentence = { file: file.name, line, code: shown(code), text: shown(text) };
    const key = `${sentence.code} ${sentence.text}`;
    if (!found.has(key)) found.set(key, sentence);
  };
  for (const call of file.calls) {
    const printed = printedBy(project, file, call);
    if (printed.length > 0) covered.add(call.node);
    for (const { code, text, from } of printed) {
      if (isPhrase(text) && addsWords(text, from)) {
        add(call.node, code, text);
      }
    }
  }
  for (const { node, ancestors } of file.texts) {
    if ([...ancestors, node].some((one) => covered.has(one) || one.type === "ImportDeclaration"))
      continue;
    if (ancestors.some(isText) || SHADER.test(file.text.slice(node.start, node.end))) continue;
    const isHelp = ancestors.some(isHelpNode);
    for (const text of textsOf(project, file, node)) {
      if (isHelp ? /[a-z]{2}/.test(text) : PROSE.test(text))
        add(node, isHelp ? "help" : "text", text);
    }
  }
  const sentences = [...found.values()].toSorted((a, b) => a.line - b.line);
  const whole = sentences.filter(({ code }) => code !== "text");
  return sentences.filter(
    ({ code, text }) => code !== "text" || whole.every((one) => !one.text.includes(text)),
  );
}

/** Returns true if the arguments of a helper's caller have words of their own, so that its sentence is another. */
const addsWords = (text, from) => !isPhrase(from) || wordCount(text) > wordCount(from);

const wordCount = (text) =>
  text.replaceAll(/\$\{[^}]*\}+|\ue000[^\ue001]*\ue001/g, "").match(/[a-z]{2,}/gi)?.length ?? 0;

/** Returns true for a call of commander that takes help, and for the declaration of a help text. */
const isHelpNode = ({ type, callee, id }) =>
  type === "CallExpression" || type === "NewExpression"
    ? HELP_CALLS.has((callee.property ?? callee).name)
    : type === "VariableDeclarator" && id.name?.endsWith("HELP") === true;
