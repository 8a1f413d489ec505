/**
 * Splits a Python or TypeScript program into words and signs. Comments and prompts become spaces, so positions do not
 * change.
 */

export interface Token {
  readonly kind: "name" | "number" | "text" | "sign" | "line" | "end" | "unknown";
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

/**
 * Patterns for numbers, names and signs. Each character can match in only one way, so that hostile text takes linear
 * time.
 */
const PIECES = [
  ["number", /(?:0[xX][\da-fA-F]+|(?:\d[\d_]*\.?[\d_]*|\.\d[\d_]*)(?:[eE][+-]?\d+)?)[jn]?/y],
  ["name", /[\p{L}_$][\p{L}\p{N}_$]*/uy],
  ["sign", /\.\.\.|\*\*|\/\/=?|[=!<>]=|=>|->|[-+*/%@&|^]=|[-+*/%@&|^~<>=.,:;()[\]{}!?]/y],
] as const;

/** The maximum number of tokens, which is enough for three tensors of 20,000 elements. */
export const MOST_TOKENS = 400_000;

/** Returns the tokens of a text, or null if the text has more than `MOST_TOKENS` tokens. */
export function tokensOf(text: string): Token[] | null {
  const tokens: Token[] = [];
  let at = 0;
  const push = (kind: Token["kind"], end: number): void => {
    tokens.push({ kind, text: text.slice(at, end), start: at, end });
    at = end;
  };
  while (at < text.length) {
    const character = text[at];
    if (tokens.length > MOST_TOKENS) return null;
    if (character === "\n") push("line", at + 1);
    else if (/\s/.test(character)) at++;
    else if (character === "\\" && text[at + 1] === "\n") at += 2;
    else {
      const quoted = textEnd(text, at);
      if (quoted !== null) push("text", quoted);
      else pushPiece(text, at, push);
    }
  }
  push("line", at);
  push("end", at);
  return tokens;
}

function pushPiece(
  text: string,
  at: number,
  push: (kind: Token["kind"], end: number) => void,
): void {
  for (const [kind, pattern] of PIECES) {
    pattern.lastIndex = at;
    const found = pattern.exec(text);
    if (found !== null) {
      push(kind, at + found[0].length);
      return;
    }
  }
  push("unknown", at + 1);
}

/** Returns the end position of a string literal, including its prefix; null if no literal begins here. */
function textEnd(text: string, start: number): number | null {
  const [, prefix = "", quote] =
    /^([rbfuRBFU]{0,2})("""|'''|["'`])/.exec(text.slice(start, start + 5)) ?? [];
  if (quote === undefined) return null;
  for (let at = start + prefix.length + quote.length; at < text.length; at++) {
    if (text[at] === "\\") at++;
    else if (text.startsWith(quote, at)) return at + quote.length;
    // An unclosed string ends at the end of its line, and the parser reports the error.
    else if (text[at] === "\n" && quote.length === 1 && quote !== "`") return at;
  }
  return text.length;
}

const PROMPT = /^(?:>>> ?|\.\.\. ?|In \[\d{1,6}\]: |\s{0,12}\.\.\.: )/;

/** Replaces comments, prompts and printed console lines with spaces. */
export function withoutComments(text: string): string {
  const lines = text.replaceAll("\r", " ").split("\n");
  const isConsole = lines.some((line) => /^(?:>>> |In \[\d{1,6}\]: )/.test(line));
  const bare = lines.map((line) => {
    const prompt = PROMPT.exec(line)?.[0];
    if (!isConsole) return line;
    return prompt === undefined ? blank(line) : blank(prompt) + line.slice(prompt.length);
  });
  return commentsBlank(bare.join("\n"));
}

const blank = (text: string): string => text.replaceAll(/[^\n]/g, " ");

function commentsBlank(text: string): string {
  const parts: string[] = [];
  let from = 0;
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (character === '"' || character === "'" || character === "`") {
      at = (textEnd(text, at) ?? at + 1) - 1;
      continue;
    }
    const isBlock = text.startsWith("/*", at);
    // After a value and spaces, `//` is Python's integer division, not a comment.
    const isLine = character === "#" || (text.startsWith("//", at) && isAfterCode(text, at));
    if (!isBlock && !isLine) continue;
    const closing = isBlock ? text.indexOf("*/", at + 2) + 2 : text.indexOf("\n", at);
    const end = closing < at + 2 ? text.length : closing;
    parts.push(text.slice(from, at), blank(text.slice(at, end)));
    from = end;
    at = end - 1;
  }
  return parts.join("") + text.slice(from);
}

/** Checks whether `//` begins a comment, which is possible at the start of a line or after a delimiter. */
function isAfterCode(text: string, at: number): boolean {
  let before = at - 1;
  while (text[before] === " " || text[before] === "\t") before--;
  return before < 0 || /[\n;,{}[(]/.test(text[before]);
}
