/** Settings of a session that may cure a fault, and whether the user's maker of sessions reads them. */

import type { CreateSession, SessionSettings } from "../verify/session.ts";

/** The settings that are tried, from cheap to dear. */
export const SETTINGS: readonly { readonly title: string; readonly settings: SessionSettings }[] = [
  { title: "one thread", settings: { intraOpNumThreads: 1 } },
  { title: "one node at a time", settings: { executionMode: "sequential" } },
  { title: "no graph optimisation", settings: { graphOptimizationLevel: "disabled" } },
];

/** Makes sessions with settings, and notices whether all of them were read. */
export class SettingsMaker {
  readonly #unread: Set<string>;
  readonly createSession: CreateSession;

  constructor(createSession: CreateSession, settings: SessionSettings) {
    const unread = new Set(Object.keys(settings));
    this.#unread = unread;
    const watched = (others: SessionSettings): SessionSettings => {
      const own = {};
      for (const [name, value] of Object.entries(settings)) {
        const get = (): unknown => {
          unread.delete(name);
          return value;
        };
        Object.defineProperty(own, name, { enumerable: true, configurable: true, get });
      }
      // Those of another maker come first. Their getters are copied and not read.
      return Object.defineProperties(own, Object.getOwnPropertyDescriptors(others));
    };
    this.createSession = (model, others = {}) => createSession(model, watched(others));
  }

  /** False if the maker ignored a setting, so that its sessions were those without. */
  get wasRead(): boolean {
    return this.#unread.size === 0;
  }
}
