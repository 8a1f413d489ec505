/** All words about a call, which the page loads after its first picture. */

export { describeCell, describeFault, describeStep, toHear } from "./describe.ts";
export { routeOf } from "./route.ts";
export { summaryOf } from "./summary.ts";
