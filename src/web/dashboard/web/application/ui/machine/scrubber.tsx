import type { LifeStep } from '../../../../../live/model.ts';
import { spanText, timeText } from '../display/format.ts';
import { icons } from '../icons.tsx';
import type { Playback } from './playback.ts';

/** The steps of a life on a line, to go through them. */
export function Scrubber({
  steps,
  playback,
}: {
  readonly steps: readonly LifeStep[];
  readonly playback: Playback;
}) {
  const { step, playing, isLatest } = playback;
  const last = steps.length - 1;
  const here = steps[step];
  const first = steps[0];
  return (
    <div className="flex shrink-0 items-center gap-2 border-t border-edge bg-sheet px-3 py-2 md:gap-3 md:px-4">
      <div className="flex items-center">
        <Control label="Previous step (←)" disabled={step === 0} onClick={() => playback.to(step - 1)}>
          {icons.Back}
        </Control>
        <Control
          label={playing ? 'Pause (space)' : 'Replay (space)'}
          disabled={last === 0}
          onClick={playback.toggle}
        >
          {playing ? icons.Pause : icons.Play}
        </Control>
        <Control label="Next step (→)" disabled={isLatest} onClick={() => playback.to(step + 1)}>
          {icons.Forward}
        </Control>
      </div>
      <div className="relative h-8 min-w-0 flex-1">
        <div className="absolute inset-x-2 top-1/2 h-0.5 -translate-y-1/2 rounded bg-edge-strong" />
        <div
          className="absolute top-1/2 left-2 h-0.5 -translate-y-1/2 rounded bg-accent transition-[width]"
          style={{ width: `calc((100% - 1rem) * ${last === 0 ? 1 : step / last})` }}
        />
        {last <= 60 &&
          steps.map((one, index) => (
            <span
              key={`${one.revision} ${one.event} ${one.at} ${one.to}`}
              className={`absolute top-1/2 size-2 -translate-1/2 rounded-full ${index <= step ? 'bg-accent' : 'bg-edge-strong'}`}
              style={{ left: `calc(0.5rem + (100% - 1rem) * ${last === 0 ? 1 : index / last})` }}
            />
          ))}
        <span
          className="pointer-events-none absolute top-1/2 size-4 -translate-1/2 rounded-full border-[3px] border-accent bg-sheet transition-[left]"
          style={{ left: `calc(0.5rem + (100% - 1rem) * ${last === 0 ? 1 : step / last})` }}
        />
        <input
          type="range"
          min={0}
          max={last}
          value={step}
          aria-label="Step of the life"
          aria-valuetext={here ? `${step + 1} of ${steps.length}: ${here.event}, ${here.to}` : ''}
          onChange={(event) => playback.to(event.currentTarget.valueAsNumber)}
          className="absolute inset-0 w-full cursor-pointer opacity-0 focus-visible:opacity-100 focus-visible:accent-accent"
        />
      </div>
      <p className="num w-24 shrink-0 text-right text-[11.5px] leading-tight md:w-44">
        <span className="block truncate font-mono font-semibold">{here?.to}</span>
        <span className="text-faint">
          {step + 1} of {steps.length}
          <span className="hidden md:inline">
            {here && first && here.at > first.at
              ? ` · +${spanText(here.at - first.at)}`
              : here
                ? ` · ${timeText(here.at)}`
                : ''}
          </span>
        </span>
      </p>
    </div>
  );
}

function Control(props: {
  readonly label: string;
  readonly disabled: boolean;
  readonly onClick: () => void;
  readonly children: React.ReactNode;
}) {
  return (
    <button
      type="button"
      aria-label={props.label}
      title={props.label}
      disabled={props.disabled}
      onClick={props.onClick}
      className="grid size-8 place-items-center rounded-lg text-ink hover:bg-hover disabled:opacity-30 disabled:hover:bg-transparent"
    >
      {props.children}
    </button>
  );
}
