import type { Machine } from '../../live/model.ts';
import { countText, titleOf } from './format.ts';
import { useLive } from './hooks.ts';
import type { LiveConnection } from './live.ts';
import { colorOf } from './state-color.ts';
import { navigate } from './url-state.ts';

/** The machines, each with the number of its actors and their share of its states. */
export function Sidebar({
  machines,
  live,
  kind,
}: {
  readonly machines: readonly Machine[];
  readonly live: LiveConnection;
  readonly kind: string | null;
}) {
  return (
    <nav
      aria-label="Machines"
      className="scroll flex shrink-0 gap-1 border-edge bg-sheet p-2 not-md:border-b md:w-56 md:flex-col md:border-r md:p-3"
    >
      <Entry
        isCurrent={kind === null}
        hint="0"
        title="All machines"
        onOpen={() => navigate({ kind: null })}
      />
      {machines.map((machine, index) => (
        <MachineEntry
          key={machine.kind}
          machine={machine}
          live={live}
          isCurrent={kind === machine.kind}
          hint={String(index + 1)}
        />
      ))}
    </nav>
  );
}

function MachineEntry({
  machine,
  live,
  isCurrent,
  hint,
}: {
  readonly machine: Machine;
  readonly live: LiveConnection;
  readonly isCurrent: boolean;
  readonly hint: string;
}) {
  const counts = useLive(live, (now) => now.counts[machine.kind]);
  const states = Object.entries(counts ?? {});
  const count = states.reduce((sum, [, one]) => sum + one.count, 0);
  const exact = states.every(([, one]) => one.exact);
  return (
    <Entry
      isCurrent={isCurrent}
      hint={hint}
      title={titleOf(machine.kind)}
      total={countText({ count, exact })}
      onOpen={() => navigate({ kind: machine.kind })}
    >
      <span className="mt-1.5 hidden h-1 w-full gap-px overflow-hidden rounded-full bg-sunk md:flex">
        {machine.drawing.states.map(({ name }) => {
          const here = counts?.[name]?.count ?? 0;
          return here === 0 ? null : (
            <span
              key={name}
              data-color={colorOf(machine, name)}
              title={`${name}: ${countText(counts?.[name] ?? null)}`}
              className="h-full min-w-[3px] bg-(--state) transition-[flex-grow] duration-500"
              style={{ flexGrow: here }}
            />
          );
        })}
      </span>
    </Entry>
  );
}

function Entry(props: {
  readonly isCurrent: boolean;
  readonly hint: string;
  readonly title: string;
  readonly total?: string;
  readonly onOpen: () => void;
  readonly children?: React.ReactNode;
}) {
  const { isCurrent, hint, title, total, onOpen, children } = props;
  return (
    <button
      type="button"
      onClick={onOpen}
      aria-current={isCurrent ? 'page' : undefined}
      title={`${title} (${hint})`}
      className={`shrink-0 rounded-lg px-2.5 py-2 text-left ${isCurrent ? 'bg-accent-soft' : 'hover:bg-hover'}`}
    >
      <span className="flex items-baseline justify-between gap-3">
        <span className={`whitespace-nowrap font-medium ${isCurrent ? 'text-accent' : ''}`}>{title}</span>
        {total !== undefined && <span className="num text-[12px] text-dim">{total}</span>}
      </span>
      {children}
    </button>
  );
}
