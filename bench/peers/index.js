/** Loads the peers, each from its own file. A peer that is not installed is skipped, and the output says so. */

import fs from "node:fs";

const FILES = ["onnxruntime-node", "onnxruntime-web", "tfjs", "numpy-ts"];

/**
 * @typedef {object} Peer
 * @property {string} name
 * @property {number} [cooldown] as in Contestant
 * @property {(row: import("../workloads.js").Workload, inputs: import("../workloads.js").Inputs) => any} prepare a
 * contestant without its name, or null if the peer lacks the operator; throws if it refuses the work
 */

/**
 * @param {readonly string[] | undefined} wanted names, or beginnings of names; all peers by default
 * @param {(message: string) => void} tell
 * @returns {Promise<Peer[]>}
 */
export async function loadPeers(wanted, tell) {
  const isWanted = (name) => wanted === undefined || wanted.some((start) => name.startsWith(start));
  const peers = [];
  for (const file of FILES) {
    if (wanted !== undefined && !wanted.some((start) => start.startsWith(file) || isWanted(file)))
      continue;
    try {
      const { load } = await import(`./${file}.js`);
      peers.push(...(await load()).filter(({ name }) => isWanted(name)));
    } catch (error) {
      tell(`${file} is skipped, it cannot be loaded: ${String(error.message).split("\n")[0]}`);
    }
  }
  return peers;
}

/** Names and exact versions of the packages, from the manifest. */
export function versions() {
  const manifest = fs.readFileSync(new URL("../package.json", import.meta.url), "utf8");
  return JSON.parse(manifest).dependencies;
}
