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
          // All modules of the first load form one file. Otherwise, each module that the first load shares with code that
          // loads later is a file of its own, and files that import each other run before what they import is there.
          groups: [{ name: "page", tags: ["$initial"] }],
        },
      },
    },
  },
});
