/**
 * Reads and writes the XML of an IR: tags, attributes and text. Document types, CDATA, processing instructions and
 * custom entities are refused. IRs do not use these features, which could refer to other files or expand beyond their
 * own length.
 */

import { XMLParser, XMLValidator } from "fast-xml-parser";

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

/**
 * The maximum length of a run of blanks. The validator's time is quadratic in this length: 50,000 spaces in a tag take
 * 1.1 s.
 */
const MAX_BLANKS = 128;

/** The maximum number of characters between two tags. Attributes with 8 million characters overflow the stack. */
const MAX_TAG_LENGTH = 2 ** 20;

/**
 * The maximum number of attributes in a tag, counted by equality signs. A tag with 2.6 million attributes takes 32 s
 * and 2.8 GB.
 */
const MAX_ATTRIBUTES = 2 ** 14;

const DECLARATION = new RegExp(
  [
    String.raw`^\uFEFF?(?:<\?xml\s+version\s*=\s*["']1\.0["']`,
    String.raw`(?:\s+encoding\s*=\s*["']([A-Za-z][\w.-]*)["'])?`,
    String.raw`(?:\s+standalone\s*=\s*["'](?:yes|no)["'])?\s*\?>)?`,
  ].join(""),
);

/** Characters that XML forbids, except halves of surrogate pairs. */
// oxlint-disable-next-line no-control-regex
const FORBIDDEN = /[\0-\u0008\u000B\u000C\u000E-\u001F\uFFFE\uFFFF]/;

/** The name of an added element around the document, which makes text beside the root detectable. */
const WRAPPER = "document";

/**
 * Parses a document and returns its root element. Throws `malformed-file` for a document that is not well-formed or
 * contains a construct foreign to IRs, `unsupported-file` for an encoding other than UTF-8, `too-large` for more than
 * 2^25 characters or 2^20 tags, and for more than 2^20 characters or 2^14 attributes in a tag.
 */
export function parseXml(xml: string | Bytes): Element {
  const text = typeof xml === "string" ? xml : decodeXml(xml);
  // A short text without tags is probably a path.
  if (text === xml && text !== "" && text.length < 4096 && !text.includes("<")) {
    const must = "the XML must be the text of an IR, or its bytes";
    const sentence = `${must}, got ${printValue(text)}; pass the contents of the file: await readFile(path)`;
    throw malformed(sentence, { key: "xml", got: factOf(text) });
  }
  const [declaration, encoding = "UTF-8"] = DECLARATION.exec(text) ?? [""];
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
  const body = text.slice(declaration.length);
  checkText(body);
  const fault = guarded(() => XMLValidator.validate(body));
  if (fault !== true) {
    const { msg, line } = fault.err;
    throw malformed(`the XML is not well-formed: ${msg} (line ${line})`);
  }
  const { children, text: beside } = elementOfPart(WRAPPER, undefined, parse(body));
  if (children.length === 1 && beside === "") return children[0];
  throw malformed("the XML is not well-formed: it must have a single root element");
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

/** Refuses text that the XML library would accept wrongly or process slowly. */
function checkText(text: string): void {
  if (text.length > MAX_LENGTH) throw tooLargeXml(`${text.length} characters`);
  if (FORBIDDEN.test(text)) throw malformed("the XML holds a character that XML forbids");
  const markup = /<(?:!(?!--)|\?)[^<>]{0,30}/.exec(text);
  if (markup !== null) {
    throw malformed(
      `the XML holds ${printValue(markup[0])}, but an IR has no document type, entities, CDATA or instructions`,
    );
  }
  let tags = 0;
  let start = 0;
  let equals = 0;
  let blank = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === LESS) {
      if (++tags > 2 * MAX_TAGS) throw tooLargeXml(`more than ${MAX_TAGS} tags`);
      equals = 0;
      start = at;
    } else if (code === EQUALS && ++equals > MAX_ATTRIBUTES) {
      throw tooLargeXml(`a tag with more than ${MAX_ATTRIBUTES} equality signs`);
    }
    if (at - start > MAX_TAG_LENGTH)
      throw tooLargeXml(`a tag or text of more than ${MAX_TAG_LENGTH} characters`);
    blank = code <= SPACE ? blank + 1 : 0;
    if (blank > MAX_BLANKS)
      throw malformed(`the XML has more than ${MAX_BLANKS} blanks in a row`, {
        limit: MAX_BLANKS,
      });
  }
}

const LESS = 0x3c;
const EQUALS = 0x3d;
const SPACE = 0x20;

/** The XML library's prefix for attribute names, which keeps names apart from inherited object properties. */
const ATTRIBUTE_PREFIX = "@_";

/**
 * A part of a document as the XML library returns it: a text, or a tag with its parts. Attributes are under the key
 * `:@`.
 */
type Part = Readonly<Record<string, unknown>>;

function parse(body: string): readonly Part[] {
  const parser = new XMLParser({
    // The parser returns lists, so that a tag name such as `__proto__` cannot become a property.
    preserveOrder: true,
    ignoreAttributes: false,
    attributeNamePrefix: ATTRIBUTE_PREFIX,
    // This file trims blanks and decodes entities itself.
    trimValues: false,
    tagValueProcessor: (_name, value) => value.trim(),
    parseTagValue: false,
    parseAttributeValue: false,
    processEntities: false,
    maxNestedTags: MAX_XML_DEPTH,
  });
  const [root]: readonly Part[] = guarded(() => parser.parse(`<${WRAPPER}>${body}</${WRAPPER}>`));
  return root[WRAPPER] as readonly Part[];
}

/** Runs code of the XML library, and converts any error to a TensorError. */
function guarded<T>(action: () => T): T {
  try {
    return action();
  } catch (cause) {
    const code = isError(cause, "RangeError") ? "too-large" : "malformed-file";
    throw new TensorError(code, `the XML cannot be read: ${messageOf(cause)}`, {}, { cause });
  }
}

function elementOfPart(name: string, given: unknown, parts: readonly Part[]): Element {
  const attributes = new Map<string, string>();
  for (const [prefixed, value] of Object.entries(given ?? {})) {
    const key = prefixed.slice(ATTRIBUTE_PREFIX.length);
    const raw = String(value);
    if (raw.includes("<"))
      throw malformed(`the XML has a "<" in the attribute ${key} of <${name}>`);
    attributes.set(key, unescapeText(raw));
  }
  const children: Element[] = [];
  let text = "";
  for (const part of parts) {
    const { ":@": its, "#text": words, ...rest } = part;
    if (words !== undefined) text += unescapeText(String(words));
    for (const [tag, inner] of Object.entries(rest)) {
      children.push(elementOfPart(tag, its, inner as readonly Part[]));
    }
  }
  return { name, attributes, children, text };
}

const ENTITIES: ReadonlyMap<string, string> = new Map([
  ["lt", "<"],
  ["gt", ">"],
  ["amp", "&"],
  ["quot", '"'],
  ["apos", "'"],
]);

const unescapeText = (text: string): string =>
  text.includes("&") ? text.replaceAll(/&([^;&]{0,12};?)/g, decodeEntity) : text;

function decodeEntity(whole: string, name: string): string {
  const plain = ENTITIES.get(name.slice(0, -1));
  if (plain !== undefined && name.endsWith(";")) return plain;
  const [, decimal, hex] = /^#(?:(\d{1,7})|x([\da-fA-F]{1,6}));$/.exec(name) ?? [];
  const code = decimal !== undefined ? Number(decimal) : parseInt(hex ?? "", 16);
  const isCharacter = code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
  if (isCharacter && !FORBIDDEN.test(String.fromCodePoint(code))) return String.fromCodePoint(code);
  throw malformed(
    `the XML has ${printValue(whole)}, which is not an entity; use &amp;, &lt;, &gt;, &quot;, &apos; or a number such as &#65;`,
  );
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
    throw new TensorError(
      "unsupported-model",
      `XML cannot hold a character of ${printValue(text)}`,
      { key: "text", got: factOf(text) },
    );
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
