/**
 * Preloaded into the processes of a clean run and into their workers, which preload CommonJS only: appends the number
 * of each site that is reached to a file, once, and immediately, so that it is there even when the process is killed.
 */

const fs = require("node:fs");

const FILE = process.env.MUTATE_REACHED;
const seen = new Set();

function reached(site) {
  if (FILE === undefined || seen.has(site)) return;
  seen.add(site);
  fs.appendFileSync(FILE, `${site}\n`);
}

globalThis.reached = reached;

// Kernels cannot call back, so creating an instance counts as reaching all of assembly/. Some tests run without
// WebAssembly.
for (const name of globalThis.WebAssembly === undefined ? [] : ["Instance", "instantiate"]) {
  WebAssembly[name] = new Proxy(WebAssembly[name], {
    construct(target, args, newTarget) {
      reached("assembly");
      return Reflect.construct(target, args, newTarget);
    },
    apply(target, self, args) {
      reached("assembly");
      return Reflect.apply(target, self, args);
    },
  });
}
