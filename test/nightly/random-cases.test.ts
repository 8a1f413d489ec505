/** The suites of random cases with all of their cases; `npm test` draws an eighth (`support/cases.ts`). */

process.env["CASES"] = "all";

// The variable is read when a suite is loaded.
await import("../arrays/array-slices.test.ts");
await import("../arrays/chunked-chunks.test.ts");
await import("../arrays/chunked-mutants.test.ts");
await import("../arrays/chunked-requests.test.ts");
await import("../arrays/zarr-array.test.ts");
await import("../arrays/zarr-hostile.test.ts");
await import("../arrays/zarr-resize.test.ts");
await import("../core/gradients.test.ts");
await import("../core/vjp.test.ts");
await import("../platform/async-order.test.ts");
await import("../platform/vjp-async.test.ts");
await import("../platform/chunked.test.ts");
await import("../models/convert-random.test.ts");
await import("../insight/diagnose.test.ts");
await import("../insight/diagnose-large.test.ts");
await import("../insight/diagnose-types.test.ts");
await import("../core/hostile-values.test.ts");
await import("../models/inspect-random.test.ts");
await import("../platform/gradient-kernels.test.ts");
await import("../platform/properties.test.ts");
