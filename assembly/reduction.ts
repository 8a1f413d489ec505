/**
 * Codes of the operations that combine an update with a value. A code is always a compile-time constant, so the
 * compiler removes tests of codes.
 */

export const ADD: i32 = 0;
export const MUL: i32 = 1;
export const MAX: i32 = 2;
export const MIN: i32 = 3;
export const SUB: i32 = 4;
/** Comparisons that return one operand unchanged: the target's value or the update stays unless the other is beyond. */
export const MAX_DATA: i32 = 5;
export const MIN_DATA: i32 = 6;
export const MAX_UPDATE: i32 = 7;
export const MIN_UPDATE: i32 = 8;
