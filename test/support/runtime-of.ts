/**
 * A runtime with what a test observes of it. The observations are not enumerable, so that the runtime can be given as
 * options, or be spread into options, which refuse unknown names.
 */
export const runtimeOf = <C, T extends object>(
  createSession: C,
  observed: T,
): { readonly createSession: C } & T =>
  Object.defineProperties(
    { createSession } as { readonly createSession: C } & T,
    Object.fromEntries(Object.entries(observed).map(([name, value]) => [name, { value }])),
  );
