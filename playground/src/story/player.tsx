/** The player carries out a scatter's updates or a gather's reads one after the other. */

import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { Session } from "../cells/session.ts";
import { rolePosition } from "../values/schema.ts";

/** The available speeds in steps per second. The last speed matches the frame rate of most screens. */
const SPEEDS = [1, 4, 15, 60] as const;

/** Returns the initial speed, which is the slowest speed that finishes within half a minute. */
const speedFor = (count: number): number => SPEEDS.find((speed) => count / speed < 30) ?? 60;

/** Plays from `step` while `isPlaying`, and calls `onEnd` after the last step. */
function usePlaying({ count, at, isPlaying, onStep, act }: Session, speed: number): void {
  const next = useRef(at);
  next.current = at;
  useEffect(() => {
    if (!isPlaying) return;
    let frame = 0;
    let begin: number | null = null;
    const tick = (time: number): void => {
      begin ??= time;
      // The player takes at most one step per frame, so that a late frame does not skip a step.
      if ((time - begin) * speed >= 1000 * (speed === 60 ? 0 : 1)) {
        begin = time;
        const step = Math.min(next.current + 1, count);
        onStep(step);
        if (step >= count) {
          act({ do: "show", isPlaying: false });
          return;
        }
      }
      frame = requestAnimationFrame(tick);
    };
    frame = requestAnimationFrame(tick);
    return () => cancelAnimationFrame(frame);
  }, [isPlaying, speed, count]);
}

/** Returns the player's actions for keys and buttons. */
export function controlsOf({ count, step, isStale, isPlaying, onStep, act }: Session) {
  const play = (isOn: boolean): void => act({ do: "show", isPlaying: isOn });
  const go = (to: number): void => {
    play(false);
    if (!isStale && count > 0) onStep(Math.max(0, Math.min(count, to)));
  };
  return {
    go,
    back: () => go((step ?? count) - 1),
    forward: () => go((step ?? 0) + 1),
    toggle: () => {
      if (isStale || count === 0) return;
      if (!isPlaying && (step === null || step >= count)) onStep(0);
      play(!isPlaying);
    },
  };
}

export function Player({ session }: { readonly session: Session }): JSX.Element {
  const { count, step, at, isStale, version } = session;
  const [chosen, setSpeed] = useState<number | null>(null);
  const speed = chosen ?? speedFor(count);
  usePlaying(session, speed);
  const { go, back, forward } = controlsOf(session);
  const isOff = isStale || count === 0;
  // A call with an error has no steps, but its operator is known.
  const isGather = version !== null && rolePosition(version, "updates") === -1;
  const noun = `${isGather ? "read" : "update"}${count === 1 ? "" : "s"}`;
  return (
    <div class="player" role="group" aria-label="player">
      <PlayButton session={session} />
      <button
        type="button"
        aria-label="one step back"
        title="←"
        aria-disabled={isOff || at <= 0}
        onClick={back}
      >
        ‹
      </button>
      <button
        type="button"
        aria-label="one step forward"
        title="→"
        // After the last step, the picture without a step is shown, from which the steps begin again.
        aria-disabled={isOff || step === count}
        onClick={forward}
      >
        ›
      </button>
      <input
        type="range"
        aria-label={`${noun} carried out`}
        min={0}
        max={count}
        value={at}
        disabled={isOff}
        aria-valuetext={`${at} of ${count} ${noun}`}
        // From the whole picture, this key takes the first step, as elsewhere on the page.
        onKeyDown={(event) => {
          if (step !== null || event.key !== "ArrowRight") return;
          event.preventDefault();
          forward();
        }}
        onInput={(event) => go(Number(event.currentTarget.value))}
      />
      {/* The counter is not announced, because it may change sixty times a second. The story of a step is announced. */}
      <output aria-live="off">
        {step === null ? `${count} ${noun}` : `${step} of ${count} ${noun}`}
      </output>
      <SpeedMenu speed={speed} onSpeed={setSpeed} />
    </div>
  );
}

/** A frame in another page has only this button of the player. */
export function PlayButton({ session }: { readonly session: Session }): JSX.Element {
  const { count, isStale, isPlaying } = session;
  return (
    <button
      type="button"
      class="play"
      aria-label={isPlaying ? "pause" : "play"}
      title="Space"
      disabled={isStale || count === 0}
      onClick={controlsOf(session).toggle}
    >
      {isPlaying ? "❚❚" : "▶"}
    </button>
  );
}

interface SpeedMenuProps {
  readonly speed: number;
  onSpeed(speed: number): void;
}

const SpeedMenu = ({ speed, onSpeed }: SpeedMenuProps): JSX.Element => (
  <label class="speed">
    <span class="hidden">speed</span>
    <select
      class="quiet"
      value={speed}
      onChange={(event) => onSpeed(Number(event.currentTarget.value))}
    >
      {SPEEDS.map((one) => (
        <option key={one} value={one}>
          {one} a second
        </option>
      ))}
    </select>
  </label>
);
