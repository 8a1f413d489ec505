/**
 * Reads a pasted program as calls of the page's operators. The reader understands array assignments, and calls of
 * NumPy, torch, JAX, TensorFlow, ONNX and ndscatter. The program is never executed. Each part that was not understood
 * is marked with its position.
 */

import type { State } from "../../values/state.ts";
import type { Arr } from "./arrays.ts";
import { callOf, subscript, type Found } from "./calls.ts";
import { outputOf, stateOf } from "./draft-state.ts";
import { exportedState } from "./exported.ts";
import { loopIn } from "./loops.ts";
import { Misread, Scope } from "./scope.ts";
import { pathOf, statementsOf, type Node, type Statement } from "./syntax.ts";
import { withoutComments } from "./tokens.ts";
import { attempt } from "../../values/attempt.ts";

/** A part of the text that was not understood, and the reason. */
export interface Mark {
  readonly start: number;
  readonly end: number;
  readonly sentence: string;
}

export interface ProgramCall {
  /** The line of text, truncated to the length of a title. */
  readonly title: string;
  readonly state: State;
  readonly remarks: readonly string[];
}

export interface Program {
  readonly calls: readonly ProgramCall[];
  readonly arrays: ReadonlyMap<string, Arr>;
  /** Remarks about the parts that were understood. */
  readonly understood: readonly string[];
  readonly marks: readonly Mark[];
}

/** The maximum program length in characters, the same as for a single tensor. */
const LONGEST = 2_000_000;
/** The maximum number of calls and marks, because users do not read longer lists. */
const MOST_CALLS = 20;
const MOST_MARKS = 50;

/** `base` is the page's call, whose tensors replace arrays that the text names but does not define. */
export function readProgram(text: string, base: State): Program {
  if (text.length > LONGEST) {
    const sentence = `the text has more than ${LONGEST.toLocaleString("en")} characters`;
    return {
      calls: [],
      arrays: new Map(),
      understood: [],
      marks: [{ start: 0, end: 1, sentence }],
    };
  }
  const clean = withoutComments(text);
  const run = new Run(clean, base);
  for (const statement of statementsOf(clean)) run.statement(statement);
  run.endBlock();
  const exported = exportedState(text, run.scope);
  if (exported !== null) {
    const call = { title: "the exported call", state: exported.state, remarks: [] };
    return { calls: [call], arrays: run.scope.names, understood: [exported.sentence], marks: [] };
  }
  return run.result();
}

/** Matches calls and words on lines without arrays. */
const IDLE =
  /(?:^|\.)(?:make_tensor_value_info|make_graph|make_model|make_opsetid|check_model|ReferenceEvaluator|InferenceSession|run|seed|manual_seed|default_rng|PRNGKey|key|set_printoptions|device)$/;
const SHOWING =
  /^(?:print|repr|display|pprint|console\.log|str|(?:np|numpy|jnp|torch)\.(?:asarray|array))$/;
/** Keywords of lines that do not change arrays. The indented lines below such a line are read. */
const IDLE_WORDS: ReadonlySet<string> = new Set(
  "import from with def async pass try class global assert export function".split(" "),
);
/** The first words of lines below which code runs repeatedly or conditionally. */
const REPEATED: ReadonlySet<string> = new Set("for while if elif else except finally".split(" "));

const indentOf = (text: string, start: number): number =>
  start - 1 - text.lastIndexOf("\n", start - 1);

class Run {
  readonly scope: Scope;
  readonly base: State;
  readonly calls: ProgramCall[] = [];
  readonly marks: Mark[] = [];
  readonly understood: string[] = [];
  /** The loop that is being skipped; its lines have a larger indentation than its first line. */
  block: { readonly start: number; readonly end: number; readonly indent: number } | null = null;
  /** The number of unnamed arrays. */
  nameless = 0;

  constructor(text: string, base: State) {
    this.scope = new Scope(text);
    this.base = base;
  }

  result(): Program {
    const { calls, marks, understood, scope } = this;
    return { calls, arrays: scope.names, understood, marks: marks.slice(0, MOST_MARKS) };
  }

  mark({ start, end }: { readonly start: number; readonly end: number }, sentence: string): void {
    this.marks.push({ start, end: Math.max(end, start + 1), sentence });
  }

  statement(statement: Statement): void {
    const { block } = this;
    if (block !== null && indentOf(this.scope.text, statement.start) > block.indent) {
      this.block = { ...block, end: statement.end };
      return;
    }
    this.endBlock();
    this.attempted(() => this.take(statement), statement);
  }

  /** Reads a recognized loop as a call; otherwise marks all lines of the loop. */
  endBlock(): void {
    const { block, scope } = this;
    this.block = null;
    if (block === null) return;
    this.attempted(() => {
      const found = loopIn(scope, scope.text.slice(block.start, block.end), block);
      if (found !== null) this.put(found, null);
      else
        this.mark(
          block,
          "loops are not supported here: write the loop as a call, or paste only its arrays",
        );
    }, block);
  }

  attempted(action: () => void, place: { readonly start: number; readonly end: number }): void {
    try {
      action();
    } catch (error) {
      if (!(error instanceof Misread)) {
        const found = attempt((): null => {
          throw error;
        });
        if (found !== null && "error" in found) this.mark(place, found.error);
        return;
      }
      this.mark(error, error.message);
    }
  }

  take(statement: Statement): void {
    if (statement.kind === "unread") {
      this.mark(
        { start: statement.at, end: Math.max(statement.end, statement.at) },
        statement.sentence,
      );
    } else if (statement.kind === "word") {
      const { word, start, end } = statement;
      const { text } = this.scope;
      if (REPEATED.has(word)) this.block = { start, end, indent: indentOf(text, start) };
      else if (!IDLE_WORDS.has(word))
        this.mark(statement, `lines that begin with ${statement.word} are not supported`);
    } else if (statement.kind === "value") this.value(statement.value, null);
    else this.assign(statement);
  }

  assign({ target, sign, value, start, end }: Statement & { kind: "assign" }): void {
    if (sign !== "=") {
      this.update({ target, sign, value, start, end });
      return;
    }
    if (target.kind === "index") {
      const found = subscript(this.scope, target, value, "none");
      if (found === null)
        throw new Misread("this assignment is not supported here", { start, end });
      this.put({ ...found, node: { ...target, end } }, null);
      return;
    }
    const names = namesOf(target);
    if (names === null) throw new Misread("expected a name before =", target);
    if (names.length > 1 && value.kind === "list" && value.items.length === names.length) {
      for (const [position, name] of names.entries()) this.value(value.items[position], name);
      return;
    }
    this.value(value, names[0] ?? null);
  }

  /** Reads `x[i] += u`. NumPy and torch apply only one of several updates to the same target. */
  update({ target, sign, value, start, end }: Omit<Statement & { kind: "assign" }, "kind">): void {
    const reduction = { "+=": "add", "*=": "mul", "-=": "sub" }[sign];
    const found =
      target.kind === "index" && reduction !== undefined
        ? subscript(this.scope, target, value, reduction)
        : null;
    if (found === null) throw new Misread(`${sign} is not supported here`, { start, end });
    const remark = `In NumPy and PyTorch, x[i] ${sign} u keeps only the last update of a repeated target; here every update counts.`;
    const draft = { ...found.draft, remarks: [...(found.draft.remarks ?? []), remark] };
    this.put({ ...found, draft, node: { ...target, end } }, null);
  }

  /** Reads an expression statement, or the value assigned to a name. */
  value(node: Node, name: string | null): void {
    const found = this.within(node, 0);
    if (found !== null) {
      this.put(found, name);
      return;
    }
    const path = node.kind === "call" ? (pathOf(node.callee) ?? "") : "";
    if (IDLE.test(path)) return;
    if (name === null && isShown(node)) return;
    if (name !== null && node.kind === "record") this.scope.others.set(name, node);
    else if (name !== null && isOfNodes(node)) return;
    else if (name === null && node.kind === "text") return;
    else this.scope.set(name ?? `array ${++this.nameless}`, this.scope.array(node));
  }

  /** Finds the call in an expression, or in the argument of `print`. */
  within(node: Node, depth: number): Found | null {
    const found = callOf(this.scope, node);
    if (found !== null || depth > 9 || node.kind !== "call") return found;
    const path = pathOf(node.callee);
    const inner = path !== null && SHOWING.test(path) ? node.arguments[0]?.value : null;
    if (inner != null)
      return inner.kind === "index" && path === "print" ? null : this.within(inner, depth + 1);
    // The part after the call is marked, such as `.squeeze()` in torch.gather(x, 1, i).squeeze().
    const isAfter = node.callee.kind === "attribute" && node.callee.of.kind === "call";
    if (!isAfter || node.callee.kind !== "attribute") return null;
    const before = this.within(node.callee.of, depth + 1);
    if (
      before !== null &&
      !/^(?:numpy|cpu|detach|tolist|block_until_ready)$/.test(node.callee.name)
    ) {
      this.mark({ start: node.callee.of.end, end: node.end }, "the text after the call is ignored");
    }
    return before;
  }

  /** Adds a recognized call, whose result later lines may use. */
  put({ draft, node, target, elsewhere }: Found, name: string | null): void {
    const { scope } = this;
    for (const one of elsewhere) {
      this.mark(
        one,
        `the text does not define ${scope.at(one)}, so a tensor of the page is used instead`,
      );
    }
    if (this.calls.length >= MOST_CALLS) {
      this.mark(node, `only the first ${MOST_CALLS} calls of a text are shown`);
      return;
    }
    const { state, remarks } = stateOf(draft, this.base);
    const title = scope.text
      .slice(node.start, Math.min(node.end, node.start + 80))
      .replaceAll(/\s+/g, " ");
    this.calls.push({ title, state, remarks: [...scope.remarks, ...remarks] });
    this.understood.push(`${title} is ${state.op}-${state.opset}.`);
    const output = elsewhere.length > 0 ? null : outputOf(state);
    for (const written of [name, target]) {
      if (written === null || written.includes(".")) continue;
      if (output === null) scope.names.delete(written);
      else scope.set(written, output);
    }
  }
}

/** Returns the names before `=`, or null if the target is not a name. */
function namesOf(target: Node): string[] | null {
  if (target.kind === "name") return [target.name];
  if (target.kind === "attribute") {
    const path = pathOf(target);
    return path === null ? null : [path.replace(/^.*\./, "")];
  }
  if (target.kind !== "list") return null;
  const names = target.items.map((one) => (one.kind === "name" ? one.name : null));
  return names.includes(null) ? null : (names as string[]);
}

/** Recognizes expressions that only show a value, such as `print(x)`, `x` or `x.shape`. */
function isShown(node: Node): boolean {
  if (node.kind === "name") return true;
  if (node.kind === "attribute") return node.name === "shape" || node.name === "dtype";
  const path = node.kind === "call" ? pathOf(node.callee) : null;
  return path !== null && SHOWING.test(path);
}

/** Recognizes lists of descriptions, such as `inputs = [helper.make_tensor_value_info(…)]` in an ONNX program. */
const isOfNodes = (node: Node): boolean =>
  node.kind === "list" &&
  node.items.length > 0 &&
  node.items.every((one) => one.kind === "call" && IDLE.test(pathOf(one.callee) ?? ""));
