/** The places in which the suite runs, and what each has to be. */

import type { Place } from "./reports.ts";

export interface Pass {
  readonly name: string;
  readonly place: Place;
  /** The headers of the page and its script. */
  readonly headers: Readonly<Record<string, string>>;
}

const ISOLATION = {
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Embedder-Policy": "require-corp",
};

export const PASSES: readonly Pass[] = [
  {
    name: "a page",
    place: { isPage: true, isIsolated: false, kind: "wasm", threads: 1 },
    headers: {},
  },
  {
    // It may share memory, but a page may not wait for threads.
    name: "an isolated page",
    place: { isPage: true, isIsolated: true, kind: "wasm", threads: 1 },
    headers: ISOLATION,
  },
  {
    name: "a worker of an isolated page",
    place: { isPage: false, isIsolated: true, kind: "wasm", threads: 2 },
    headers: ISOLATION,
  },
  {
    name: "a page whose policy forbids WebAssembly",
    place: { isPage: true, isIsolated: false, kind: "js", threads: 1 },
    headers: { "Content-Security-Policy": "script-src 'self'" },
  },
];
