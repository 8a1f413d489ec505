/**
 * Vite plugin for the site around the page. It creates the pages of `src/site/` when the page is built, and again for
 * each request while Vite serves the page. Node creates the pages, so their source is bundled first, like the tests.
 */

import { createHash } from "node:crypto";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";
import { parseSync } from "oxc-parser";
import { ENTRIES, library, REPOSITORY, ROOT } from "./entries.js";

const HOME = path.join(ROOT, "playground");
const SOURCE = path.join(HOME, "src", "site");
const TYPES = path.join(ROOT, "dist");

/** @returns the bundled code of one file in `src/site/` */
async function bundle(file, options) {
  const { outputFiles } = await build({
    entryPoints: [path.join(SOURCE, file)],
    bundle: true,
    write: false,
    format: "esm",
    target: "es2022",
    logLevel: "silent",
    ...options,
  });
  return outputFiles[0].text;
}

const inRepository = (...parts) => path.join(ROOT, ...parts);

/** Returns the files in `docs/` with one of these extensions, by their path in the repository. */
const inDocs = (ending) =>
  fs
    .readdirSync(inRepository("docs"), { recursive: true })
    .map((name) => `docs/${name.split(path.sep).join("/")}`)
    .filter((name) => ending.test(name))
    .toSorted();

/** Returns the descriptions that examples contain. */
const examples = () =>
  fs
    .readdirSync(inRepository("examples"))
    .map((name) => `examples/${name}/README.md`)
    .filter((name) => fs.existsSync(inRepository(name)))
    .toSorted();

const textOf = (name) => fs.readFileSync(inRepository(name), "utf8");

const ENDINGS = /\.(svg|png)$/;

/** Returns the pictures that documents show. */
const pictures = (documents) =>
  inDocs(ENDINGS).filter((name) =>
    Object.values(documents).some((text) => text.includes(path.basename(name))),
  );

function sources() {
  const paths = [
    "README.md",
    ...inDocs(/\.md$/),
    ...examples(),
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
  ];
  const documents = Object.fromEntries(paths.map((name) => [name, textOf(name)]));
  return {
    documents,
    pictures: pictures(documents),
    repository: REPOSITORY === "" ? null : REPOSITORY,
    entries: Object.fromEntries(
      Object.entries(ENTRIES).map(([name, file]) => [
        name,
        path.relative(TYPES, file).split(path.sep).join("/").replace(/js$/, "d.ts"),
      ]),
    ),
    readTypes: (file) => fs.readFileSync(path.join(TYPES, file), "utf8"),
    parse: parseSync,
  };
}

async function site() {
  const code = await bundle("site.ts", { plugins: [library], platform: "node" });
  // The bundle is written to a file, because stack traces with data URLs would be unreadably long.
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "ndscatter-site-"));
  try {
    const file = path.join(folder, "site.mjs");
    fs.writeFileSync(file, code);
    const { siteOf } = await import(pathToFileURL(file).href);
    return siteOf(sources());
  } finally {
    fs.rmSync(folder, { recursive: true });
  }
}

const style = () => bundle("style.css", { minify: true });
const theme = () => bundle("theme.ts", { minify: true, format: "iife" });
const search = () => bundle("search/search.ts", { minify: true, format: "iife" });

const KINDS = {
  ".css": "text/css",
  ".html": "text/html",
  ".js": "text/javascript",
  ".png": "image/png",
  ".svg": "image/svg+xml",
};

const SERVED = {
  style: "site/style.css",
  theme: "site/theme.js",
  search: "site/search.js",
  index: "site/index.js",
  icon: null,
};

/** Returns the development server's response to an address; null for addresses outside the site. */
async function answer(name) {
  if (name === SERVED.style) return style();
  if (name === SERVED.theme) return theme();
  if (name === SERVED.search) return search();
  if (name.startsWith("docs/") && ENDINGS.test(name)) return fs.readFileSync(inRepository(name));
  const made = await site();
  if (name === SERVED.index) return made.index;
  const all = [...made.pages(SERVED), ...made.pictures];
  return all.find((one) => one.name === name)?.text ?? null;
}

const OURS = /^\/(api|docs|reference|site)(\/|$)/;

export const siteAround = {
  name: "site",

  configureServer({ middlewares }) {
    middlewares.use((request, response, next) => {
      const [address] = (request.url ?? "").split(/[?#]/);
      if (!OURS.test(address)) {
        next();
        return;
      }
      const name = address.slice(1).replace(/\/$/, "/index.html");
      answer(name).then((found) => {
        if (found === null) {
          next();
          return;
        }
        response.setHeader("Content-Type", `${KINDS[path.extname(name)]}; charset=utf-8`);
        response.end(found);
      }, next);
    });
  },

  async generateBundle(_, outputs) {
    const emit = (fileName, source) => this.emitFile({ type: "asset", fileName, source });
    // Each content gets a unique name, because browsers cache files.
    const emitPart = (name, source) => {
      const hash = createHash("sha256").update(source).digest("hex").slice(0, 8);
      const named = `site/${name.replace(".", `-${hash}.`)}`;
      emit(named, source);
      return named;
    };
    const made = await site();
    const files = {
      style: emitPart("style.css", await style()),
      theme: emitPart("theme.js", await theme()),
      search: emitPart("search.js", await search()),
      index: emitPart("index.js", made.index),
      icon: Object.keys(outputs).find((name) => name.endsWith(".svg")) ?? null,
    };
    for (const { name, text } of [...made.pages(files), ...made.pictures]) emit(name, text);
    for (const name of sources().pictures) emit(name, fs.readFileSync(inRepository(name)));
  },
};
