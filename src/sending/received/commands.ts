import { untilDone } from '../../engine/duties/batches.ts';
import type { Engine } from '../../engine/engine.ts';
import { claimOnce, idempotently, keyedBy } from '../../http/request/idempotent.ts';
import type { Call, Replay } from '../../http/request/route.ts';
import type { MailReader } from '../../mail/reading/mail-reader.ts';
import { hasBareLineEnd, hasLargeHeader, LARGEST_HEADER, MOST_HOPS } from '../../mail/received/header.ts';
import { composeTestMessage } from '../../mail/received/test-message.ts';
import type { Database } from '../../platform/db/database.ts';
import { lowestIdAt, mintId } from '../../platform/db/ids.ts';
import { keepReply, type StoredReply } from '../../platform/db/stored-replies.ts';
import { Failure, invalid } from '../../platform/errors/failure.ts';
import { isProblem, parseAddress } from '../../platform/text/address.ts';
import { readRecipient, routeFor, routesOfDomain, routeTarget } from '../inbound-routes/queries.ts';
import { dropContents, idsByAddress, remainsOf } from './contents.ts';
import type { ReceivedItem, TestMessage, TestQuery } from './model.ts';
import { findReceived, NO_RECEIVED } from './queries.ts';
import { type StoreDeps, storeArrival } from './store.ts';
import { itemOf } from './views.ts';

/** The services that changing received mail calls. */
export interface ReceivedCommands extends StoreDeps {
  readonly engine: Pick<Engine, 'spawnTogether' | 'tell'>;
  readonly mailReader: Pick<MailReader, 'received' | 'file'>;
}

type ReceivedCall = Call<{ readonly id: string }>;

/** Its content goes with its last recipient of the workspace. */
const DELETE = `with gone as (
  delete from received where id = $1 and workspace_id = $2 and livemode = $3::boolean returning id, content_id
), ${remainsOf('gone')}
select content_id from gone`;

/** Deletes a received message for good. One that is being posted may still arrive once. */
export async function deleteReceived(
  { database }: Pick<StoreDeps, 'database'>,
  { caller, params }: ReceivedCall,
): Promise<null | Failure> {
  const rows = await database.query<{ content_id: string }>(DELETE, [
    params.id,
    caller.workspaceId,
    caller.livemode,
  ]);
  if (rows.length === 0) return NO_RECEIVED;
  // Two that are deleted at once see each other until both are committed. The pruner finds what a failure leaves.
  await dropContents(
    database,
    rows.map(({ content_id: id }) => id),
  ).catch(() => {});
  return null;
}

/** Messages of one statement. */
const FORGOTTEN_AT_ONCE = 200;

/** $3 the address, $4 the id below which they lie. A message names people in its octets: it goes as a whole. */
const FORGET = `with old as materialized (
  select id, content_id from received
  where id = any(${idsByAddress('$1', '$2::boolean', '$3::text')}) and id < $4
  order by id limit ${FORGOTTEN_AT_ONCE}
), ${remainsOf('old')}
delete from received r using old o where r.id = o.id returning 1 as one`;

/** Deletes every message that names an address and came before a moment (epoch ms): its person is forgotten. @throws UnavailableError */
export const forgetReceived = (
  database: Database,
  {
    workspaceId,
    livemode,
    key,
    before,
  }: {
    readonly workspaceId: string;
    readonly livemode: boolean;
    /** `Address.key` */
    readonly key: string;
    readonly before: number;
  },
  stop?: AbortSignal,
): Promise<void> =>
  untilDone(
    database,
    FORGET,
    [workspaceId, livemode, key, lowestIdAt('rcv', before)],
    FORGOTTEN_AT_ONCE,
    stop,
  );

const NO_WEBHOOK = new Failure('CONFLICT', 'The route of this message posts to no webhook.', {
  suggestion: 'Give the route a webhook first, with PATCH /v1/inbound-routes/{id}.',
});

/** Posts a message again, with all its retries, whatever became of it. The id of its event stays the same. */
export const redeliverReceived = (
  commands: ReceivedCommands,
  call: ReceivedCall,
): Promise<ReceivedItem | Failure | Replay> =>
  idempotently(commands.database, keyedBy(call), { run: () => redeliver(commands, call), lookFirst: true });

async function redeliver(
  { database, engine }: ReceivedCommands,
  call: ReceivedCall,
): Promise<ReceivedItem | Failure | StoredReply> {
  const { caller, params, now } = call;
  const row = await findReceived({ database }, caller, params.id);
  if (!row) return NO_RECEIVED;
  const target = await routeTarget(database, caller.workspaceId, row.routeId);
  if (!target?.url) return NO_WEBHOOK;
  const posting: ReceivedItem = { ...itemOf(row), status: 'posting' };
  const event = { type: 'redeliver.requested', at: now } as const;
  const claim = claimOnce(keyedBy(call), 200, () => JSON.stringify(posting));
  const result = await engine.tell('received', params.id, event, { scope: caller, claim });
  if (result.outcome === 'replayed') return result;
  // Refused while it is being posted: then it is on its way already.
  return result.outcome === 'absent' ? NO_RECEIVED : posting;
}

type TestCall = Call<unknown, TestQuery, TestMessage | Uint8Array>;

const ONLY_TEST = new Failure('FORBIDDEN', 'Only a test key may pass a message in.', {
  suggestion: 'Live routes receive by SMTP. Use a test key (svc_test_…).',
});
const wrongAt = (path: string, message: string): Failure => invalid([{ path, message }]);

/** A test message with its envelope. */
interface TestArrival {
  readonly raw: Buffer;
  readonly from: string | null;
  readonly to: string | null;
}

/** Passes a message to the routes of the test environment, as the SMTP port does for live ones. */
export async function receiveTest(
  commands: ReceivedCommands,
  call: TestCall,
): Promise<ReceivedItem | Failure | Replay> {
  if (call.caller.livemode) return ONLY_TEST;
  return idempotently<ReceivedItem>(commands.database, keyedBy(call), {
    lookFirst: true,
    run: () => receive(commands, call),
  });
}

async function testArrival({ query, body, now }: TestCall): Promise<TestArrival | Failure> {
  if (body instanceof Uint8Array) {
    if (body.byteLength === 0) return wrongAt('/body', 'Must be a message.');
    const raw = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
    if (hasLargeHeader(raw))
      return wrongAt('/body', `Must have a header of at most ${LARGEST_HEADER} octets.`);
    if (hasBareLineEnd(raw)) return wrongAt('/body', 'Must end each line with CRLF, as SMTP does.');
    return { raw, from: query.from ?? null, to: query.to ?? null };
  }
  const { from, to, subject = '', text = '' } = body;
  const sender = parseAddress(from);
  if (isProblem(sender)) return wrongAt('/body/from', sender.problem);
  const host = sender.domain;
  const messageId = `<${mintId('test', now)}@${host}>`;
  const raw = await composeTestMessage({ from, to, subject, text, messageId, date: now });
  return { raw, from: sender.address, to };
}

async function receive(commands: ReceivedCommands, call: TestCall): Promise<ReceivedItem | Failure> {
  const { database, mailReader } = commands;
  const { caller, body } = call;
  const arrival = await testArrival(call);
  if (arrival instanceof Failure) return arrival;
  const { raw } = arrival;
  const mail = await mailReader.received(raw, caller.workspaceId);
  if (mail.hops > MOST_HOPS)
    return wrongAt('/body', `Must have at most ${MOST_HOPS} Received fields: more are a loop.`);
  const [place, to] = [
    body instanceof Uint8Array ? '/query/to' : '/body/to',
    arrival.to ?? mail.to[0]?.address,
  ];
  const recipient = to === undefined ? null : readRecipient(to);
  if (!recipient) return wrongAt(place, 'Must be an address such as support@example.com.');
  const routes = await routesOfDomain(database, recipient.domain, false);
  const route = routeFor(
    routes.filter(({ workspaceId, isProven }) => isProven && workspaceId === caller.workspaceId),
    recipient,
  );
  if (!route)
    return wrongAt(place, 'No test route takes this address; a live one would answer 550 5.1.1 for it.');
  const [id = ''] = await storeArrival(commands, {
    envelopeFrom: arrival.from ?? mail.from?.address ?? '',
    taken: [{ route, recipient }],
    ...{ raw, mail },
  });
  const row = await findReceived({ database }, caller, id);
  if (!row) return NO_RECEIVED;
  const item = itemOf(row);
  await keepReply(database, keyedBy(call), 201, item);
  return item;
}
