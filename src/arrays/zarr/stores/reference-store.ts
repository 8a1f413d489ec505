/**
 * Reads arrays and groups through a reference file of kerchunk, versions 0 and 1: JSON that maps keys to text, to files
 * and to parts of files. Nothing in a reference file is trusted. References are never written.
 */

import { malformed, unsupported } from "../../../core/errors.ts";
import { printValue } from "../../../core/foreign.ts";
import { isUrl } from "../../boxes/file.ts";
import { shownUrl, within } from "../../boxes/urls.ts";
import { integerIn, objectIn, wrongField } from "../fields.ts";
import { isList, isObject, parseJson, printJson, type Json, type JsonObject } from "../json.ts";
import { fingerprintOf, readKey } from "../read-key.ts";
import { SCHEMES } from "./store-options.ts";
import { memorySource, orPage, partOfSource, ReadOnlyStore } from "./store.ts";
import type { ArrayStore, Source } from "./store.ts";

/** The maximum size of a reference file, in bytes. A reference takes about 100 bytes. */
const MOST_BYTES = 2 ** 27;

/** The maximum length of a URL and of a template, because a short text can name a long template many times. */
const MOST_TEXT = 2 ** 12;

/** The maximum number of files on servers that stay open, so that each file's size is requested only once. */
const MOST_OPEN = 64;

/** The bytes of an object, or a file and the part of the file. Without a size, the part is the whole file. */
type Reference =
  | Uint8Array
  | { readonly url: string; readonly offset: number; readonly size: number | undefined };

/** Returns the store and the key of a file, whose path or URL may be relative to the reference file. */
type FileAt = (url: string) => Promise<{ readonly store: ArrayStore; readonly name: string }>;

/**
 * Opens the reference file under a key of another store, and returns the store of a folder in the file. Returns null if
 * the file does not exist, is empty or is metadata of Zarr. Throws `malformed-file` or `unsupported-file` for others.
 */
export async function openReferences(
  parent: ArrayStore,
  key: string,
  folder: string,
  fileAt: FileAt,
): Promise<ReferenceStore | null> {
  const file = within(parent.path, key);
  const text = await readKey(parent, key, (name) => parent.open(name), MOST_BYTES);
  const json = text === null || text.length === 0 ? null : parseJson(text, file);
  if (json === null || "zarr_format" in json) return null;
  // Version 0 consists of the references alone.
  const { version = 1, refs, templates = {}, gen = [] } = "refs" in json ? json : { refs: json };
  const what = version === 1 ? "gen, which generates references" : `version ${printValue(version)}`;
  if (version !== 1 || !isList(gen) || gen.length > 0) {
    const sentence = `${file} has ${what}; only reference files of versions 0 and 1 without gen can be read`;
    throw unsupported(sentence, { file });
  }
  const named = objectIn(templates, "templates", file);
  const list = Object.entries(objectIn(refs, "refs", file)).map(
    ([name, one]) => [name, parseReference(one, name, file, named)] as const,
  );
  return new ReferenceStore(file, folder, new Map(list), fileAt);
}

function parseReference(value: Json, key: string, file: string, templates: JsonObject): Reference {
  const name = `reference ${printValue(key)}`;
  // Metadata may be JSON instead of the text of JSON.
  const inline = isObject(value) ? printJson(value) : value;
  if (typeof inline === "string") return bytesOf(inline, name, file);
  const [text, ...range] = isList(value) ? value : [];
  if (typeof text !== "string" || ![0, 2].includes(range.length))
    throw wrongField(name, file, "text, an object, [url] or [url, offset, length]", value);
  const most = Number.MAX_SAFE_INTEGER;
  const [offset = 0, size] = range.map((one) => integerIn(one, name, 0, most, file));
  const url = text.slice(0, MOST_TEXT + 1).replaceAll(/\{\{ *(\w+) *\}\}/g, (whole, of: string) => {
    const template = Object.hasOwn(templates, of) ? templates[of] : null;
    return typeof template === "string" ? template.slice(0, MOST_TEXT + 1) : whole;
  });
  const [, scheme] = /^([a-z][a-z0-9+.-]+):\/\//i.exec(url) ?? [];
  const isOther = scheme !== undefined && !SCHEMES.includes(scheme.toLowerCase());
  // The author of a file on a server must not choose files of this machine.
  const isLocal = isUrl(file) && /^(?:[a-z]:|[/\\])/i.test(url);
  if (isLocal || isOther || url.length > MOST_TEXT || /\{\{|\0/.test(url)) {
    const must = isLocal
      ? "a URL or a relative path, because the file is on a server"
      : `a path or a URL of ${SCHEMES.join(", ")}, after substitution of {{names}} of templates`;
    throw wrongField(name, file, must, shownUrl(url.slice(0, MOST_TEXT)));
  }
  return { url, offset, size };
}

function bytesOf(text: string, name: string, file: string): Uint8Array {
  if (!text.startsWith("base64:")) return new TextEncoder().encode(text);
  try {
    return Uint8Array.from(atob(text.slice("base64:".length)), (one) => one.charCodeAt(0));
  } catch {
    throw wrongField(name, file, "valid base64", text);
  }
}

/** The references whose keys are in a folder. */
export class ReferenceStore extends ReadOnlyStore<Reference> implements ArrayStore {
  readonly concurrency = 8;
  readonly #fileAt: FileAt;
  readonly #opened = new Map<string, Source>();

  constructor(file: string, folder: string, refs: ReadonlyMap<string, Reference>, fileAt: FileAt) {
    super(file, folder, refs);
    this.#fileAt = fileAt;
  }

  async open(key: string): Promise<Source | null> {
    const found = this.find(key);
    if (found === undefined || found instanceof Uint8Array)
      return found ? memorySource(found.slice()) : null;
    const { url, offset } = found;
    const { store, name } = await this.#fileAt(url);
    const source = this.#opened.get(url) ?? (await store.open(name));
    const { size = source?.size ?? 0 } = found;
    if (source !== null && offset + size <= source.size) {
      // A source without a state notices changes of the file, and need not be closed.
      if (source.state === undefined && this.#opened.size < MOST_OPEN)
        this.#opened.set(url, source);
      return { ...partOfSource(source, offset, size), close: () => source.close() };
    }
    await source?.close();
    const file = within(store.path, name);
    const what =
      source === null
        ? `${file}, which does not exist${orPage(store)}`
        : `bytes ${offset} to ${offset + size} of ${file}, which has ${source.size} bytes`;
    throw malformed(`the reference ${printValue(key)} of ${this.path} names ${what}`, {
      file,
      key,
    });
  }

  async stateOf(key: string): Promise<string> {
    const found = this.find(key);
    if (found === undefined || found instanceof Uint8Array)
      return found ? fingerprintOf(found) : "";
    const { store, name } = await this.#fileAt(found.url);
    return `${found.offset} ${found.size} ${within(store.path, name)} ${await store.stateOf(name)}`;
  }

  async sizeOf(key: string): Promise<number | null> {
    const found = this.find(key);
    if (found !== undefined && "url" in found && found.size !== undefined) return found.size;
    const source = await this.open(key);
    await source?.close();
    return source?.size ?? null;
  }
}
