/**
 * The rules for sentences, as patterns. A reader must check what patterns cannot find, such as order and plain words.
 */

/** Forbidden patterns, with advice on what to write instead. */
export const FORBIDDEN = [
  {
    pattern: /\b(is|are|be) no (?!longer\b|more\b)/,
    instead: "say what it must be, and what it is",
  },
  { pattern: /\b[Tt]here (is|are|must)\b/, instead: "begin with the subject" },
  {
    pattern: /\b(rooms?|doors?|met|meets?|told|tells|of the family|to be had|as far as|but for)\b/,
    instead: "use the field's own word",
  },
  { pattern: /-?\d\.\.\.?-?\d/, instead: 'write a range as "-4 to 3"' },
  { pattern: /\bgot undefined\b|\[object /, instead: "name the value" },
];

/** Sentences in which a forbidden pattern is correct: the end of the file name, a part of the text, and the reason. */
const ALLOWED = [
  { file: "", text: "--range", why: "0..999 is what is typed" },
  { file: "", text: "ids=0..999", why: "it is what is typed" },
];

/** Codes whose sentences need no advice of the command, with the reason. */
export const NEEDS_NO_ADVICE = {
  "duplicate-index": "the command has no option that forbids repeated targets",
  overlap: "the command passes no output memory; a job says itself which array to copy",
  disposed: "the command keeps its tensors until it ends",
  queue: "a worker prints it; the command that waits for the job prints the advice",
  internal: "a fault of this package, which the command reports as one",
  note: "a note does not ask for anything",
  help: "help is advice",
  text: "a part of other output",
};

/** Sentences of the system, to which `src/cli/advice.ts` adds what to do. */
const OF_THE_SYSTEM = "src/cli/failure.ts";

/** Returns true if a sentence says what to do: after a semicolon, as a nearest name, or as what must be given. */
export const hasAdvice = (text) =>
  /; |did you mean|: npm install|\b(must|takes|needs|goes with|go together|does not go)\b/.test(
    text,
  );

/** Returns the rules that a sentence breaks, as texts. */
export function broken({ file, code, text }) {
  const found = FORBIDDEN.filter(({ pattern }) => pattern.test(withoutCode(text)))
    .filter(() => !ALLOWED.some((one) => file.endsWith(one.file) && text.includes(one.text)))
    .map(({ instead }) => instead);
  const isOwn = ["usage", "data"].includes(code) && file !== OF_THE_SYSTEM;
  if (isOwn && !hasAdvice(text)) found.push("say what to do");
  return found;
}

/** Returns a text without its placeholders, whose code users do not see. */
const withoutCode = (text) => text.replaceAll(/\$\{[^}]*\}+/g, "X");
