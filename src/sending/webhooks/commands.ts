import { eq } from 'drizzle-orm';
import type {
  WebhookEndpointContext,
  WebhookEndpointState,
} from '../../../machines/webhook-endpoint/machine.ts';
import type { Engine } from '../../engine/engine.ts';
import type { Principal } from '../../http/auth/principal.ts';
import { type ConditionalBody, changedSince, isOutdated } from '../../http/if-updated-at.ts';
import { claimOnce, idempotently, keyedBy } from '../../http/request/idempotent.ts';
import type { Call, Replay } from '../../http/request/route.ts';
import type { Sealer } from '../../platform/crypto/sealer.ts';
import { mintId } from '../../platform/db/ids.ts';
import { webhookSecrets } from '../../platform/db/schema/webhooks.ts';
import type { StoredReply } from '../../platform/db/stored-replies.ts';
import { Failure, invalidAt, notFound } from '../../platform/errors/failure.ts';
import type { TestClocks } from '../emails/commands.ts';
import type { StopPerformer } from './deliveries/stop-performer.ts';
import { ENDPOINTS_PERIOD } from './endpoints/kind.ts';
import { mintSecret, sealSecret, secretPrefixOf } from './endpoints/secret.ts';
import { problemOfTarget, type TargetRules } from './endpoints/target.ts';
import type { PostResult } from './http/post-result.ts';
import type { PostRequest } from './http/poster.ts';
import type { NewWebhook, WebhookPatch, WebhookView } from './model.ts';
import { findEndpointRow, type WebhookReader } from './queries.ts';
import { changedAtOf, webhookOf } from './views.ts';

// biome-ignore lint/performance/noBarrelFile: what other modules need to post requests, beside the commands.
export { mintSecret, secretPrefixOf } from './endpoints/secret.ts';
export { URL_MAX_LENGTH } from './endpoints/target.ts';
export { isSuccess, REASONS } from './http/post-result.ts';

/** Posts signed requests for other modules, as webhooks are posted. */
export interface WebhookPosting {
  /** Returns a sentence with the problem of a URL; null when there is none. */
  problemOfUrl(url: string): Promise<string | null>;
  /** Posts once, within ten seconds, whatever the receiver does. @throws UnavailableError */
  post(posting: PostRequest): Promise<PostResult>;
}

export interface WebhookCommands extends WebhookReader {
  readonly engine: Engine;
  readonly sealer: Sealer;
  readonly targetRules: TargetRules;
  readonly stopping: Pick<StopPerformer, 'finished'>;
  readonly simulatorDomain: string;
  /** The test clocks by which deliveries may live. Without them none does. */
  readonly testClocks?: () => TestClocks | undefined;
}

type WebhookCall = Call<{ readonly id: string }>;
type WithSecret = WebhookView & { secret: string };

/** Most endpoints of one environment of a workspace. */
const MOST_ENDPOINTS = 20;
const REPLY = 'idempotent reply';

const TOO_MANY_ENDPOINTS = new Failure(
  'QUOTA_EXCEEDED',
  `This environment has ${MOST_ENDPOINTS} webhook endpoints, the maximum.`,
  {
    suggestion: 'Delete one that you no longer need; an endpoint can subscribe to several types.',
  },
);

export const NO_ENDPOINT = notFound('webhook endpoint');

const problemOf = async (
  url: string | undefined,
  { targetRules }: WebhookCommands,
): Promise<Failure | null> => {
  const problem = url === undefined ? null : await problemOfTarget(url, targetRules);
  return problem === null ? null : invalidAt('/body/url', problem);
};

/** Registers an endpoint. The reply shows its secret, which is never shown again. */
export const createWebhook = (
  commands: WebhookCommands,
  call: Call<unknown, unknown, NewWebhook>,
): Promise<WithSecret | Failure | Replay> =>
  idempotently(commands.database, keyedBy(call), {
    run: () => create(commands, call),
    open: opened(commands),
  });

async function create(
  commands: WebhookCommands,
  call: Call<unknown, unknown, NewWebhook>,
): Promise<WithSecret | Failure | StoredReply> {
  const { caller, body, now } = call;
  const problem = await problemOf(body.url, commands);
  if (problem) return problem;
  const id = mintId('wh', now);
  const secret = mintSecret();
  const viewOf = (state: WebhookEndpointState, context: WebhookEndpointContext) =>
    withSecret(id, state, context, secret);
  const spawned = await commands.engine.spawn('webhookEndpoint', {
    id,
    workspaceId: caller.workspaceId,
    livemode: caller.livemode,
    input: { at: now, url: body.url, events: body.events },
    columns: { sealed: sealSecret(commands.sealer, id, secret), prefix: secretPrefixOf(secret) },
    meter: { period: ENDPOINTS_PERIOD, quota: MOST_ENDPOINTS },
    claim: claimOnce(keyedBy(call), 201, sealed(commands, viewOf)),
  });
  if (spawned.outcome === 'overQuota' || spawned.outcome === 'withheld') return TOO_MANY_ENDPOINTS;
  return spawned.outcome === 'replayed' ? spawned : viewOf(spawned.state, spawned.context);
}

/** Changes the members that the body names. */
export async function patchWebhook(
  commands: WebhookCommands,
  { caller, params, body, now }: Call<{ readonly id: string }, unknown, WebhookPatch>,
): Promise<WebhookView | Failure> {
  const problem = await problemOf(body.url, commands);
  if (problem) return problem;
  if (body.status === 'active') await commands.stopping.finished(params.id, caller);
  const { ifUpdatedAt, ...settings } = body;
  const seen = await seenOf(commands, caller, params.id, { ifUpdatedAt });
  if (seen instanceof Failure) return seen;
  const event = { type: 'settings.changed' as const, at: now, ...settings, ...seen };
  const result = await commands.engine.tell('webhookEndpoint', params.id, event, { scope: caller });
  if (result.outcome === 'refused' && result.state !== 'deleted') return CHANGED;
  if (result.outcome !== 'changed') return NO_ENDPOINT;
  const prefix = await prefixOf(commands, params.id);
  return webhookOf({ id: params.id, state: result.state, context: result.context, prefix });
}

const CHANGED = changedSince('webhook endpoint');

/**
 * The event carries the `updatedAt` that the client states, so that no change comes between this reading and
 * the decision.
 */
async function seenOf(
  reader: WebhookReader,
  caller: Principal,
  id: string,
  stated: ConditionalBody,
): Promise<{ readonly seenAt?: number | null } | Failure> {
  if (stated.ifUpdatedAt === undefined) return {};
  const row = await findEndpointRow(reader, caller, id);
  if (!row) return NO_ENDPOINT;
  const context = row.context as WebhookEndpointContext;
  return isOutdated(stated, changedAtOf(id, context)) ? CHANGED : { seenAt: context.changedAt ?? null };
}

/**
 * Deletes an endpoint for good. After the answer no further attempt begins, also for deliveries that were
 * waiting.
 */
export async function deleteWebhook(
  { engine }: WebhookCommands,
  { caller, params, now }: WebhookCall,
): Promise<null | Failure> {
  const event = { type: 'delete.requested', at: now } as const;
  const result = await engine.tell('webhookEndpoint', params.id, event, { scope: caller });
  return result.outcome === 'changed' ? null : NO_ENDPOINT;
}

/** Replaces the secret of an endpoint, and enables the endpoint when it was disabled. */
export const rotateSecret = (
  commands: WebhookCommands,
  call: WebhookCall,
): Promise<WithSecret | Failure | Replay> =>
  idempotently(commands.database, keyedBy(call), {
    run: () => rotate(commands, call),
    open: opened(commands),
  });

async function rotate(
  { engine, sealer, stopping }: WebhookCommands,
  call: WebhookCall,
): Promise<WithSecret | Failure | StoredReply> {
  const { caller, params, now } = call;
  await stopping.finished(params.id, caller);
  const secret = mintSecret();
  const viewOf = (state: WebhookEndpointState, context: WebhookEndpointContext) =>
    withSecret(params.id, state, context, secret);
  const event = {
    type: 'secret.rotated' as const,
    at: now,
    sealed: sealSecret(sealer, params.id, secret),
    prefix: secretPrefixOf(secret),
  };
  const claim = claimOnce(keyedBy(call), 200, sealed({ sealer }, viewOf));
  const result = await engine.tell('webhookEndpoint', params.id, event, { scope: caller, claim });
  if (result.outcome === 'replayed') return result;
  return result.outcome === 'changed' ? viewOf(result.state, result.context) : NO_ENDPOINT;
}

const withSecret = (
  id: string,
  state: WebhookEndpointState,
  context: WebhookEndpointContext,
  secret: string,
): WithSecret => ({
  ...webhookOf({ id, state, context, prefix: secretPrefixOf(secret) }),
  secret,
});

/** A stored reply holds the secret for 24 hours, so it is sealed. */
const sealed =
  (
    { sealer }: Pick<WebhookCommands, 'sealer'>,
    viewOf: (state: WebhookEndpointState, context: WebhookEndpointContext) => unknown,
  ) =>
  (state: WebhookEndpointState, context: WebhookEndpointContext): string =>
    sealer.seal(JSON.stringify(viewOf(state, context)), REPLY);

const opened =
  ({ sealer }: WebhookCommands) =>
  (reply: string): unknown =>
    JSON.parse(sealer.open(reply, REPLY));

async function prefixOf({ database }: WebhookReader, id: string): Promise<string | null> {
  const [row] = await database.read((orm) =>
    orm
      .select({ prefix: webhookSecrets.prefix })
      .from(webhookSecrets)
      .where(eq(webhookSecrets.webhookId, id)),
  );
  return row?.prefix ?? null;
}
