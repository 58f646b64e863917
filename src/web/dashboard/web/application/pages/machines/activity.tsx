import type { Machine } from '../../../../../live/model.ts';
import { useLive } from '../../api/machines/hooks.ts';
import type { LiveMachines } from '../../api/machines/live.ts';
import { roundCount, shortAgo } from '../../ui/display/format.ts';
import { useNow } from '../../ui/display/time.tsx';
import { colorOf } from '../../ui/machine/state-color.ts';
import { shortId, titleOf } from '../../ui/machine/words.ts';
import { useOpenView } from './address.ts';
import { Instances } from './instances.tsx';
import { Panel, Quiet } from './panel.tsx';

/** The transitions of the moment: their number a second, and a sample of them. */
export function Activity({
  machines,
  live,
  kind,
}: {
  readonly machines: readonly Machine[];
  readonly live: LiveMachines;
  readonly kind: string | null;
}) {
  const openView = useOpenView();
  const recent = useLive(live, (now) => now.recent);
  const isFull = useLive(live, (now) => now.isFull);
  const now = useNow(1_000);
  const instances = useLive(live, (now) => now.instances);
  const unshown = useLive(live, (now) => now.unshown).reduce((sum, one) => sum + one, 0);
  const shown = kind === null ? recent : recent.filter((movement) => movement.kind === kind);
  return (
    <Panel
      label="Activity"
      head={
        <>
          <h2 className="text-[14px] font-semibold">Activity</h2>
          <Rate live={live} />
        </>
      }
    >
      {isFull && (
        <p
          role="status"
          data-color="waiting"
          className="state-text border-b border-edge px-4 py-2 text-[12px]"
        >
          The most live views are open already. Close another one; this page tries again every 30 seconds.
        </p>
      )}
      <Instances live={live} />
      {unshown > 0 && (
        <p data-unshown className="num border-b border-edge px-4 py-2 text-[12px] text-dim">
          {unshown === 1 ? '1 move' : `${roundCount(unshown)} moves`} of the last minute{' '}
          {unshown === 1 ? 'was' : 'were'} not shown. The counts include them.
        </p>
      )}
      {shown.length === 0 ? (
        <Quiet title="No activity yet">
          Send an email and follow it here. Select a state to see its actors.
        </Quiet>
      ) : (
        <ol className="py-1.5">
          {shown.slice(0, 40).map((movement) => {
            const machine = machines.find((one) => one.kind === movement.kind);
            return (
              <li key={`${movement.id} ${movement.event} ${movement.to} ${movement.at}`} className="rise">
                <button
                  type="button"
                  onClick={() => openView({ kind: movement.kind, id: movement.id })}
                  className="block w-full px-4 py-1.5 text-left hover:bg-hover"
                >
                  <span className="flex items-baseline gap-2">
                    <span className="min-w-0 flex-1 truncate font-mono text-[12px]">
                      {movement.from !== null && movement.from !== movement.to && (
                        <span className="text-faint">{movement.from} → </span>
                      )}
                      <span
                        data-color={machine ? colorOf(machine, movement.to) : 'quiet'}
                        className="state-text font-semibold"
                      >
                        {movement.to}
                      </span>
                    </span>
                    <time className="num shrink-0 text-[11px] text-faint">{shortAgo(movement.at, now)}</time>
                  </span>
                  <span className="flex justify-between gap-2 text-[11.5px] text-dim">
                    <span className="truncate">
                      {movement.event === 'spawned' ? 'begins' : movement.event}
                    </span>
                    <span className="shrink-0 font-mono text-[11px] text-faint" title={movement.id}>
                      {instances.length > 1 && (
                        <span data-by={movement.instance} title="The instance that made this move">
                          {movement.instance} ·{' '}
                        </span>
                      )}
                      {kind === null && movement.kind !== 'email' ? `${titleOf(movement.kind)} ` : ''}
                      {shortId(movement.id)}
                    </span>
                  </span>
                </button>
              </li>
            );
          })}
        </ol>
      )}
    </Panel>
  );
}

/** The transitions of the last minute, a bar a second. */
function Rate({ live }: { readonly live: LiveMachines }) {
  const rate = useLive(live, (now) => now.rate);
  const most = Math.max(4, ...rate);
  const lately = rate.slice(-6, -1).reduce((sum, one) => sum + one, 0) / 5;
  return (
    <div className="mt-2 flex items-end gap-3">
      <svg
        viewBox="0 0 60 20"
        preserveAspectRatio="none"
        className="h-8 min-w-0 flex-1"
        role="img"
        aria-label="Transitions in each of the last 60 seconds"
      >
        {rate.map((one, index) => (
          <rect
            // biome-ignore lint/suspicious/noArrayIndexKey: each index is a second.
            key={index}
            x={index + 0.12}
            width={0.76}
            y={20 - Math.max(0.6, (20 * one) / most)}
            height={Math.max(0.6, (20 * one) / most)}
            fill={one > 0 ? 'var(--color-blue)' : 'var(--color-edge)'}
          />
        ))}
      </svg>
      <p className="num shrink-0 whitespace-nowrap text-right leading-tight">
        <span className="block text-[15px] font-semibold">{roundCount(Math.round(lately))}</span>
        <span className="text-[11px] text-faint">moves per second</span>
      </p>
    </div>
  );
}
