import type { Engine } from '../../engine/engine.ts';
import { TtlCache } from '../../platform/async/ttl-cache.ts';
import type { Database } from '../../platform/db/database.ts';
import { maySendSql } from '../domains/queries.ts';
import { ownsMailSql } from './queries.ts';

/** The sender of an email that asks for a reply address. */
export interface ReplySender {
  readonly workspaceId: string;
  readonly livemode: boolean;
  /** The domain of its From, in lower-case ASCII. */
  readonly domain: string;
}

/** The domains that take the replies to emails. */
export interface ReplyDomains {
  /**
   * The verified domain whose mail is the sender's and that has an inbound route, of several the one that
   * fits best; null when there is none. @throws UnavailableError
   */
  of(sender: ReplySender): Promise<string | null>;
  /** Forgets what is known: a route has changed. */
  clear(): void;
}

/** The sender's own domain, else one beneath it, else the one whose route is the oldest. */
const FIND = `select r.domain_name as name from inbound_routes r
  join domains d on d.id = r.domain_id and d.workspace_id = r.workspace_id and d.state <> 'removed'
where r.workspace_id = $1 and r.livemode = $2::boolean and ${maySendSql('d')} and ${ownsMailSql('r')}
order by r.domain_name <> $3, right(r.domain_name, length($3) + 1) <> '.' || $3, r.id limit 1`;

/** Lifetime of an entry, after which changes of other instances count. */
const FRESH_MS = 1_000;
/** Senders that are remembered. */
const MOST = 10_000;

/** The domains with a cache: a batch, or a burst of single mail, asks the database once a second. */
export function replyDomains(
  database: Database,
  engine: Pick<Engine, 'listen'>,
  monotonic: () => number,
): ReplyDomains {
  const known = new TtlCache<string | null>({
    forMs: () => FRESH_MS,
    sharedMs: FRESH_MS,
    atMost: MOST,
    monotonic,
  });
  engine.listen((kind) => {
    if (kind.name === 'domain') known.clear();
  });
  return {
    of: ({ workspaceId, livemode, domain }) =>
      known.get(`${workspaceId} ${livemode} ${domain}`, async () => {
        const [row] = await database.query<{ name: string }>(FIND, [workspaceId, livemode, domain]);
        return row?.name ?? null;
      }),
    clear: () => known.clear(),
  };
}
