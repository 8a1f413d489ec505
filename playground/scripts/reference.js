/**
 * Vite's plugin for the reference: it makes the pages of `src/site/` when the page is built, and anew for each request
 * while Vite serves the page. The pages are made by Node, so their source is bundled, as that of the tests is.
 */

import { createHash } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { build } from "esbuild";
import { library, ROOT } from "./entries.js";

const HOME = path.join(ROOT, "playground");
const SOURCE = path.join(HOME, "src", "site");

/** @returns the text of the bundle of one file of `src/site/` */
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

const readDoc = (name) => fs.readFileSync(path.join(ROOT, "docs", `${name}.md`), "utf8");

/** The pages, whose links to files of the site are those of `files`. */
async function pages(files) {
  const code = await bundle("site.ts", { plugins: [library], platform: "node" });
  const address = `data:text/javascript;base64,${Buffer.from(code).toString("base64")}`;
  const { siteOf } = await import(address);
  const documents = {
    errata: readDoc("errata"),
    semantics: readDoc("semantics"),
    dialects: readDoc("dialects"),
  };
  return siteOf(documents, files);
}

const style = () => bundle("reference.css", { minify: true });
const theme = () => bundle("theme.ts", { minify: true, format: "iife" });

/** What the development server sends for an address below `/reference/`; null for what is not there. */
async function answer(name) {
  if (name === "reference.css") return { type: "text/css", text: await style() };
  if (name === "theme.js") return { type: "text/javascript", text: await theme() };
  const found = await pages({ style: "reference.css", theme: "theme.js", icon: null });
  const page = found.find((one) => one.name === (name === "" ? "index.html" : name));
  return page === undefined ? null : { type: "text/html", text: page.text };
}

export const reference = {
  name: "reference",

  configureServer({ middlewares }) {
    middlewares.use("/reference/", (request, response, next) => {
      answer((request.url ?? "").replace(/^\//, "").replace(/[?#].*/, "")).then((found) => {
        if (found === null) {
          next();
          return;
        }
        response.setHeader("Content-Type", `${found.type}; charset=utf-8`);
        response.end(found.text);
      }, next);
    });
  },

  async generateBundle(_, outputs) {
    const emit = (name, source) =>
      this.emitFile({ type: "asset", fileName: `reference/${name}`, source });
    // A name of its own for each content, because browsers keep files.
    const emitPart = (name, source) => {
      const named = name.replace(
        ".",
        `-${createHash("sha256").update(source).digest("hex").slice(0, 8)}.`,
      );
      emit(named, source);
      return named;
    };
    const icon = Object.keys(outputs).find((name) => name.endsWith(".svg"));
    const files = {
      style: emitPart("style.css", await style()),
      theme: emitPart("theme.js", await theme()),
      icon: icon === undefined ? null : `../${icon}`,
    };
    for (const { name, text } of await pages(files)) emit(name, text);
  },
};
