/**
 * The possible texts of an expression: `${...}` replaces values that are known only at run time, and each branch of a
 * condition gives a text. A parameter of a named function is marked, so that the texts of its callers can replace it.
 */

/** Maximum number of texts of an expression; the first ones are kept. */
const MOST_TEXTS = 12;
/** Maximum depth of function calls that are followed. */
const MOST_CALLS = 3;
/** Maximum length of a placeholder's code; longer code is cut. */
const LONGEST_CODE = 40;

const MARK = /\ue000(\d+):(\w+)\ue001/g;

const FUNCTIONS = new Set(["FunctionDeclaration", "FunctionExpression", "ArrowFunctionExpression"]);
export const isFunction = (node) => FUNCTIONS.has(node?.type);

/** Returns a text as a reader sees it. */
export const shown = (text) => text.replaceAll(MARK, "${$2}");

/** Returns true if a text depends on the parameters of `definition`. */
export const dependsOn = (text, definition) =>
  [...text.matchAll(MARK)].some(([, start]) => Number(start) === definition.start);

/**
 * Returns `text` with the parameters of `definition` replaced by the arguments of a call, as a list, because arguments
 * may be conditional.
 */
export function substitute(project, file, text, definition, call) {
  let texts = [text];
  for (const [at, param] of definition.params.entries()) {
    const name = nameOfParam(param);
    const mark = `\ue000${definition.start}:${name}\ue001`;
    if (name === null || !text.includes(mark)) continue;
    const given = call.arguments[at];
    const values =
      given === undefined
        ? param.type === "AssignmentPattern"
          ? textsOf(project, file, param.right)
          : [""]
        : textsOf(project, file, given);
    texts = texts.flatMap((one) => values.map((value) => one.replaceAll(mark, () => value)));
  }
  return texts.slice(0, MOST_TEXTS);
}

const nameOfParam = (param) =>
  param.type === "Identifier"
    ? param.name
    : param.type === "AssignmentPattern" && param.left.type === "Identifier"
      ? param.left.name
      : null;

/** Returns the texts of an expression, at least one. */
export function textsOf(project, file, node, depth = 0) {
  const again = (child) => textsOf(project, file, child, depth);
  switch (node.type) {
    case "Literal":
      return [typeof node.value === "string" ? node.value : (node.raw ?? String(node.value))];
    case "TemplateLiteral":
      return joined(
        node.quasis.flatMap(({ value }, at) => [
          [value.cooked],
          ...(at < node.expressions.length ? [again(node.expressions[at])] : []),
        ]),
      );
    case "BinaryExpression":
      return node.operator === "+"
        ? joined([again(node.left), again(node.right)])
        : [code(file, node)];
    case "ConditionalExpression":
      return [...again(node.consequent), ...again(node.alternate)].slice(0, MOST_TEXTS);
    case "LogicalExpression":
      return node.operator === "&&"
        ? again(node.right)
        : [...again(node.left), ...again(node.right)].slice(0, MOST_TEXTS);
    case "TSAsExpression":
    case "TSNonNullExpression":
    case "TSSatisfiesExpression":
    case "ParenthesizedExpression":
      return again(node.expression);
    case "Identifier":
      return textsOfName(project, file, node, depth);
    case "CallExpression":
      return textsOfCall(project, file, node, depth);
    default:
      return [code(file, node)];
  }
}

/** Returns the concatenations of one text of each list. */
const joined = (lists) =>
  lists.reduce(
    (texts, list) => texts.flatMap((text) => list.map((one) => text + one)).slice(0, MOST_TEXTS),
    [""],
  );

function code({ text }, { start, end }) {
  const plain = text.slice(start, end).replaceAll(/\s+/g, " ");
  return `\${${plain.length > LONGEST_CODE ? `${plain.slice(0, LONGEST_CODE)}...` : plain}}`;
}

function textsOfName(project, file, node, depth) {
  const found = project.resolve(file, node.name, node.start);
  if (found === null) return [code(file, node)];
  if (found.param) return [`\ue000${found.param.start}:${node.name}\ue001`];
  if (found.value === null || isFunction(found.value) || depth >= MOST_CALLS)
    return [code(file, node)];
  const texts = textsOf(project, found.file, found.value, depth + 1);
  return texts.some(hasWords) ? texts : [code(file, node)];
}

/** Returns the texts that a function of the project returns, if they have words. */
function textsOfCall(project, file, node, depth) {
  if (node.callee.type !== "Identifier" || depth >= MOST_CALLS) return [code(file, node)];
  const found = project.resolve(file, node.callee.name, node.start);
  if (found === null || !isFunction(found.value)) {
    return passedThrough(project, file, node, depth) ?? [code(file, node)];
  }
  const definition = found.value;
  const texts = returnsOf(definition)
    .flatMap((one) => textsOf(project, found.file, one, depth + 1))
    .flatMap((text) => substitute(project, file, text, definition, node));
  if (texts.some(isPhrase)) return texts.slice(0, MOST_TEXTS);
  return passedThrough(project, file, node, depth) ?? [code(file, node)];
}

/**
 * Returns the texts of the argument of a function that changes a sentence only in its characters, such as one that cuts
 * it.
 */
function passedThrough(project, file, node, depth) {
  const all = node.arguments.map((one) =>
    one.type === "SpreadElement" ? [] : textsOf(project, file, one, depth + 1),
  );
  const phrases = all.filter((texts) => texts.some(isPhrase));
  return phrases.length === 1 ? phrases[0] : null;
}

const withoutPlaceholders = (text) => text.replaceAll(MARK, "").replaceAll(/\$\{[^}]*\}+/g, "");

const hasWords = (text) => /[a-z]{2,}/.test(withoutPlaceholders(text));

/** Returns true if a text has two words that are not placeholders. */
export const isPhrase = (text) => /[a-z]{2,}.*\s[a-z]{2,}/s.test(withoutPlaceholders(text));

/** Returns the expressions that a function returns, not those of functions inside. */
function returnsOf({ body }) {
  if (body.type !== "BlockStatement") return [body];
  const found = [];
  const visit = (node) => {
    if (node === null || typeof node !== "object" || isFunction(node)) return;
    if (node.type === "ReturnStatement" && node.argument) found.push(node.argument);
    for (const [key, child] of Object.entries(node)) {
      if (key === "argument") continue;
      for (const one of [child].flat()) visit(one);
    }
  };
  visit(body);
  return found;
}
