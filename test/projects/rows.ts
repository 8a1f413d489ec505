/** The projects: bundlers, test runners and runtimes, with exact versions, commands, and expected values. */

import * as path from "node:path";

/** A file of a project, by its path in the project: a file of `sources/`, or a text. */
export type File = string | { readonly text: string };

export interface Project {
  readonly name: string;
  readonly packages: Readonly<Record<string, string>>;
  readonly files: Readonly<Record<string, File>>;
  readonly commands: readonly (readonly string[])[];
  /** The folder of the built page; absent if the last command prints the results. */
  readonly page?: string;
  /** The command that serves the page or the worker on the port `PORT`; a folder is served without it. */
  readonly serve?: readonly string[];
  readonly headers?: Readonly<Record<string, string>>;
  readonly expected: object;
  /** True if the last command is a test runner, which compares the results itself. */
  readonly isTest?: true;
  /** More fields of package.json. */
  readonly manifest?: object;
  /** A program that the packages cannot always bring. */
  readonly binary?: string;
}

const TABLE = [
  [3, 4, 5],
  [6, 7, 8],
];

const PAGE = {
  sums: [1, 12, 3, 24],
  last: [4, 1],
  table: TABLE,
  signed: TABLE,
};

/** Results where compiling WebAssembly is forbidden. */
const REFUSAL = { code: "engine", expected: "'wasm-unsafe-eval'" };
const WITHOUT_WASM = { ...PAGE, table: REFUSAL, signed: REFUSAL };

const NODE = {
  sums: [1, 10, 3],
  taken: [
    [61, 82],
    [37, 48],
    [61, 82],
  ],
  missing: "malformed-file",
  missingNpy: "malformed-file",
  exists: "attribute",
  aborted: "AbortError",
};

const SOURCES = ["page.js", "page-results.js", "index.html"];
const PAGE_FILES = Object.fromEntries(SOURCES.map((name) => [name, name]));
const POLICY_FILES = { ...PAGE_FILES, "page.js": "policy-page.js" };
const NODE_FILES = { "node-results.js": "node-results.js", "run.ts": "run.ts" };
const TEST_FILES = {
  "node-results.js": "node-results.js",
  "results.test.js": "results.test.js",
  "expected.js": { text: `export const EXPECTED = ${JSON.stringify(NODE)};` },
};

const bin = (name: string): string => path.join("node_modules/.bin", name);
const ESBUILD = { esbuild: "0.28.2" };
const COPY = ["cp", "index.html", "dist/"];
const bundled = (entry: string, ...more: string[]): string[] => [
  ...[bin("esbuild"), entry, "--bundle", "--splitting", "--format=esm", "--outdir=dist"],
  ...["--minify", "--log-level=warning", ...more],
];

const policy = (value: string): Readonly<Record<string, string>> => ({
  "Content-Security-Policy": value,
});

export const PROJECTS: readonly Project[] = [
  {
    name: "webpack 5",
    packages: { webpack: "5.113.0", "webpack-cli": "7.3.1" },
    files: PAGE_FILES,
    commands: [
      [
        bin("webpack"),
        "--mode",
        "production",
        "./page.js",
        "-o",
        "dist",
        "--output-filename",
        "page.js",
        // The page imports the whole package, which is larger than webpack recommends. Other tests limit its size.
        "--no-performance",
      ],
      COPY,
    ],
    page: "dist",
    expected: PAGE,
  },
  {
    name: "Rollup",
    packages: { rollup: "4.68.8", "@rollup/plugin-node-resolve": "16.0.3" },
    files: PAGE_FILES,
    commands: [
      [
        bin("rollup"),
        "page.js",
        "--dir",
        "dist",
        "--plugin",
        "node-resolve",
        "--failAfterWarnings",
      ],
      COPY,
    ],
    page: "dist",
    expected: PAGE,
  },
  {
    name: "Parcel",
    packages: { parcel: "2.16.4" },
    files: PAGE_FILES,
    manifest: { "@parcel/resolver-default": { packageExports: true } },
    commands: [[bin("parcel"), "build", "index.html", "--no-source-maps"]],
    page: "dist",
    expected: PAGE,
  },
  {
    name: "Vite",
    packages: { vite: "8.3.8" },
    files: PAGE_FILES,
    commands: [[bin("vite"), "build"]],
    page: "dist",
    expected: PAGE,
  },
  {
    name: "esbuild",
    packages: ESBUILD,
    files: PAGE_FILES,
    commands: [bundled("page.js"), COPY],
    page: "dist",
    expected: PAGE,
  },
  {
    name: "CSP with wasm-unsafe-eval",
    packages: ESBUILD,
    files: POLICY_FILES,
    commands: [bundled("page.js"), COPY],
    page: "dist",
    headers: policy("default-src 'self'; script-src 'self' 'wasm-unsafe-eval'"),
    expected: { ...PAGE, engine: ["wasm", false] },
  },
  {
    name: "CSP of self alone",
    packages: ESBUILD,
    files: POLICY_FILES,
    commands: [bundled("page.js"), COPY],
    page: "dist",
    headers: policy("default-src 'self'; script-src 'self'"),
    expected: { ...WITHOUT_WASM, engine: ["js", true] },
  },
  {
    name: "Next",
    packages: { next: "16.4.6", react: "19.2.0", "react-dom": "19.2.0" },
    files: {
      "page-results.js": "page-results.js",
      "pages/index.js": "next-page.js",
      "public/favicon.ico": { text: "" },
    },
    commands: [[bin("next"), "build"]],
    serve: [bin("next"), "start", "--port", "PORT", "--hostname", "127.0.0.1"],
    page: "public",
    expected: { ...PAGE, zeros: [1, 0, 3] },
  },
  {
    name: "workerd",
    packages: { ...ESBUILD, workerd: "1.20261117.1" },
    files: {
      ...{ "page-results.js": "page-results.js", "worker.js": "worker.js" },
      "workerd.capnp": "workerd.capnp",
    },
    commands: [
      [bin("esbuild"), "worker.js", "--bundle", "--format=esm", "--outdir=dist"].concat(
        "--log-level=warning",
      ),
    ],
    serve: [bin("workerd"), "serve", "workerd.capnp", "--socket-addr=http=127.0.0.1:PORT"],
    expected: WITHOUT_WASM,
  },
  {
    name: "Jest 30",
    packages: { jest: "30.5.2" },
    files: TEST_FILES,
    commands: [
      [
        ...["node", "--experimental-vm-modules", "--disable-warning=ExperimentalWarning"],
        ...["node_modules/jest/bin/jest.js", "--testTimeout=60000"],
      ],
    ],
    isTest: true,
    expected: NODE,
  },
  {
    name: "Vitest with vmThreads",
    packages: { vitest: "5.1.1" },
    files: TEST_FILES,
    commands: [[bin("vitest"), "run", "--pool=vmThreads", "--globals", "--testTimeout=60000"]],
    isTest: true,
    expected: NODE,
  },
  {
    name: "tsx",
    packages: { tsx: "4.23.15" },
    files: NODE_FILES,
    commands: [[bin("tsx"), "run.ts"]],
    expected: NODE,
  },
  {
    name: "Bun",
    packages: { "@oven/bun-linux-x64-baseline": "1.4.5" },
    files: NODE_FILES,
    commands: [["node_modules/@oven/bun-linux-x64-baseline/bin/bun", "run.ts"]],
    expected: NODE,
    binary: "node_modules/@oven/bun-linux-x64-baseline/bin/bun",
  },
  {
    name: "Deno",
    packages: { "@deno/linux-x64-glibc": "2.9.6" },
    files: NODE_FILES,
    commands: [["node_modules/@deno/linux-x64-glibc/deno", "run", "-A", "run.ts"]],
    expected: NODE,
    binary: "node_modules/@deno/linux-x64-glibc/deno",
  },
  {
    name: "Electron",
    packages: { electron: "45.5.0" },
    manifest: { main: "main.js" },
    files: { "node-results.js": "node-results.js", "main.js": "electron.js" },
    commands: [["xvfb-run", "-a", "node_modules/electron/dist/electron", ".", "--no-sandbox"]],
    expected: NODE,
    binary: "node_modules/electron/dist/electron",
  },
];
