import { defineConfig } from "vite";
import { ENTRIES, REPOSITORY, ROOT, VERSION } from "./scripts/entries.js";
import { siteAround } from "./scripts/site.js";

/**
 * Content security policy: the page may load only its own files and pictures that it creates, and must not send any data
 * to another origin. Models run in WebAssembly, in a worker from a blob, which inherits this policy.
 */
const POLICY = [
  "default-src 'none'",
  // Allows the preview of an embedded frame.
  "frame-src 'self'",
  "script-src 'self' 'wasm-unsafe-eval'",
  "worker-src 'self' blob:",
  "connect-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "base-uri 'none'",
  "form-action 'none'",
].join("; ");

/** Adds the policy to the build only, because Vite's development server reloads the page through a socket. */
const policy = {
  name: "policy",
  apply: "build",
  transformIndexHtml: () => [
    {
      tag: "meta",
      attrs: { "http-equiv": "Content-Security-Policy", content: POLICY },
      injectTo: "head-prepend",
    },
  ],
};

export default defineConfig({
  root: import.meta.dirname,
  // Relative addresses let the files work from any path.
  base: "./",
  plugins: [policy, siteAround],
  define: { REPOSITORY: JSON.stringify(REPOSITORY), VERSION: JSON.stringify(VERSION) },
  resolve: {
    alias: Object.entries(ENTRIES).map(([name, file]) => ({
      find: new RegExp(`^${name}$`),
      replacement: file,
    })),
  },
  worker: { format: "es" },
  server: { host: "127.0.0.1", fs: { allow: [ROOT] } },
  build: {
    target: "es2022",
    // Parts of the page's own script are preloaded with it. File readers are loaded when a file is dropped; preloading
    // their parts would add more code than it saves time.
    modulePreload: {
      polyfill: false,
      resolveDependencies: (_, parts, { hostType }) => (hostType === "html" ? parts : []),
    },
    assetsInlineLimit: 0,
    rolldownOptions: {
      output: {
        codeSplitting: {
          // Modules of the first load that share their entries form one file, and small files are merged. Without this
          // group the first load has 15 scripts and 95 kB instead of 2 and 88, because each file is compressed alone.
          groups: [
            {
              name: "page",
              tags: ["$initial"],
              entriesAware: true,
              entriesAwareMergeThreshold: 100_000,
            },
          ],
        },
      },
    },
  },
});
