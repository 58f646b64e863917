import type { Machine } from '../../../../../live/model.ts';
import { useLive } from '../../api/machines/hooks.ts';
import type { LiveMachines } from '../../api/machines/live.ts';
import { colorOf } from '../../ui/machine/state-color.ts';
import { countText, titleOf } from '../../ui/machine/words.ts';
import { useOpenView } from './address.ts';

/** The machines, each with the number of its actors and their share of its states. */
export function Sidebar({
  machines,
  live,
  kind,
}: {
  readonly machines: readonly Machine[];
  readonly live: LiveMachines;
  readonly kind: string | null;
}) {
  const openView = useOpenView();
  return (
    <nav
      aria-label="Machines"
      className="scroll flex shrink-0 gap-1 border-edge bg-sheet p-2 not-xl:border-b xl:w-52 xl:flex-col xl:border-r xl:p-3"
    >
      <Entry isCurrent={kind === null} hint="0" title="All machines" onOpen={() => openView({})} />
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
  readonly live: LiveMachines;
  readonly isCurrent: boolean;
  readonly hint: string;
}) {
  const openView = useOpenView();
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
      onOpen={() => openView({ kind: machine.kind })}
    >
      <span className="mt-1.5 hidden h-1 w-full gap-px overflow-hidden rounded-full bg-sunk xl:flex">
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
        <span className={`min-w-0 font-medium not-xl:whitespace-nowrap ${isCurrent ? 'text-accent' : ''}`}>
          {title}
        </span>
        {total !== undefined && <span className="num text-[12px] text-dim">{total}</span>}
      </span>
      {children}
    </button>
  );
}
