import type { DomainContext } from '../../../../machines/domain/context.ts';
import type { Performer } from '../../../engine/runtime/performers.ts';
import type { Database } from '../../../platform/db/database.ts';
import type { Clock } from '../../../platform/time/clock.ts';
import { receivesSql } from '../queries.ts';
import { type CheckedDomain, type CheckOutcome, type CheckParts, checkRecordsOf } from './check.ts';

/** Checks at the same time. Each sends some twenty queries to a name server, which should not be flooded. */
const SLOTS = 20;
const BACKLOG = 2_000;

const READ = `select d.id, d.name, d.return_path as "returnPath", d.tracking_domain as "trackingDomain", t.provider,
  coalesce(t.fallbacks, '{}') as fallbacks,
  k.sets as "keySets", ${receivesSql('d')} as receives
from domains d left join domain_transports t on t.domain_id = d.id cross join lateral (
  select json_agg(json_build_object('selector', k.selector, 'stage', k.stage,
    'since', (extract(epoch from k.since) * 1000)::float8, 'rsaValue', k.rsa_value, 'ed25519Value', k.ed25519_value,
    'rsaKey', k.rsa)) as sets
  from domain_keys k where k.domain_id = d.id and k.stage <> 'retired'
) k where d.id = $1 and k.sets is not null`;

/** Carries out checks: looks the records up in DNS, and reports the outcome to the domain. */
export const domainPerformer = (
  { database, clock }: { readonly database: Database; readonly clock: Clock },
  checking: CheckParts,
): Performer => ({
  slots: SLOTS,
  backlog: BACKLOG,
  async perform({ actor, effect }) {
    const [domain] = await database.query<CheckedDomain>(READ, [actor.id]);
    // The domain was removed meanwhile, so no outcome is needed.
    if (!domain) return [];
    const { attempt } = effect.params as { readonly attempt: number };
    const found = await checkRecordsOf(
      domain,
      actor.snapshot.context as DomainContext,
      checking,
      clock.now(),
    );
    const outcome: CheckOutcome = { type: 'check.completed', at: clock.now(), attempt, ...found };
    return [outcome];
  },
});
