/**
 * Codes of the ways in which an update combines with a value. Always compile-time constants, so that tests of a code
 * vanish.
 */

export const ADD: i32 = 0;
export const MUL: i32 = 1;
export const MAX: i32 = 2;
export const MIN: i32 = 3;
export const SUB: i32 = 4;
