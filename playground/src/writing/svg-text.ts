/** Text and colours for SVG files, which load no other files. */

export type SvgTheme = "light" | "dark";

export interface Colours {
  readonly paper: string;
  readonly cell: string;
  readonly ink: string;
  readonly soft: string;
  readonly line: string;
  readonly bad: string;
  readonly good: string;
  /** Colours that colour-blind people can distinguish; the last colour is for targets without their own colour. */
  readonly hues: readonly string[];
}

const HUES = {
  light: ["#e69f00", "#56b4e9", "#009e73", "#cc79a7", "#0072b2", "#d55e00", "#5b1a8b", "#8494a5"],
  dark: ["#e69f00", "#56b4e9", "#12b88a", "#dd8fbb", "#4d6bff", "#d9541e", "#f0e442", "#7f90a2"],
};

export const THEMES: Readonly<Record<SvgTheme, Colours>> = {
  light: {
    paper: "#f6f7f9",
    cell: "#ffffff",
    ink: "#17202a",
    soft: "#55616e",
    line: "#d5dbe2",
    bad: "#b3261e",
    good: "#1b6e3c",
    hues: HUES.light,
  },
  dark: {
    paper: "#11161c",
    cell: "#1f2730",
    ink: "#e8edf2",
    soft: "#a3b0bd",
    line: "#36414d",
    bad: "#ff9d94",
    good: "#7fd6a0",
    hues: HUES.dark,
  },
};

const FONT = "ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace";

/** The width of a monospace character of size 13, in pixels. */
export const LETTER = 7.8;

/** Wraps the parts of a drawing in an SVG file with its title and description. */
export function svgFile(
  [width, height]: readonly [number, number],
  [title, description]: readonly [string, string],
  { paper }: Colours,
  parts: readonly string[],
): string {
  const [right, bottom] = [Math.ceil(width), Math.ceil(height)];
  return `${[
    `<svg xmlns="http://www.w3.org/2000/svg" width="${right}" height="${bottom}" ` +
      `viewBox="0 0 ${right} ${bottom}" role="img" font-family="${FONT}" font-size="13">`,
    element("title", "", title),
    element("desc", "", description),
    `<rect width="${right}" height="${bottom}" fill="${paper}"/>`,
    ...parts,
    "</svg>",
  ].join("\n")}\n`;
}

/** Truncates a value to at most `digits` characters. */
export const cut = (value: string, digits: number): string => {
  const characters = Array.from(value);
  return characters.length <= digits
    ? value
    : `${characters.slice(0, Math.max(digits - 1, 1)).join("")}…`;
};

export const text = (x: number, y: number, content: string, attributes: string): string =>
  element("text", `x="${round(x)}" y="${round(y)}" ${attributes}`, content);

export const element = (name: string, attributes: string, content: string): string =>
  `<${name}${attributes === "" ? "" : ` ${attributes}`}>${escape(content)}</${name}>`;

export const round = (value: number): string => String(Math.round(value * 10) / 10);

/** Splits a sentence between words into lines of at most `width` characters. */
export function wrapped(sentence: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of sentence.split(" ").filter((one) => one !== "")) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + word.length + 1 <= width) {
      lines[lines.length - 1] = `${last} ${word}`;
    } else lines.push(word);
  }
  return lines;
}

/** Escapes text for XML. Characters that XML cannot contain are replaced by visible Unicode symbols. */
const escape = (content: string): string =>
  content
    .replaceAll(/[\p{Cc}\p{Cs}\ufffe\uffff]/gu, pictured)
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");

/** Returns the Unicode symbol for a control character, or the replacement character. */
function pictured(character: string): string {
  if (character === "\n") return "\u23ce";
  const code = character.charCodeAt(0);
  return code < 0x20 ? String.fromCharCode(0x2400 + code) : "\ufffd";
}
