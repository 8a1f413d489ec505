/** `npm run example:webgpu-exact`: serves the example on the loopback interface until it is interrupted. */

import { fileURLToPath } from "node:url";
import { servePage } from "../../scripts/serve-page.js";

const { address } = await servePage(fileURLToPath(new URL(".", import.meta.url)));
console.log(`${address} runs the example; Ctrl+C ends the server`);
