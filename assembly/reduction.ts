/**
 * Codes of the operations that combine an update with a value. A code is always a compile-time constant, so the
 * compiler removes tests of codes.
 */

export const ADD: i32 = 0;
export const MUL: i32 = 1;
export const MAX: i32 = 2;
export const MIN: i32 = 3;
export const SUB: i32 = 4;
