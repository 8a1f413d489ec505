/**
 * Minifies the files of the package, which take 590 kB of the packed tarball as they are written, and 435 kB afterwards.
 * Source maps would take as much as the code, and are not published: a build of the same version makes the same files,
 * so a position in a stack trace can be looked up there.
 */

import fs from "node:fs";
import path from "node:path";
import { build } from "esbuild";
import { parseSync, Visitor } from "oxc-parser";

/** Stands for the comment that marks a call as pure, which esbuild removes together with white space. */
const MARK = "__PURE__";

/**
 * Minifies a bundle, and returns the text of each file. Only another bundling shortens the names under which parts import from each other; they
 * take 11 kB.
 * @param {string} folder of the bundle
 * @param {readonly string[]} entries paths of the files that keep their names
 */
export async function minify(folder, entries) {
  const { outputFiles } = await build({
    entryPoints: entries.map((file) => ({
      in: file,
      out: path.relative(folder, file).replace(/\.js$/, ""),
    })),
    outdir: folder,
    bundle: true,
    splitting: true,
    chunkNames: "parts/[hash]",
    packages: "external",
    plugins: [markedFiles],
    minify: true,
    // Node prints the line of an uncaught error, which would otherwise be the whole file. A limit of 200 characters takes
    // 12 kB more of the packed tarball, because gzip finds fewer repeats.
    lineLimit: 1000,
    write: false,
    format: "esm",
    platform: "neutral",
    target: "es2022",
    charset: "utf8",
  });
  fs.rmSync(path.join(folder, "parts"), { recursive: true });
  fs.mkdirSync(path.join(folder, "parts"));
  return new Map(
    outputFiles.map(({ path: file, text }) => [
      file,
      text
        .replaceAll(`${MARK},`, "/*@__PURE__*/")
        // Nothing here has side effects, so an import without names would only cause warnings of bundlers.
        .replaceAll(/(?<=^|;)import"\.[^"]*";/gm, ""),
    ]),
  );
}

const markedFiles = {
  name: "marked-files",
  setup({ onLoad }) {
    onLoad({ filter: /\.js$/ }, ({ path: file }) => ({
      contents: marked(file, fs.readFileSync(file, "utf8")),
    }));
  },
};

/**
 * Replaces each comment that marks a call as pure by a name that esbuild keeps: `(__PURE__, call())`, and gives errors
 * and arrays a static name, which Node prints.
 */
function marked(file, text) {
  const { program, comments } = parseSync(file, text);
  /** End of the longest call that begins at a position. */
  const ends = new Map();
  const add = ({ start, end }) => ends.set(start, Math.max(end, ends.get(start) ?? 0));
  const names = [];
  const name = ({ id, superClass, body }, as = id?.name) => {
    if (as === undefined || (superClass?.name !== "Error" && !as.endsWith("Array"))) return;
    names.push({ at: body.start + 1, text: `static name=${JSON.stringify(as)};` });
  };
  new Visitor({
    CallExpression: add,
    NewExpression: add,
    ClassDeclaration: (node) => name(node),
    VariableDeclarator: ({ id, init }) => {
      if (init?.type === "ClassExpression") name(init, id.name);
    },
  }).visit(program);
  const marks = comments
    .filter(({ value }) => value.includes("@__PURE__"))
    .flatMap(({ end }) => {
      const [space] = /^\s*/.exec(text.slice(end));
      const start = end + space.length;
      return [
        { at: start, text: `(${MARK}, ` },
        { at: ends.get(start), text: ")" },
      ];
    });
  let result = text;
  for (const edit of [...marks, ...names].toSorted((a, b) => b.at - a.at)) {
    result = result.slice(0, edit.at) + edit.text + result.slice(edit.at);
  }
  return result;
}
