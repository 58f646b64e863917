import type { EmailContext } from '../../../../machines/email/context.ts';
import type { Engine } from '../../../engine/engine.ts';
import { type ClockedActors, clockedActors, type OwnClock } from '../../../engine/runtime/clocked.ts';
import type { Database } from '../../../platform/db/database.ts';
import { lowestIdAt, timeOfId } from '../../../platform/db/ids.ts';
import { DAY_MS } from '../../../platform/time/clock.ts';
import { emailKind } from '../kind.ts';
import { simulate } from '../simulator/simulator.ts';

/** The clocks of instances differ by less, so no email of a test clock has an id from before this. */
const BEFORE_CLOCK_MS = DAY_MS;
/** The greatest age of the id of an email that arrives while a clock advances. */
const STRAGGLING_MS = 60_000;

const IDS = `select id from emails where test_clock_id = $1 and workspace_id = $2 and not livemode and id >= $3 order by id`;

/** The emails of test clocks, as the clocks advance. */
export function clockedEmails(deps: {
  readonly database: Database;
  readonly engine: Pick<Engine, 'tell' | 'fireTimers'>;
}): ClockedActors {
  const { database, engine } = deps;

  /** All ids first, and then those that came since. */
  const ids = ({ id: clock, workspaceId }: OwnClock) => {
    let since = lowestIdAt('em', timeOfId(clock) - BEFORE_CLOCK_MS);
    const known = new Set<string>();
    return async () => {
      const rows = await database.query<{ id: string }>(IDS, [clock, workspaceId, since]);
      const last = rows.at(-1);
      if (last) since = lowestIdAt('em', timeOfId(last.id) - STRAGGLING_MS);
      const fresh = rows.map(({ id }) => id).filter((id) => !known.has(id));
      for (const id of fresh) known.add(id);
      return fresh;
    };
  };

  /** The attempt and its reports in one commit: there is never one without the other. */
  const attempt = async (id: string, context: EmailContext): Promise<void> => {
    const report = {};
    const events = simulate(context, `<${id}@simulator>`, context.at);
    await Promise.all(events.map((event) => engine.tell('email', id, event, { report })));
  };

  return clockedActors(deps, {
    kind: emailKind,
    name: 'email',
    ids,
    isUnderWay: ({ state }) => state === 'sending',
    perform: ({ id, context }) => attempt(id, context as EmailContext),
    async end({ id, state, context }, at) {
      const own = context as EmailContext;
      if (state === 'sending') await attempt(id, own);
      if (state === 'scheduled')
        await engine.tell('email', id, { type: 'cancel.requested', at: at ?? own.at });
    },
  });
}
