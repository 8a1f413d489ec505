/**
 * Explains wrong results of other runtimes. An entry of its own: it would take an eighth of all that the main entry loads.
 *
 * @module
 */

export { diagnose } from "./diagnose.ts";
export { DIAGNOSES, type Diagnosis, type DiagnosisId } from "./diagnosis.ts";
