/** The player: carries out the updates of a scatter, or the reads of a gather, one after the other. */

import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";

interface PlayerProps {
  /** What is played. */
  readonly noun: "updates" | "reads";
  readonly count: number;
  /** The number of steps that have been carried out. */
  readonly step: number;
  readonly isDisabled: boolean;
  /** Playing ends when it changes. */
  readonly edition: number;
  onStep(step: number): void;
  onPlaying(isPlaying: boolean): void;
}

/** Steps a second. The last is one for each frame of most screens. */
const SPEEDS = [1, 4, 15, 60] as const;

/** The speed at first: the slowest that ends within half a minute. */
const speedFor = (count: number): number => SPEEDS.find((speed) => count / speed < 30) ?? 60;

/** Plays from `step` on while `isPlaying`, and calls `onEnd` after the last step. */
function usePlaying(
  { count, step, onStep }: PlayerProps,
  isPlaying: boolean,
  speed: number,
  onEnd: () => void,
): void {
  useEffect(() => {
    if (!isPlaying) return;
    let frame = 0;
    let at = step;
    let begin: number | null = null;
    const tick = (time: number): void => {
      begin ??= time;
      // At most one step a frame: a late frame must not skip a step.
      if ((time - begin) * speed >= 1000 * (speed === 60 ? 0 : 1)) {
        begin = time;
        at++;
        onStep(Math.min(at, count));
        if (at >= count) {
          onEnd();
          return;
        }
      }
      frame = requestAnimationFrame(tick);
    };
    frame = requestAnimationFrame(tick);
    return () => cancelAnimationFrame(frame);
  }, [isPlaying, speed, count]);
}

export function Player(props: PlayerProps): JSX.Element {
  const { noun, count, step, isDisabled, edition, onStep, onPlaying } = props;
  const [isPlaying, setPlaying] = useState(false);
  const [chosen, setSpeed] = useState<number | null>(null);
  const speed = chosen ?? speedFor(count);
  useEffect(() => onPlaying(isPlaying), [isPlaying]);
  useEffect(() => setPlaying(false), [edition]);
  usePlaying(props, isPlaying, speed, () => setPlaying(false));

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
      <StepButton
        label="one step back"
        disabled={isDisabled || step <= 0}
        onGo={() => go(step - 1)}
      >
        ‹
      </StepButton>
      <StepButton
        label="one step forward"
        disabled={isDisabled || step >= count}
        onGo={() => go(step + 1)}
      >
        ›
      </StepButton>
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
      {/* Not announced, because it may change sixty times a second. The story of a step is announced. */}
      <output aria-live="off">
        {step} of {count} {noun}
      </output>
      <SpeedMenu speed={speed} onSpeed={setSpeed} />
    </div>
  );
}

interface StepButtonProps {
  readonly label: string;
  readonly disabled: boolean;
  readonly children: string;
  onGo(): void;
}

const StepButton = ({ label, disabled, children, onGo }: StepButtonProps): JSX.Element => (
  <button type="button" aria-label={label} disabled={disabled} onClick={onGo}>
    {children}
  </button>
);

interface SpeedMenuProps {
  readonly speed: number;
  onSpeed(speed: number): void;
}

const SpeedMenu = ({ speed, onSpeed }: SpeedMenuProps): JSX.Element => (
  <label class="speed">
    <span class="hidden">speed</span>
    <select value={speed} onChange={(event) => onSpeed(Number(event.currentTarget.value))}>
      {SPEEDS.map((one) => (
        <option key={one} value={one}>
          {one} a second
        </option>
      ))}
    </select>
  </label>
);
