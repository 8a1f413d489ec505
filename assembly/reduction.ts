/** What a scatter does where an update meets a value. Always a constant where it is used, so that tests of it vanish. */

export const ADD: i32 = 0;
export const MUL: i32 = 1;
export const MAX: i32 = 2;
export const MIN: i32 = 3;
export const SUB: i32 = 4;
