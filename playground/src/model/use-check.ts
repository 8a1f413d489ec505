/** The state of a model's check: its progress, its result, and the node that the page shows. */

import { useEffect, useRef, useState } from "preact/hooks";
import { refusal } from "./holds.ts";
import type { Checked, FoundCure, FromWorker, ShownNode } from "./messages.ts";
import { startWorker, type Running } from "./start.ts";

export interface Check {
  readonly progress: { readonly sentence: string; readonly share: number | null } | null;
  readonly checked: Checked | null;
  readonly cure: FoundCure | null;
  /** The position of the node that the page shows, with remarks about what it shows; null before. */
  readonly shown: { readonly row: number; readonly remarks: readonly string[] } | null;
  /** The node that cannot be shown, with the reason; null before. */
  readonly refused: { readonly row: number; readonly sentence: string } | null;
  readonly problem: string | null;
  /** True while the worker keeps the nodes, so that the page can show them. */
  readonly isAlive: boolean;
}

const NOTHING: Check = {
  ...{ progress: null, checked: null, cure: null, shown: null, refused: null, problem: null },
  isAlive: false,
};

const CURING: Check["progress"] = { sentence: "Looking for a cure", share: null };

/** Verdicts of nodes whose result is wrong or missing. */
const WRONG: ReadonlySet<string> = new Set(["differs", "wrong", "failed", "nan-or-zero"]);

export function useCheck(
  files: readonly File[],
  onShow: (shown: ShownNode) => void,
): Check & { run(): void; stop(): void; show(row: number): void } {
  const [check, setCheck] = useState<Check>(NOTHING);
  const running = useRef<Running | null>(null);
  const isListed = useRef(false);
  const latest = useRef(onShow);
  latest.current = onShow;
  const change = (part: Partial<Check>): void => setCheck((before) => ({ ...before, ...part }));
  const end = (): void => {
    running.current?.stop();
    running.current = null;
  };
  /** A worker without a checked model is of no use. */
  const fail = (problem: string): void => {
    if (!isListed.current) end();
    change({ problem, progress: null, isAlive: isListed.current });
  };
  const onMessage = (message: FromWorker): void => {
    if (message.is === "progress") change({ progress: message });
    else if (message.is === "cured") change({ cure: message.cure, progress: null });
    else if (message.is === "shown") {
      const { row, shown } = message;
      change({ shown: { row, remarks: shown.remarks }, refused: null, problem: null });
      latest.current(shown);
    } else if (message.is === "checked") {
      const { checked } = message;
      isListed.current = true;
      const isWrong = checked.rows.some(({ verdict }) => WRONG.has(verdict));
      change({ checked, progress: isWrong ? CURING : null });
      const first = checked.rows.findIndex(({ verdict, canShow }) => WRONG.has(verdict) && canShow);
      if (first !== -1) running.current?.ask({ ask: "show", row: first });
      if (isWrong) running.current?.ask({ ask: "cure" });
    } else if (message.row === undefined) fail(message.sentence);
    else change({ refused: { row: message.row, sentence: message.sentence } });
  };
  const run = (): void => {
    end();
    isListed.current = false;
    const size = files.reduce((sum, one) => sum + one.size, 0);
    const problem = refusal(size, Reflect.get(navigator, "deviceMemory"));
    setCheck({ ...NOTHING, problem });
    if (problem !== null) return;
    change({ isAlive: true, progress: { sentence: "Loading the runtime", share: null } });
    running.current = startWorker(onMessage);
    running.current.ask({ ask: "check", files });
  };
  // Another model replaces this one.
  useEffect(() => {
    setCheck(NOTHING);
    isListed.current = false;
    return end;
  }, [files]);
  const stop = (): void => {
    end();
    change({ progress: null, problem: "Canceled.", isAlive: false });
  };
  return { ...check, run, stop, show: (row) => running.current?.ask({ ask: "show", row }) };
}
