/** The places in which the suite runs, and what each has to be. */

import { isOfSample } from "../files.ts";
import type { Place } from "./reports.ts";

export interface Pass {
  readonly name: string;
  readonly place: Place;
  /** The headers of the page and its script. */
  readonly headers: Readonly<Record<string, string>>;
  /** The sample: whose browsers run which files here at every commit. */
  readonly sample?: {
    readonly browsers: readonly string[];
    readonly has: (file: string) => boolean;
  };
}

/** The files of the sample about threads, which only a worker may wait for. */
const THREADS =
  /^platform\/(async|browser-workers|heap-gather|lifetimes|reserve|split-work|splits|threads|vjp-async|ways)$/;

/** The files of the sample about engines, of which one has no WebAssembly. */
const ENGINES =
  /^platform\/(arithmetic|engine|functions|js-entry|lifetimes|plan|properties|round-trip|tensor)$/;

const ISOLATION = {
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Embedder-Policy": "require-corp",
};

export const PASSES: readonly Pass[] = [
  {
    name: "a page",
    place: { isPage: true, isIsolated: false, kind: "wasm", threads: 1 },
    headers: {},
    sample: { browsers: ["Chromium", "Firefox", "WebKit"], has: isOfSample },
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
    sample: { browsers: ["Chromium", "Firefox"], has: (file) => THREADS.test(file) },
  },
  {
    name: "a page whose policy forbids WebAssembly",
    place: { isPage: true, isIsolated: false, kind: "js", threads: 1 },
    headers: { "Content-Security-Policy": "script-src 'self'" },
    sample: { browsers: ["Chromium"], has: (file) => ENGINES.test(file) },
  },
];
