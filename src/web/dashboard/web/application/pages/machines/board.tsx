import type { ReactNode } from 'react';
import type { Machine, StateCount } from '../../../../../live/model.ts';
import { useLive } from '../../api/machines/hooks.ts';
import type { LiveMachines } from '../../api/machines/live.ts';
import { colorOf } from '../../ui/machine/state-color.ts';
import { countText, titleOf } from '../../ui/machine/words.ts';
import { useOpenView } from './address.ts';

/**
 * Machines as lists of their states: a diagram of all of them at once, or on a telephone, is too small to be
 * read.
 */
export function Board({
  machines,
  live,
}: {
  readonly machines: readonly Machine[];
  readonly live: LiveMachines;
}) {
  return (
    <div className="columns-[21rem] gap-4 p-4 pb-0">
      {machines.map((machine) => (
        <MachineCard key={machine.kind} machine={machine} live={live} isOnly={machines.length === 1} />
      ))}
    </div>
  );
}

function MachineCard({
  machine,
  live,
  isOnly,
}: {
  readonly machine: Machine;
  readonly live: LiveMachines;
  readonly isOnly: boolean;
}) {
  const { kind, drawing, transient } = machine;
  const openView = useOpenView();
  const counts = useLive(live, (now) => now.counts[kind]);
  const most = Math.max(1, ...Object.values(counts ?? {}).map(({ count }) => count));
  const stored = machine.isExample
    ? ownStates(counts ?? {})
    : drawing.states.filter(({ name }) => !transient.includes(name));
  return (
    <section
      aria-label={titleOf(kind)}
      className="mb-4 break-inside-avoid rounded-xl border border-edge bg-raised shadow-card"
    >
      {!isOnly && (
        <h2 className="border-b border-edge">
          <button
            type="button"
            onClick={() => openView({ kind })}
            className="w-full rounded-t-xl px-4 py-2.5 text-left text-[14px] font-semibold hover:bg-hover"
          >
            {titleOf(kind)}
          </button>
        </h2>
      )}
      <ul className="py-1.5">
        {stored.length === 0 && <li className="px-4 py-1.5 text-dim">None yet</li>}
        {stored.map(({ name, description }) => {
          const count = counts?.[name] ?? null;
          return (
            <li key={name}>
              <button
                type="button"
                data-state={name}
                data-color={colorOf(machine, name)}
                title={description}
                onClick={() => openView({ kind, state: name })}
                className="grid w-full grid-cols-[auto_minmax(9rem,1fr)_minmax(0,5rem)_3rem] items-center gap-x-3 px-4 py-1.5 text-left hover:bg-hover"
              >
                <span className="size-2 rounded-full bg-(--state)" />
                <span className="truncate font-mono text-[13px] font-medium">{name}</span>
                <span className="h-1.5 overflow-hidden rounded-full bg-sunk">
                  <span
                    className="block h-full rounded-full bg-(--state) transition-[width] duration-500"
                    style={{ width: `${(100 * (count?.count ?? 0)) / most}%` }}
                  />
                </span>
                <span
                  data-count={name}
                  className={`num text-right text-[14px] ${count?.count ? 'font-semibold' : 'text-faint'}`}
                >
                  {countText(count)}
                </span>
              </button>
            </li>
          );
        })}
      </ul>
    </section>
  );
}

/** The most states of definitions that are listed. */
const MOST_OWN = 12;

/**
 * The states in which actors of definitions are, the fullest first: an example's would be those of no flow.
 */
const ownStates = (counts: Readonly<Record<string, StateCount>>) =>
  Object.entries(counts)
    .filter(([, { count }]) => count > 0)
    .sort(([, one], [, other]) => other.count - one.count)
    .slice(0, MOST_OWN)
    .map(([name]) => ({ name, description: '' }));

/** The heading of what is shown. */
export const ViewHeader = ({
  title,
  children,
}: {
  readonly title: string;
  readonly children?: ReactNode;
}) => (
  <div className="flex shrink-0 items-baseline gap-2.5 border-b border-edge bg-sheet px-4 py-2.5">
    <h1 className="shrink-0 text-[15px] font-semibold tracking-tight">{title}</h1>
    {children && <p className="min-w-0 truncate text-[12.5px] text-dim">{children}</p>}
  </div>
);
