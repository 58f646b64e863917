import type { NewsCompleteness, ShownInstance } from '../../../../../live/model.ts';
import { useLive } from '../../api/machines/hooks.ts';
import type { LiveMachines } from '../../api/machines/live.ts';
import { spanText, timeText } from '../../ui/display/format.ts';
import { useNow } from '../../ui/display/time.tsx';

const ROLES: readonly string[] = ['http', 'engine', 'delivery'];

/** `all roles`, or those that it has. */
const rolesText = (roles: readonly string[]): string =>
  ROLES.every((role) => roles.includes(role)) ? 'all roles' : roles.join(', ');

/** Beyond this number, the instances are listed on demand. */
const MOST_OPEN = 4;

/** The reasons for showing only the moves of this instance. */
const INCOMPLETE: Readonly<Record<Exclude<NewsCompleteness, 'all'>, string>> = {
  crowded: 'Only the moves of this instance are shown, because too many environments are watched at once.',
  away: 'Only the moves of this instance are shown, because the database does not answer. The service keeps trying.',
};

/** The running instances, and the completeness of their news. */
export function Instances({ live }: { readonly live: LiveMachines }) {
  const instances = useLive(live, (now) => now.instances);
  const completeness = useLive(live, (now) => now.completeness);
  const now = useNow(1_000);
  const missing =
    instances.length === 0
      ? []
      : ROLES.filter((role) => !instances.some(({ roles }) => roles.includes(role)));
  return (
    <section aria-label="Instances" className="border-b border-edge px-4 py-3">
      <details open={instances.length <= MOST_OPEN}>
        <summary className="cursor-pointer text-[11px] font-semibold tracking-wide text-faint uppercase">
          {instances.length > 1 ? `${instances.length} instances` : 'Instances'}
        </summary>
        <ul className="mt-1.5 grid grid-cols-1 gap-1">
          {instances.map((instance) => (
            <Instance key={instance.id} instance={instance} now={now} />
          ))}
        </ul>
      </details>
      {missing.length > 0 && (
        <p data-color="bad" className="state-text mt-1.5 text-[12px]">
          No running instance has the {missing.length > 1 ? 'roles' : 'role'} {missing.join(' and ')}: work
          for these roles waits.
        </p>
      )}
      {instances.length === 1 && missing.length === 0 && (
        <p className="mt-1.5 text-[12px] text-faint">
          One instance has all roles. Other instances on the same database appear here automatically.
        </p>
      )}
      {completeness !== 'all' && (
        <p role="status" data-color="waiting" className="state-text mt-1.5 text-[12px]">
          {INCOMPLETE[completeness]}
        </p>
      )}
    </section>
  );
}

function Instance({ instance, now }: { readonly instance: ShownInstance; readonly now: number }) {
  const { id, roles, version, startedAt, isThis } = instance;
  return (
    <li data-instance={id} className="text-[12px]">
      <span className="flex items-baseline gap-2">
        <span className="font-mono text-[12px] font-semibold">{id}</span>
        <span className="min-w-0 flex-1 truncate text-dim">{rolesText(roles)}</span>
        {isThis && <span className="shrink-0 text-[11px] text-faint">this page</span>}
      </span>
      <span className="flex flex-wrap justify-between gap-x-2 text-[11px] text-faint">
        <span>{version === null ? 'An earlier version; its moves are not shown' : `version ${version}`}</span>
        {startedAt !== null && (
          <time className="num" dateTime={new Date(startedAt).toISOString()} title={timeText(startedAt, now)}>
            up for {spanText(Math.max(1_000, now - startedAt))}
          </time>
        )}
      </span>
    </li>
  );
}
