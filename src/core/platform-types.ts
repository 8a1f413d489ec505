/**
 * Platform types in public declarations. A project may have the types of a browser, of Node, of both or of neither, so
 * a declaration must not name such a type directly.
 */

/** The platform's type if the user's compiler knows it; otherwise this package's type. */
export type Known<Name extends string, Else> =
  typeof globalThis extends Record<Name, { readonly prototype: infer T }> ? T : Else;

/** The type `AbortSignal`. */
export type Signal = Known<"AbortSignal", { readonly aborted: boolean; readonly reason: unknown }>;
