/** The worker of workerd. The request names the server of the array. */

import { pageResults } from "./page-results.js";

export default {
  fetch: async ({ url }) =>
    Response.json(await pageResults(new URL(url).searchParams.get("origin"))),
};
