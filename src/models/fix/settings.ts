/** Session settings that may fix a fault, and a test that detects ignored settings. */

import type { CreateSession, SessionSettings } from "../verify/session.ts";

/** Settings to try, in order of increasing cost. */
export const SETTINGS: readonly { readonly title: string; readonly settings: SessionSettings }[] = [
  { title: "one thread", settings: { intraOpNumThreads: 1 } },
  { title: "one node at a time", settings: { executionMode: "sequential" } },
  { title: "no graph optimization", settings: { graphOptimizationLevel: "disabled" } },
];

/** Creates sessions with settings, and records whether all settings were read. */
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
      // The caller's settings take precedence. Their getters are copied without being called.
      return Object.defineProperties(own, Object.getOwnPropertyDescriptors(others));
    };
    this.createSession = (model, others = {}) => createSession(model, watched(others));
  }

  /** False if `createSession` ignored a setting, so that the session ran without it. */
  get wasRead(): boolean {
    return this.#unread.size === 0;
  }
}
