/** The slider that plays the updates of a scatter, or the reads of a gather, one at a time. */

import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";

interface PlayerProps {
  /** What is played: updates or reads. */
  readonly noun: string;
  readonly count: number;
  /** How many have been carried out. */
  readonly step: number;
  readonly isDisabled: boolean;
  /** Playing ends when it changes. */
  readonly edition: number;
  onStep(step: number): void;
  onPlaying(isPlaying: boolean): void;
}

/** Steps a second; the last is a step for each frame of most screens. */
const SPEEDS = [1, 4, 15, 60] as const;

/** Pictures of many steps begin with a speed that ends within half a minute. */
const speedFor = (count: number): number => SPEEDS.find((speed) => count / speed < 30) ?? 60;

export function Player(props: PlayerProps): JSX.Element {
  const { noun, count, step, isDisabled, edition, onStep, onPlaying } = props;
  const [isPlaying, setPlaying] = useState(false);
  const [chosen, setSpeed] = useState<number | null>(null);
  const speed = chosen ?? speedFor(count);

  useEffect(() => onPlaying(isPlaying), [isPlaying]);
  useEffect(() => setPlaying(false), [edition]);
  useEffect(() => {
    if (!isPlaying) return;
    let frame = 0;
    let at = step;
    let begin: number | null = null;
    const tick = (time: number): void => {
      begin ??= time;
      // A frame that comes late is no reason to leave a step out: one at most is carried out in each.
      if ((time - begin) * speed >= 1000 * (speed === 60 ? 0 : 1)) {
        begin = time;
        at++;
        onStep(Math.min(at, count));
        if (at >= count) {
          setPlaying(false);
          return;
        }
      }
      frame = requestAnimationFrame(tick);
    };
    frame = requestAnimationFrame(tick);
    return () => cancelAnimationFrame(frame);
  }, [isPlaying, speed, count]);

  const go = (to: number): void => {
    setPlaying(false);
    onStep(Math.max(0, Math.min(count, to)));
  };
  const play = (): void => {
    if (!isPlaying && step >= count) onStep(0);
    setPlaying(!isPlaying);
  };
  return (
    <div class="player" role="group" aria-label="player">
      <button type="button" class="play" disabled={isDisabled || count === 0} onClick={play}>
        {isPlaying ? "❚❚ pause" : "▶ play"}
      </button>
      <button
        type="button"
        aria-label="one step back"
        disabled={isDisabled || step <= 0}
        onClick={() => go(step - 1)}
      >
        ‹
      </button>
      <button
        type="button"
        aria-label="one step on"
        disabled={isDisabled || step >= count}
        onClick={() => go(step + 1)}
      >
        ›
      </button>
      <input
        type="range"
        aria-label={`${noun} carried out`}
        min={0}
        max={count}
        value={step}
        disabled={isDisabled || count === 0}
        aria-valuetext={`${step} of ${count} ${noun}`}
        onInput={(event) => go(Number(event.currentTarget.value))}
      />
      <output>
        {step} of {count} {noun}
      </output>
      <label class="speed">
        <span class="hidden">speed</span>
        <select value={speed} onChange={(event) => setSpeed(Number(event.currentTarget.value))}>
          {SPEEDS.map((one) => (
            <option key={one} value={one}>
              {one} a second
            </option>
          ))}
        </select>
      </label>
    </div>
  );
}
