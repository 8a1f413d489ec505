/**
 * The ways to break a piece of code, by the kind of its node. A rule gets a node and `{ text, parent, isKernel }` and
 * returns the changes: `{ kind, start, end, after }`, in positions of the text. A change need not compile.
 */

/** Operators and their replacements. */
const OPERATORS = {
  "<": ["<=", ">="],
  "<=": ["<", ">"],
  ">": [">=", "<="],
  ">=": [">", "<"],
  "==": ["!="],
  "!=": ["=="],
  "===": ["!=="],
  "!==": ["==="],
  "+": ["-"],
  "-": ["+"],
  "*": ["/"],
  "/": ["*"],
  "%": ["*"],
  "<<": [">>"],
  ">>": ["<<"],
  ">>>": ["<<"],
  "&": ["|"],
  "|": ["&"],
  "^": ["&"],
  "&&": ["||"],
  "||": ["&&"],
  "+=": ["-=", "="],
  "-=": ["+=", "="],
  "*=": ["/=", "="],
  "<<=": [">>="],
  ">>=": ["<<="],
  ">>>=": ["<<="],
  "|=": ["&=", "="],
  "&=": ["|=", "="],
  "^=": ["="],
  "??=": ["="],
};

const COMPARISONS = /^(?:[<>]=?|[=!]==?)$/;

/** Functions and methods, and their replacements. */
const NEIGHBOURS = new Map([
  ["min", "max"],
  ["max", "min"],
  ["floor", "ceil"],
  ["ceil", "floor"],
  ["some", "every"],
  ["every", "some"],
  ["startsWith", "endsWith"],
  ["endsWith", "startsWith"],
]);

/** Functions whose arguments may be exchanged, in JavaScript and in AssemblyScript. */
const COMMUTATIVE = new Set([
  "add",
  "and",
  "eq",
  "imul",
  "is",
  "max",
  "min",
  "mul",
  "ne",
  "or",
  "xor",
]);

/** Methods that return a cleaned-up copy of their object; without the call the object is used unchanged. */
const MENDING = new Set(["filter", "reverse", "slice", "sort", "toReversed", "toSorted", "trim"]);

/** Functions that return a safe form of their argument. */
const SECURING = new Set(["Array.from", "Object.freeze", "structuredClone"]);

const textOf = ({ text }, { start, end }) => text.slice(start, end);

const whole = (kind, { start, end }, after) => ({ kind, start, end, after });

/** The text of an expression, so that it can stand beside any operator. */
function operand(context, node) {
  const plain = ["CallExpression", "Identifier", "Literal", "MemberExpression"];
  const text = textOf(context, node);
  return plain.includes(node.type) ? text : `(${text})`;
}

/** Another operator between `left` and `right`. */
function otherOperators(kind, { operator, left }, { text }) {
  const start = text.indexOf(operator, left.end);
  const end = start + operator.length;
  return (OPERATORS[operator] ?? []).map((after) => ({ kind, start, end, after }));
}

/** True if an expression gives text, for which `+` is not arithmetic. */
export function isText(node) {
  if (node.type === "TemplateLiteral") return true;
  if (node.type === "Literal") return typeof node.value === "string";
  return (
    node.type === "BinaryExpression" &&
    node.operator === "+" &&
    (isText(node.left) || isText(node.right))
  );
}

function binary(node, context) {
  if (isText(node)) return [];
  if (node.operator === "**") return [whole("constant", node.right, less(context, node.right))];
  return otherOperators("operator", node, context);
}

const less = (context, node) => `(${operand(context, node)} - 1)`;

/** The other operator, or one side alone, with the parentheses that it has. */
function logical(node, context) {
  const { start, end, operator, left } = node;
  const at = context.text.indexOf(operator, left.end);
  const sides = [
    { start, end: at },
    { start: at + operator.length, end },
  ].map((side) => whole("operand", node, textOf(context, side).trim()));
  return [...otherOperators("operator", node, context), ...sides];
}

/** A condition that never holds, and a negated one if no other rule negates it. */
function condition({ test }, context) {
  const never = whole("condition", test, "false");
  const isNegated = test.operator === "!" || COMPARISONS.test(test.operator);
  return isNegated ? [never] : [whole("condition", test, `!(${textOf(context, test)})`), never];
}

/** A loop that never starts. Without its end it would hang, which every test notices. */
const loop = ({ test }) => (test === null ? [] : [whole("condition", test, "false")]);

function unary(node) {
  if (!["!", "-", "~"].includes(node.operator)) return [];
  return [{ kind: "operator", start: node.start, end: node.start + 1, after: "" }];
}

function literal(node, { parent }) {
  const { value } = node;
  const change = (after) => [whole("constant", node, after)];
  if (typeof value === "boolean") return change(String(!value));
  if (typeof value === "bigint") return change(`${value + 1n}n`);
  if (typeof value === "number") return change(value === 1 ? "0" : String(value + 1));
  const isSentence = typeof value !== "string" || value === "" || value.includes(" ");
  return isSentence || parent.type === "ExpressionStatement" ? [] : change('""');
}

/** A list without one of its entries, with the comma after or before that one. */
function without(kind, entries, { text }) {
  return entries.flatMap((entry, position) => {
    if (entry === null) return [];
    const next = entries[position + 1];
    const before = entries[position - 1];
    if (next) return [{ kind, start: entry.start, end: next.start, after: "" }];
    if (before) return [{ kind, start: before.end, end: entry.end, after: "" }];
    const comma = /^\s*,/.exec(text.slice(entry.end))?.[0].length ?? 0;
    return [{ kind, start: entry.start, end: entry.end + comma, after: "" }];
  });
}

function list(node, context) {
  const { elements } = node;
  const [first] = elements;
  const changes = without("entry", elements, context);
  if (elements.length !== 1 || first?.type !== "SpreadElement") return changes;
  return [...changes, whole("copy", node, operand(context, first.argument))];
}

const object = ({ properties }, context) => without("entry", properties, context);

function call(node, context) {
  const { callee, arguments: args } = node;
  const name = callee.type === "MemberExpression" ? callee.property : callee;
  const changes = [];
  const neighbour = NEIGHBOURS.get(name.name);
  if (neighbour !== undefined) changes.push(whole("function", name, neighbour));
  if (callee !== name && MENDING.has(name.name)) {
    changes.push(whole("copy", node, operand(context, callee.object)));
  }
  if (SECURING.has(textOf(context, callee)) && args.length === 1) {
    changes.push(whole("copy", node, operand(context, args[0])));
  }
  if (!COMMUTATIVE.has(name.name)) changes.push(...exchanged(args, context));
  // Kernels have no optional parameters, and compiling them takes seconds.
  if (args.length > 0 && !context.isKernel) changes.push(without("argument", args, context).at(-1));
  return changes;
}

/** Two arguments of one kind, exchanged. */
function exchanged(args, context) {
  return args.slice(1).flatMap((right, position) => {
    const left = args[position];
    const [a, b] = [textOf(context, left), textOf(context, right)];
    const isName = left.type === "Identifier" || left.type === "MemberExpression";
    if (!isName || left.type !== right.type || a === b) return [];
    const between = context.text.slice(left.end, right.start);
    return [{ kind: "argument", start: left.start, end: right.end, after: b + between + a }];
  });
}

/** `new Float32Array(values)`: without the copy the caller's own array is used. */
function made(node, context) {
  const [first, ...others] = node.arguments;
  const isCopy = node.callee.name?.endsWith("Array") && first !== undefined && others.length === 0;
  return isCopy ? [whole("copy", node, operand(context, first))] : [];
}

/** An expression that is not evaluated, or not awaited. */
function statement(node, context) {
  const { expression } = node;
  if (node.directive || expression.callee?.type === "Super") return [];
  const kept = ["AwaitExpression", "CallExpression", "AssignmentExpression", "UpdateExpression"];
  if (![...kept, "YieldExpression", "ChainExpression"].includes(expression.type)) return [];
  const changes = leftOut(node, context);
  if (expression.type !== "AwaitExpression") return changes;
  return [...changes, whole("await", expression, textOf(context, expression.argument))];
}

/** A statement that is left out. The body of a condition or loop must not be an empty statement. */
function leftOut(node, { parent }) {
  const isOfList = parent.type === "BlockStatement" || parent.type === "Program";
  return [whole("statement", node, isOfList ? ";" : "{}")];
}

export const RULES = {
  ArrayExpression: list,
  AssignmentExpression: (node, context) => otherOperators("operator", node, context),
  BinaryExpression: binary,
  BreakStatement: leftOut,
  CallExpression: call,
  ConditionalExpression: condition,
  ContinueStatement: leftOut,
  ExpressionStatement: statement,
  ForStatement: loop,
  IfStatement: condition,
  Literal: literal,
  LogicalExpression: logical,
  NewExpression: made,
  ObjectExpression: object,
  ReturnStatement: (node, context) => (node.argument === null ? leftOut(node, context) : []),
  TryStatement: ({ finalizer }) => (finalizer ? [whole("statement", finalizer, "{}")] : []),
  UnaryExpression: unary,
  WhileStatement: loop,
};
