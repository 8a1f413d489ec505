/** The suites of random cases with all of their cases; `npm test` draws a quarter (`support/cases.ts`). */

process.env["CASES"] = "all";

// The variable is read when a suite is loaded.
await import("./async-order.test.ts");
await import("./chunked.test.ts");
await import("./convert-random.test.ts");
await import("./diagnose.test.ts");
await import("./diagnose-large.test.ts");
await import("./diagnose-types.test.ts");
await import("./hostile-values.test.ts");
await import("./inspect-random.test.ts");
await import("./properties.test.ts");
