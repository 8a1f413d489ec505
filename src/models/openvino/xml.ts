/**
 * Reads and writes the XML of an IR: tags, attributes and text. Document types, CDATA, processing instructions and
 * custom entities are refused. IRs do not use these features, which could refer to other files or expand beyond their
 * own length.
 */

import { parseXml as parse, XmlElement, XmlText } from "@rgrove/parse-xml";

import { factOf, printValue } from "../../core/foreign.ts";
import { isError, malformed, messageOf, TensorError, unsupported } from "../../core/errors.ts";
import { isPage, PAGE, plainBytes, type Bytes } from "../../core/tensor/bytes.ts";

export interface Element {
  readonly name: string;
  readonly attributes: ReadonlyMap<string, string>;
  readonly children: readonly Element[];
  /** The element's own text, without surrounding blanks. */
  readonly text: string;
}

export const element = (
  name: string,
  attributes: Iterable<readonly [string, string]> = [],
  children: readonly Element[] = [],
  text = "",
): Element => ({ name, attributes: new Map(attributes), children, text });

/**
 * The maximum length of a document, in characters. The IR of a model with 7 billion parameters has 4 million
 * characters.
 */
const MAX_LENGTH = 2 ** 25;

/** The maximum number of tags. An IR has about 25 tags per layer, and parsing takes about 600 bytes per tag. */
const MAX_TAGS = 2 ** 20;

/** The maximum depth of nested elements. In a body within a body, a port's dimension is at depth 14. */
const MAX_XML_DEPTH = 64;

/** The encoding that a document's declaration names. */
const ENCODING = /^\uFEFF?<\?xml\s[^>]*?\bencoding\s*=\s*["']([^"']*)/;

/** A declaration, which is no markup of the document's own. */
const DECLARATION = /^\uFEFF?<\?xml\s+version\s*=\s*["']1\.0["'][^>]*\?>/;

/** Characters that XML forbids, except halves of surrogate pairs. */
// oxlint-disable-next-line no-control-regex
const FORBIDDEN = /[\0-\u0008\u000B\u000C\u000E-\u001F\uFFFE\uFFFF]/;

/**
 * Parses a document and returns its root element. Throws `malformed-file` for a document that is not well-formed or
 * contains a construct foreign to IRs, `unsupported-file` for an encoding other than UTF-8, `too-large` for more than
 * 2^25 characters or 2^20 tags, and for elements that are nested too deeply.
 */
export function parseXml(xml: string | Bytes): Element {
  const text = typeof xml === "string" ? xml : decodeXml(xml);
  // A short text without tags is probably a path.
  if (text === xml && text !== "" && text.length < 4096 && !text.includes("<")) {
    const must = "the XML must be the text of an IR, or its bytes";
    const sentence = `${must}, got ${printValue(text)}; pass the contents of the file: await readFile(path)`;
    throw malformed(sentence, { key: "xml", got: factOf(text) });
  }
  const [, encoding = "UTF-8"] = ENCODING.exec(text) ?? [];
  if (!/^utf-?8$/i.test(encoding)) {
    throw unsupported(`the XML is in ${encoding}, but an IR is in UTF-8`, {
      key: "encoding",
      got: encoding,
      expected: "UTF-8",
    });
  }
  if (isPage(text)) {
    const { name: got, advice } = PAGE;
    throw unsupported(`the XML must be an IR, got ${got}; ${advice}`, { got });
  }
  checkText(text.replace(DECLARATION, ""));
  return elementFrom(parsed(text), 1);
}

function decodeXml(given: unknown): string {
  const bytes = plainBytes(given, "the XML must be text,");
  if (bytes.length > 3 * MAX_LENGTH) throw tooLargeXml(`${bytes.length} bytes`);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (cause) {
    throw malformed("the XML must be UTF-8", {}, { cause });
  }
}

const tooLargeXml = (what: string): TensorError =>
  new TensorError("too-large", `the XML has ${what}, which is more than an IR has`);

/** Refuses markup that an IR does not have, and documents that would take too much memory. */
function checkText(text: string): void {
  if (text.length > MAX_LENGTH) throw tooLargeXml(`${text.length} characters`);
  const markup = /<(?:!(?!--)|\?)[^<>]{0,30}/.exec(text);
  if (markup !== null) {
    throw malformed(
      `the XML holds ${printValue(markup[0])}, but an IR has no document type, entities, CDATA or instructions`,
    );
  }
  let tags = 0;
  for (let at = text.indexOf("<"); at !== -1; at = text.indexOf("<", at + 1)) tags++;
  if (tags > 2 * MAX_TAGS) throw tooLargeXml(`more than ${MAX_TAGS} tags`);
}

function parsed(text: string): XmlElement {
  try {
    // The parser would replace one line break at a time, in a time that grows with the square of their number.
    const { root } = parse(text.replaceAll(/\r\n?/g, "\n"));
    if (root !== null) return root;
  } catch (cause) {
    // Deeply nested elements overflow the stack.
    if (isError(cause, "RangeError"))
      throw new TensorError("too-large", "the XML is nested too deeply", {}, { cause });
    // The message continues with the line of the document.
    const [reason] = messageOf(cause).split("\n");
    throw malformed(`the XML is not well-formed: ${reason}`, {}, { cause });
  }
  throw malformed("the XML is not well-formed: it must have a root element");
}

function elementFrom({ name, attributes, children }: XmlElement, depth: number): Element {
  if (depth > MAX_XML_DEPTH) {
    const sentence = `the XML is nested too deeply: more than ${MAX_XML_DEPTH} elements`;
    throw new TensorError("too-large", sentence, { limit: MAX_XML_DEPTH });
  }
  return {
    name,
    attributes: new Map(Object.entries(attributes)),
    children: children
      .filter((child) => child instanceof XmlElement)
      .map((child) => elementFrom(child, depth + 1)),
    text: children.map((child) => (child instanceof XmlText ? child.text.trim() : "")).join(""),
  };
}

/** Prints a document with one element per line. */
export function printXml(root: Element): string {
  const lines = ['<?xml version="1.0"?>'];
  const print = ({ name, attributes, children, text }: Element, indent: string): void => {
    const facts = [...attributes].map(
      ([key, value]) => ` ${checkName(key)}="${escapeText(value)}"`,
    );
    const open = `${indent}<${checkName(name)}${facts.join("")}`;
    if (children.length === 0) {
      lines.push(text === "" ? `${open}/>` : `${open}>${escapeText(text)}</${name}>`);
      return;
    }
    lines.push(`${open}>${escapeText(text)}`);
    for (const child of children) print(child, `${indent}\t`);
    lines.push(`${indent}</${name}>`);
  };
  print(root, "");
  return `${lines.join("\n")}\n`;
}

/** Matches a name with letters of any script, but without XML's markup characters. */
const NAME = /^[A-Za-z_:\u00C0-\uFFFD][\w:.\-\u00B7-\uFFFD]*$/;

function checkName(name: string): string {
  if (NAME.test(name)) return name;
  throw new TensorError("unsupported-model", `${printValue(name)} cannot be a name in XML`, {
    key: "name",
    got: factOf(name),
  });
}

function escapeText(text: string): string {
  const fault = FORBIDDEN.exec(text) ?? /\p{Surrogate}/u.exec(text);
  if (fault !== null) {
    const sentence = `XML cannot hold a character of ${printValue(text)}`;
    throw new TensorError("unsupported-model", sentence, { key: "text", got: factOf(text) });
  }
  // XML readers replace unescaped line breaks and tabs in attributes by spaces.
  return text.replaceAll(
    /[&<>"\n\r\t]/g,
    (character) => ESCAPES[character] ?? `&#${character.charCodeAt(0)};`,
  );
}

const ESCAPES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
};
