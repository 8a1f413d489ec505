/** 2000 jobs whose calls of the file system and requests to servers fail: `test/arrays/faults.test.ts` runs a few. */

process.env["FAULTY_JOBS"] ??= "2000";

await import("../arrays/faults.test.js");
