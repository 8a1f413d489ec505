/** The worker of workerd. The request names the server of the array; a request without one asks if the worker runs. */

import { pageResults } from "./page-results.js";

// oxlint-disable-next-line import/no-default-export -- workerd finds the worker by this export
export default {
  async fetch({ url }) {
    const origin = new URL(url).searchParams.get("origin");
    return Response.json(origin === null ? null : await pageResults(origin));
  },
};
