/**
 * The accepted differences between peers and the package. A row names the peer with the version in which it was seen, and
 * the reason. A row that a whole run does not see any more fails, so that a peer's cure is noticed.
 */

export interface Accepted {
  readonly part: string;
  readonly peer: string;
  /** The facts of the difference, each with its possible values. */
  readonly facts: Readonly<Record<string, readonly string[]>>;
  readonly version: string;
  readonly reason: string;
}

export const ACCEPTED: readonly Accepted[] = [];
