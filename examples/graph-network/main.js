/** Trains the network on one thread and on two, and says whether the weights have the same bits. */

import { createEngine, equals } from "ndscatter";
import { PEOPLE } from "./club.js";
import { train } from "./network.js";

const engines = [1, 2].map((threads) => createEngine({ threads }));
const [one, two] = engines.map((engine) => train(engine));
const isSame = one.weights.every((weights, layer) => equals(weights, two.weights[layer]));
console.log(`${one.right} of ${PEOPLE} people are on the side that they took`);
console.log(`1 and 2 threads: ${isSame ? "the same weights, bit for bit" : "other weights"}`);
for (const engine of engines) engine.dispose();
if (!isSame) process.exitCode = 1;
