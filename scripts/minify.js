/**
 * Minifies the files of the package: they take 440 kB of the packed tarball, and 590 kB as they are written. Source maps
 * would take as much again, and are not published: a build of the same version makes the same files, so a position in a
 * stack trace can be looked up there.
 */

import fs from "node:fs";
import { transform } from "esbuild";
import { parseSync, Visitor } from "oxc-parser";

/** Stands for the comment that marks a call as pure, which esbuild removes together with white space. */
const MARK = "__PURE__";

/** @param {readonly string[]} files to rewrite in place */
export async function minify(files) {
  for (const file of files) {
    const text = marked(file, fs.readFileSync(file, "utf8"));
    const { code } = await transform(text, {
      minify: true,
      format: "esm",
      target: "es2022",
      charset: "utf8",
    });
    fs.writeFileSync(file, code.replaceAll(`${MARK},`, "/*@__PURE__*/"));
  }
}

/** Replaces each comment that marks a call as pure by a name that esbuild keeps: `(__PURE__, call())`. */
function marked(file, text) {
  const { program, comments } = parseSync(file, text);
  /** The longest call that begins at a position. */
  const ends = new Map();
  const add = ({ start, end }) => ends.set(start, Math.max(end, ends.get(start) ?? 0));
  new Visitor({ CallExpression: add, NewExpression: add }).visit(program);
  const edits = comments
    .filter(({ value }) => value.includes("@__PURE__"))
    .flatMap(({ end }) => {
      const start = end + /^\s*/.exec(text.slice(end, end + 9))[0].length;
      return [
        { at: start, text: `(${MARK}, ` },
        { at: ends.get(start), text: ")" },
      ];
    });
  let result = text;
  for (const edit of edits.toSorted((a, b) => b.at - a.at)) {
    result = result.slice(0, edit.at) + edit.text + result.slice(edit.at);
  }
  return result;
}
