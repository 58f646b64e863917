import { and, eq } from 'drizzle-orm';
import type { Principal } from '../../http/auth/principal.ts';
import { changedSince, isStatedSql, laterSql, statedMoment } from '../../http/if-updated-at.ts';
import { idempotently, keyedBy } from '../../http/request/idempotent.ts';
import type { Call, Replay } from '../../http/request/route.ts';
import type { Sealer } from '../../platform/crypto/sealer.ts';
import { mintId } from '../../platform/db/ids.ts';
import { inboundRoutes } from '../../platform/db/schema/received.ts';
import { keepReplySql, replyParameters } from '../../platform/db/stored-replies.ts';
import { type Detail, Failure, invalid, invalidAt, notFound } from '../../platform/errors/failure.ts';
import { normalLocalPart } from '../../platform/text/local-part.ts';
import { findDomainName } from '../domains/queries.ts';
import { mintSecret, secretPrefixOf, type WebhookPosting } from '../webhooks/commands.ts';
import { type MayForward, problemsOfTargets } from './forward-targets.ts';
import {
  type InboundRoutePatch,
  type InboundRouteSecretView,
  MOST_ROUTES,
  type NewInboundRoute,
} from './model.ts';
import { findRoute, type RouteReader, type RouteRow, routeView, sealRouteSecret } from './queries.ts';

/** The services that changing routes calls. */
export interface RouteCommands extends RouteReader {
  readonly sealer: Sealer;
  readonly posting: () => Pick<WebhookPosting, 'problemOfUrl'>;
  /** True where a spam filter is asked about received mail. */
  readonly isFiltered: boolean;
  /** True for an address that a route may forward to. @throws UnavailableError */
  readonly mayForward: MayForward;
  /** Called once a change of routes is durable: this process answers RCPT by it at once. */
  readonly changed: () => void;
}

const NO_ROUTE = notFound('inbound route');
const CHANGED = changedSince('inbound route');
const TOO_MANY = new Failure(
  'QUOTA_EXCEEDED',
  `This environment has ${MOST_ROUTES} inbound routes, the maximum.`,
  { suggestion: 'Delete one that you no longer need, or take several addresses by one prefix.' },
);
const REPLY = 'idempotent reply';

/** RFC 5322 3.2.3 and RFC 6532: a dot-atom in Unicode, without the plus that begins a tag. */
const LOCAL_PART = /^[\w!#$%&'*/=?^`{|}~\p{L}\p{M}\p{N}.-]+$/u;

/** A route as its columns hold it, without its secret. */
type Draft = Pick<RouteRow, 'matchType' | 'localPart' | 'priority' | 'action' | 'url' | 'forwardTo' | 'spam'>;

/** The mistakes in the parts of a body, which the schema alone cannot see. */
function problemsOf(
  { match, action, spam }: Pick<InboundRoutePatch, 'match' | 'action' | 'spam'>,
  isFiltered: boolean,
): readonly Detail[] {
  const problems: Detail[] = [];
  // A route that promises more than the door does would let spam through without a word.
  if (spam === 'refuse' && !isFiltered)
    problems.push({
      path: '/body/spam',
      message: 'No spam filter is asked: set RSPAMD_URL or SPAMASSASSIN_URL, or use mark.',
    });
  if (match) {
    const { type, localPart } = match;
    const path = '/body/match/localPart';
    if (type === 'catchAll' && localPart !== undefined)
      problems.push({ path, message: 'A catchAll takes every address: leave the name out.' });
    if (type !== 'catchAll' && localPart === undefined)
      problems.push({ path, message: 'Must name the part of the address before the @.' });
    if (localPart !== undefined && (!LOCAL_PART.test(localPart) || Buffer.byteLength(localPart) > 64))
      problems.push({
        path,
        message: "Must have 1 to 64 octets: letters, digits and .!#$%&'*/=?^_`{|}~- without a plus.",
      });
  }
  if (action) {
    const path = '/body/action/url';
    if (action.type === 'webhook' && action.url === undefined)
      problems.push({ path, message: 'A webhook needs the URL that receives the messages.' });
    if (action.type !== 'webhook' && action.url !== undefined)
      problems.push({ path, message: 'Only a webhook has a URL: leave it out.' });
    const to = '/body/action/to';
    if (action.type === 'forward' && action.to === undefined)
      problems.push({ path: to, message: 'A forward needs the addresses that get the messages.' });
    if (action.type !== 'forward' && action.to !== undefined)
      problems.push({ path: to, message: 'Only a forward has targets: leave them out.' });
  }
  return problems;
}

/** The mistakes in a body, its URL and targets included, which are looked up. */
async function refusalOf(
  { posting, mayForward, isFiltered }: RouteCommands,
  caller: Principal,
  body: Pick<InboundRoutePatch, 'match' | 'action' | 'spam'>,
): Promise<Failure | null> {
  const problems = problemsOf(body, isFiltered);
  if (problems.length > 0) return invalid(problems);
  const targets = await problemsOfTargets(mayForward, caller, body.action?.to ?? []);
  if (targets.length > 0) return invalid(targets);
  const url = body.action?.url;
  const problem = url === undefined ? null : await posting().problemOfUrl(url);
  return problem === null ? null : invalidAt('/body/action/url', problem);
}

const withBody = (before: Draft, { match, action, priority, spam }: InboundRoutePatch): Draft => ({
  matchType: match?.type ?? before.matchType,
  localPart: match
    ? match.localPart === undefined
      ? null
      : normalLocalPart(match.localPart)
    : before.localPart,
  priority: priority ?? before.priority,
  action: action?.type ?? before.action,
  url: action ? (action.url ?? null) : before.url,
  forwardTo: action ? (action.to ?? null) : before.forwardTo,
  spam: spam ?? before.spam,
});

const EMPTY: Draft = {
  matchType: 'catchAll',
  localPart: null,
  action: 'keep',
  url: null,
  forwardTo: null,
  priority: 100,
  spam: 'mark',
};

/**
 * $1 … $3 the route and its owner, $4 and $5 its domain, $6 … $14 its columns, $15 now, $16 the reply, $17
 * on: its key.
 */
const CREATE = `with created as (
  insert into inbound_routes (id, workspace_id, livemode, domain_id, domain_name, match_type, local_part, priority, action, url, forward_to, spam,
    sealed, secret_prefix, created_at, updated_at)
  select $1, $2, $3::boolean, $4, $5, $6, $7, $8::integer, $9, $10, $11::text[], $12, $13, $14, $15::timestamptz, $15::timestamptz
  where inbound_routes_present($2, $3::boolean) < ${MOST_ROUTES}
  returning id
), kept as (
  ${keepReplySql({ from: 'created', reply: '$16::text', first: 17 })}
)
select id from created`;

/** Creates a route. The reply shows the secret of its webhook, which is never shown again. */
export async function createRoute(
  commands: RouteCommands,
  call: Call<unknown, unknown, NewInboundRoute>,
): Promise<InboundRouteSecretView | Failure | Replay> {
  const { database, sealer, changed } = commands;
  const { caller, body, now } = call;
  return idempotently(database, keyedBy(call), {
    open: (reply) => JSON.parse(sealer.open(reply, REPLY)) as InboundRouteSecretView,
    run: async () => {
      const domainName = await findDomainName(database, caller, body.domainId);
      if (domainName === null) return notFound('domain');
      const refused = await refusalOf(commands, caller, body);
      if (refused) return refused;
      const id = mintId('inr', now);
      const draft = withBody(EMPTY, body);
      const secret = draft.action === 'webhook' ? mintSecret() : null;
      const secretPrefix = secret === null ? null : secretPrefixOf(secret);
      const at = new Date(now);
      const row = { ...draft, id, livemode: caller.livemode, domainId: body.domainId, secretPrefix };
      const view = { ...routeView({ ...row, createdAt: at, updatedAt: at }), secret };
      const rows = await database.query(CREATE, [
        id,
        caller.workspaceId,
        caller.livemode,
        body.domainId,
        domainName,
        draft.matchType,
        draft.localPart,
        draft.priority,
        draft.action,
        draft.url,
        draft.forwardTo,
        draft.spam,
        secret === null ? null : sealRouteSecret(sealer, id, secret),
        secretPrefix,
        at.toISOString(),
        sealer.seal(JSON.stringify(view), REPLY),
        ...replyParameters(keyedBy(call), 201),
      ]);
      if (rows.length === 0) return TOO_MANY;
      changed();
      return view;
    },
  });
}

const PATCH = `update inbound_routes set match_type = $4, local_part = $5, priority = $6::integer, action = $7, url = $8, forward_to = $15::text[], spam = $9,
  sealed = case when $7 = 'webhook' then coalesce($10, sealed) end, secret_prefix = case when $7 = 'webhook' then coalesce($11, secret_prefix) end,
  updated_at = ${laterSql('updated_at', '$12')}
where id = $1 and workspace_id = $2 and livemode = $3::boolean and ${isStatedSql('updated_at', '$13')} and updated_at = $14::timestamptz
returning updated_at`;

/** A change that another one overtakes is made again on what that has left. */
const MOST_TRIES = 5;

/**
 * Changes the members that the body names. A route that gets its first webhook gets a secret, which the reply
 * shows.
 */
export async function patchRoute(
  commands: RouteCommands,
  { caller, params, body, now }: Call<{ readonly id: string }, unknown, InboundRoutePatch>,
): Promise<InboundRouteSecretView | Failure> {
  const { database, sealer, changed } = commands;
  const refused = await refusalOf(commands, caller, body);
  if (refused) return refused;
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const before = await findRoute(commands, caller, params.id);
    if (!before) return NO_ROUTE;
    const stated = statedMoment(body);
    if (stated !== null && stated !== before.updatedAt.toISOString()) return CHANGED;
    const draft = withBody(before, body);
    const secret = draft.action === 'webhook' && before.secretPrefix === null ? mintSecret() : null;
    const newPrefix = secret === null ? null : secretPrefixOf(secret);
    const [row] = await database.query<{ updated_at: string | Date }>(PATCH, [
      params.id,
      caller.workspaceId,
      caller.livemode,
      draft.matchType,
      draft.localPart,
      draft.priority,
      draft.action,
      draft.url,
      draft.spam,
      secret === null ? null : sealRouteSecret(sealer, params.id, secret),
      newPrefix,
      new Date(now).toISOString(),
      stated,
      before.updatedAt.toISOString(),
      draft.forwardTo,
    ]);
    if (!row) continue;
    changed();
    const secretPrefix = draft.action === 'webhook' ? (newPrefix ?? before.secretPrefix) : null;
    return {
      ...routeView({ ...before, ...draft, secretPrefix, updatedAt: new Date(row.updated_at) }),
      secret,
    };
  }
  return CHANGED;
}

/** Deletes a route. Messages that it took stay. */
export async function deleteRoute(
  { database, changed }: RouteCommands,
  { caller, params }: Call<{ readonly id: string }>,
): Promise<null | Failure> {
  const rows = await database.read((orm) =>
    orm
      .delete(inboundRoutes)
      .where(
        and(
          eq(inboundRoutes.id, params.id),
          eq(inboundRoutes.workspaceId, caller.workspaceId),
          eq(inboundRoutes.livemode, caller.livemode),
        ),
      )
      .returning({ id: inboundRoutes.id }),
  );
  if (rows.length === 0) return NO_ROUTE;
  changed();
  return null;
}
