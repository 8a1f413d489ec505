/** A user's project: the packed package, the types of Node, and the versions of TypeScript in `package.json`. */

import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { read, ROOT } from "../support/documents.ts";
import { installHere } from "../support/pages.ts";

const HERE = path.join(ROOT, "test/typescript");
const MODULES = path.join(HERE, "node_modules");

const { dependencies }: { dependencies: object } = JSON.parse(read("test/typescript/package.json"));

/** The versions of TypeScript, oldest first: the last patch of each minor version. */
export const VERSIONS: readonly string[] = Object.keys(dependencies)
  .flatMap((name) => name.match(/(?<=^typescript-).+/) ?? [])
  .toSorted((a, b) => Number(a) - Number(b));

/** Returns the path of a file in a version of TypeScript. */
export const inVersion = (version: string, file: string): string =>
  path.join(MODULES, `typescript-${version}`, file);

/** For the option `skip` of a test. */
export const WITHOUT_VERSIONS =
  !fs.existsSync(MODULES) && "npm ci --prefix test/typescript --ignore-scripts installs TypeScript";

/** The types of Node that this package is compiled with, and the newest ones. */
export type NodeTypes = "node" | "node-newest";

/** Makes a project in a temporary folder, whose path is returned. Sources are copied from this folder. */
export function makeProject(...sources: readonly string[]): string {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "ndscatter-typescript-"));
  installHere(folder);
  for (const name of sources) fs.copyFileSync(path.join(HERE, name), path.join(folder, name));
  for (const name of fs.readdirSync(path.join(MODULES, "@types"))) {
    fs.mkdirSync(path.join(folder, name));
    fs.symlinkSync(path.join(MODULES, "@types", name), path.join(folder, name, "node"));
  }
  return folder;
}

/** The compiler options of a project. A library of types is not chosen, so that its lack is noticed. */
export const STRICT = {
  strict: true,
  skipLibCheck: false,
  // TypeScript's own declarations are skipped, which halves the time.
  skipDefaultLibCheck: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  noPropertyAccessFromIndexSignature: true,
  verbatimModuleSyntax: true,
  noEmit: true,
};
