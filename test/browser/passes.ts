/** Where the suite runs, what each place has to be, and the files that stay out of it. */

import type { Place } from "./reports.ts";

export interface Pass {
  readonly name: string;
  readonly place: Place;
  /** The headers of the page and its script. */
  readonly headers: Readonly<Record<string, string>>;
  readonly leftOut: readonly string[];
}

/** The files that need Node, and what for. */
const OF_NODE: Readonly<Record<string, string>> = {
  assert: "to compare the stand-in for node:assert with it",
  cli: "to run the command",
  conformance: "to run the command over folders",
  docs: "to read the documents",
  fallback: "to start it with less than it has",
  mutants: "to load a script",
  progress: "to load a part of the command",
  readme: "to read the README",
  "typed-shape": "to run the compiler",
};

/** The files that compare all engines, or parts of the one in WebAssembly. */
const OF_WEBASSEMBLY = [
  "arithmetic",
  "async",
  "duplicates",
  "errors",
  "errors-indices",
  "errors-shapes",
  "examples",
  "kept-plan",
  "offsets",
  "policies",
  "properties",
  "splits",
  "threads",
];

const ISOLATION = {
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Embedder-Policy": "require-corp",
};

const leftOut = Object.keys(OF_NODE);

export const PASSES: readonly Pass[] = [
  {
    name: "a page",
    place: { isPage: true, isIsolated: false, kind: "wasm", threads: 1 },
    headers: {},
    leftOut,
  },
  {
    // It may share memory, but a page may not wait for threads.
    name: "an isolated page",
    place: { isPage: true, isIsolated: true, kind: "wasm", threads: 1 },
    headers: ISOLATION,
    leftOut,
  },
  {
    name: "a worker of an isolated page",
    place: { isPage: false, isIsolated: true, kind: "wasm", threads: 2 },
    headers: ISOLATION,
    leftOut,
  },
  {
    name: "a page whose policy forbids WebAssembly",
    place: { isPage: true, isIsolated: false, kind: "js", threads: 1 },
    headers: { "Content-Security-Policy": "script-src 'self'" },
    leftOut: [...leftOut, ...OF_WEBASSEMBLY],
  },
];
