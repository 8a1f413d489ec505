/** Parts of a docstring: its text, parameters, return value, errors and examples. */

export interface Docstring {
  /** The text, in Markdown. */
  readonly text: string;
  readonly params: readonly { readonly name: string; readonly text: string }[];
  readonly returns: string;
  readonly throws: readonly string[];
  readonly examples: readonly string[];
  readonly see: readonly string[];
}

export function docstringOf(doc: string): Docstring {
  const [text, ...tags] = doc.split(/^@(?=[a-z]+)/m).map((part) => part.trim());
  const bodies = (name: string): string[] =>
    tags.flatMap((tag) => (tag.startsWith(name) ? [tag.slice(name.length).trim()] : []));
  return {
    text,
    params: bodies("param").map((body) => {
      const [, name, said] = /^(\S+)\s*(.*)$/s.exec(body) ?? ["", body, ""];
      return { name, text: said };
    }),
    returns: bodies("returns").join(" "),
    throws: bodies("throws"),
    examples: bodies("example"),
    see: bodies("see"),
  };
}

/** Returns the first sentence, for lists. */
export const firstSentence = (text: string): string =>
  text
    .split("\n\n")[0]
    .replaceAll(/\s+/g, " ")
    .replace(/(?<=\.)\s+(?=[A-Z]).*$/, "");
