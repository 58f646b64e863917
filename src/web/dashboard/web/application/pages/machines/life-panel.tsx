import { useEffect, useRef } from 'react';
import type { ActorLife, LifeStep, Machine } from '../../../../../live/model.ts';
import type { RequestState } from '../../api/machines/hooks.ts';
import { CopyButton } from '../../ui/display/copy-button.tsx';
import { spanText, timeText } from '../../ui/display/format.ts';
import { useNow } from '../../ui/display/time.tsx';
import { icons } from '../../ui/icons.tsx';
import type { Playback } from '../../ui/machine/playback.ts';
import { colorOf } from '../../ui/machine/state-color.ts';
import { shortId } from '../../ui/machine/words.ts';
import { useIsWide } from '../../ui/room.ts';
import { useOpenView } from './address.ts';
import { Loading, Panel, Quiet } from './panel.tsx';

/** One actor: why it is where it is, what it waits for, and everything that has happened to it. */
export function LifePanel(props: {
  readonly id: string;
  readonly machine: Machine;
  readonly asked: RequestState<ActorLife>;
  readonly playback: Playback;
}) {
  const { id, machine, asked, playback } = props;
  const life = asked.value;
  const openView = useOpenView();
  return (
    <Panel
      label="Life"
      onClose={() => openView({ kind: machine.kind, ...(life ? { state: life.state } : {}) })}
      head={
        <>
          <div className="flex items-center gap-1.5">
            <h2
              className={`truncate font-semibold ${life?.title ? 'text-[14px]' : 'font-mono text-[13.5px]'}`}
              title={id}
            >
              {life?.title ?? shortId(id)}
            </h2>
            {life && (
              <span
                data-color={colorOf(machine, life.state)}
                data-life-state={life.state}
                className="state-text ml-auto shrink-0 rounded-md bg-(--state)/12 px-2 py-0.5 font-mono text-[12px] font-semibold"
              >
                {life.state}
              </span>
            )}
          </div>
          <p className="mt-0.5 flex flex-wrap items-center gap-x-2.5 text-[12px] text-dim">
            <span className="-my-1.5 flex items-center gap-0.5 font-mono text-[11.5px] [&_svg]:size-3.5">
              {shortId(id)}
              <CopyButton label={id} text={id} />
            </span>
            {life?.facts.map((fact) => (
              <span key={fact}>{fact}</span>
            ))}
          </p>
          {life && <p className="mt-1.5 leading-snug">{life.explanation.summary}</p>}
        </>
      }
    >
      {asked.problem !== null && <Quiet title={asked.problem} />}
      {!life && asked.problem === null && <Loading />}
      {life && (
        <>
          <Waiting life={life} />
          <Timeline life={life} machine={machine} playback={playback} />
          <Context value={life.context} />
        </>
      )}
    </Panel>
  );
}

/** The next step, with a countdown, and the current rule. */
function Waiting({ life }: { readonly life: ActorLife }) {
  const { rule, next } = life.explanation;
  const now = useNow(next.at !== null && next.at - Date.now() < 60_000 ? 100 : 1_000);
  const left = next.at === null ? null : next.at - now;
  const began = life.steps.at(-1)?.at ?? life.createdAt;
  const share = next.at === null ? 0 : Math.min(1, Math.max(0, (now - began) / Math.max(1, next.at - began)));
  return (
    <section className="border-b border-edge px-4 py-3.5">
      <h3 className="text-[11px] font-semibold tracking-wide text-faint uppercase">Next</h3>
      <p className="mt-1 flex items-baseline gap-2">
        <span className="flex-1">{next.text}</span>
        {left !== null && (
          <span
            data-countdown
            className="num flex shrink-0 items-center gap-1 font-mono text-[13px] font-semibold text-amber [&>svg]:size-3.5"
          >
            {icons.Clock}
            {left > 0 ? spanText(left < 10_000 ? Math.ceil(left / 100) * 100 : left) : 'due'}
          </span>
        )}
      </p>
      {next.at !== null && (
        <>
          <div className="mt-2 h-1 overflow-hidden rounded-full bg-sunk">
            <div className="h-full rounded-full bg-amber" style={{ width: `${share * 100}%` }} />
          </div>
          <p className="num mt-1.5 text-[11.5px] text-faint">{timeText(next.at, now)}</p>
        </>
      )}
      <p className="mt-2 text-[12px] text-dim">{rule}</p>
    </section>
  );
}

function Timeline({
  life,
  machine,
  playback,
}: {
  readonly life: ActorLife;
  readonly machine: Machine;
  readonly playback: Playback;
}) {
  const current = useRef<HTMLLIElement>(null);
  const { step } = playback;
  const isWide = useIsWide();
  // biome-ignore lint/correctness/useExhaustiveDependencies: whenever another step is looked at.
  useEffect(() => {
    // In a column that scrolls as a whole, everything above the step would scroll out of view. Newer browsers
    // return a promise, which React would take for the effect's clean-up.
    if (isWide) void current.current?.scrollIntoView({ block: 'nearest', behavior: 'smooth' });
  }, [step]);
  return (
    <section className="border-b border-edge py-3.5">
      <h3 className="px-4 text-[11px] font-semibold tracking-wide text-faint uppercase">Life</h3>
      {life.steps.length === 0 && (
        <p className="px-4 pt-1 text-dim">The journal is no longer stored: its retention has ended.</p>
      )}
      {life.truncated && life.steps.length > 0 && (
        <p className="px-4 pt-1 text-[12px] text-faint">Older steps are not shown.</p>
      )}
      <ol className="mt-1.5">
        {life.steps.map((one, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: several steps of one write may differ in nothing but their order.
          <li key={`${one.revision} ${index}`} ref={index === step ? current : null} className="relative">
            {index < life.steps.length - 1 && (
              <span className="absolute top-6 -bottom-1.5 left-[21px] w-px bg-edge" />
            )}
            <Step
              step={one}
              machine={machine}
              told={life.explanation.evidence[index]?.text ?? null}
              before={life.steps[index - 1] ?? null}
              isCurrent={index === step}
              isAhead={index > step}
              onOpen={() => playback.to(index)}
            />
          </li>
        ))}
      </ol>
    </section>
  );
}

function Step(props: {
  readonly step: LifeStep;
  readonly machine: Machine;
  readonly told: string | null;
  readonly before: LifeStep | null;
  readonly isCurrent: boolean;
  readonly isAhead: boolean;
  readonly onOpen: () => void;
}) {
  const { step, machine, told, before, isCurrent, isAhead } = props;
  return (
    <button
      type="button"
      data-step={step.event}
      aria-current={isCurrent ? 'step' : undefined}
      onClick={props.onOpen}
      className={`relative block w-full py-1.5 pr-4 pl-10 text-left hover:bg-hover ${isCurrent ? 'bg-accent-soft/60' : ''} ${isAhead ? 'grayscale' : ''}`}
    >
      <span
        data-color={colorOf(machine, step.to)}
        className={`absolute top-[11px] left-4 size-[11px] rounded-full border-2 border-(--state) ${isCurrent ? 'bg-(--state)' : 'bg-sheet'}`}
      />
      <span className="flex items-baseline justify-between gap-2">
        <span
          className={`truncate font-mono text-[12.5px] ${isAhead ? 'font-normal text-dim' : 'font-semibold'}`}
        >
          {step.event === 'spawned' ? 'begins' : step.event}
        </span>
        <time className="num shrink-0 text-[11px] text-dim">{timeText(step.at)}</time>
      </span>
      <span className="flex items-baseline justify-between gap-2 font-mono text-[11.5px] text-dim">
        <span className="truncate">
          {step.from === null
            ? step.to
            : step.from === step.to
              ? `stays ${step.to}`
              : `${step.from} → ${step.to}`}
        </span>
        {before && step.at - before.at >= 1 && (
          <span className="num shrink-0">+{spanText(step.at - before.at)}</span>
        )}
      </span>
      {told !== null && <span className="mt-0.5 block text-[12px] text-dim">{told}</span>}
      <span className="mt-1 flex flex-wrap gap-1 empty:hidden">
        {step.attempt !== null && step.attempt > 0 && <Tag>attempt {step.attempt}</Tag>}
        {step.effects.map((effect, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: effects of one step never change their order.
          <Tag key={index}>{effect}</Tag>
        ))}
      </span>
    </button>
  );
}

const Tag = ({ children }: { readonly children: React.ReactNode }) => (
  <span className="rounded border border-edge bg-page px-1.5 font-mono text-[10.5px] text-dim">
    {children}
  </span>
);

/** The context of the machine, without personal data. */
function Context({ value }: { readonly value: unknown }) {
  return (
    <details className="px-4 py-3">
      <summary className="cursor-pointer text-[11px] font-semibold tracking-wide text-faint uppercase">
        Context
      </summary>
      <pre className="scroll mt-2 rounded-lg border border-edge bg-page p-3 font-mono text-[11.5px] leading-relaxed text-dim">
        {JSON.stringify(value, null, 2)}
      </pre>
    </details>
  );
}
