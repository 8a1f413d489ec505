/**
 * Preloaded into the processes of a clean run, and into their workers: appends the number of each site that is reached
 * to a file, once. What is appended at once is there even when the process is killed.
 */

import fs from "node:fs";

const FILE = process.env.MUTATE_REACHED;
const seen = new Set();

function reached(site) {
  if (FILE === undefined || seen.has(site)) return;
  seen.add(site);
  fs.appendFileSync(FILE, `${site}\n`);
}

globalThis.reached = reached;

// Kernels cannot call back: whoever makes an instance is taken to reach all of assembly/.
for (const name of ["Instance", "instantiate"]) {
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
