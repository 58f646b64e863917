import type { DomainContext } from '../../../machines/domain.ts';
import type { Database } from '../../db/database.ts';
import type { Clock } from '../../engine/clock-source.ts';
import type { Performer } from '../../engine/performers.ts';
import { type CheckedDomain, type CheckOutcome, type Looking, lookAt } from './lookup.ts';

/** A check is some twenty questions to a name server: few at a time are polite, and many domains are checked in a day. */
const SLOTS = 20;
const BACKLOG = 2_000;

const READ = `select d.id, d.name, d.dkim_selector as "dkimSelector", d.rsa_value as "rsaValue",
  d.ed25519_value as "ed25519Value", d.return_path as "returnPath", d.tracking_domain as "trackingDomain", k.rsa as "rsaKey",
  t.provider
from domains d join domain_keys k on k.domain_id = d.id left join domain_transports t on t.domain_id = d.id where d.id = $1`;

/** Carries out checks: looks at DNS as it is now, and tells the domain what was found. */
export const domainPerformer = (
  { database, clock }: { readonly database: Database; readonly clock: Clock },
  looking: Looking,
): Performer => ({
  slots: SLOTS,
  backlog: BACKLOG,
  async perform({ actor, effect }) {
    const [domain] = await database.query<CheckedDomain>(READ, [actor.id]);
    // Removed meanwhile: nobody waits for an outcome.
    if (!domain) return [];
    const { attempt } = effect.params as { readonly attempt: number };
    const found = await lookAt(domain, actor.snapshot.context as DomainContext, looking);
    const outcome: CheckOutcome = { type: 'check.completed', at: clock.now(), attempt, ...found };
    return [outcome];
  },
});
