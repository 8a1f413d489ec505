/** Answers { groups, values, count } with the sum of each group's values. */

import http from "node:http";
import { text } from "node:stream/consumers";
import { isTensorError, scatterElements, tensor, zeros } from "ndscatter";

const MOST_GROUPS = 100_000;

function sumByGroup({ groups, values, count }) {
  const sums = zeros("float64", [Math.min(count, MOST_GROUPS)]);
  const updates = tensor(values, "float64");
  return scatterElements(sums, groups, updates, { reduction: "add", negative: "error" }).toArray();
}

/** Returns the status and the body of a response. */
async function answer(request) {
  try {
    return [200, sumByGroup(JSON.parse(await text(request)))];
  } catch (error) {
    if (isTensorError(error)) return [400, { message: error.message, ...error }];
    return [400, { message: "the body must be JSON with groups, values and count" }];
  }
}

const server = http.createServer(async (request, response) => {
  const [status, value] = await answer(request);
  response.writeHead(status, { "content-type": "application/json" });
  response.end(`${JSON.stringify(value)}\n`);
});
server.listen(Number(process.env.PORT ?? 8080), () => {
  console.log(`http://localhost:${server.address().port}`);
});
