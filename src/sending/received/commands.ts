import { untilDone } from '../../engine/duties/batches.ts';
import type { Engine } from '../../engine/engine.ts';
import { claimOnce, idempotently, keyedBy } from '../../http/request/idempotent.ts';
import type { Call, Replay } from '../../http/request/route.ts';
import { LARGEST_HEADER } from '../../mail/raw/header-editor.ts';
import { MOST_HOPS } from '../../mail/raw/raw-mail.ts';
import type { MailReader } from '../../mail/reading/mail-reader.ts';
import { MOST_ADDRESSES } from '../../mail/received/address-keys.ts';
import { hasLargeHeader, withSingleReturns } from '../../mail/received/header.ts';
import { composeTestMessage } from '../../mail/received/test-message.ts';
import { isRefusable, type SpamFilter } from '../../mail/spam/spam-filter.ts';
import type { Signer } from '../../platform/crypto/signer.ts';
import type { Database } from '../../platform/db/database.ts';
import { lowestIdAt, mintId } from '../../platform/db/ids.ts';
import { keepReply, type StoredReply } from '../../platform/db/stored-replies.ts';
import { Failure, invalidAt } from '../../platform/errors/failure.ts';
import { isProblem, parseAddress } from '../../platform/text/address.ts';
import { eraseForwarded } from '../emails/queries.ts';
import {
  NO_ROUTE,
  readRecipient,
  routesOfDomain,
  routeTarget,
  takingRoute,
} from '../inbound-routes/queries.ts';
import { dropContents, idsByAddress, remainsOf } from './contents.ts';
import type { ReceivedItem, TestMessage, TestQuery } from './model.ts';
import { findReceived, NO_RECEIVED } from './queries.ts';
import { type StoreDeps, storeArrival } from './store.ts';
import { type Untakable, untakable } from './untakable.ts';
import { itemOf } from './views.ts';

/** The services that changing received mail calls. */
export interface ReceivedCommands extends StoreDeps {
  readonly engine: Pick<Engine, 'spawnTogether' | 'tell'>;
  readonly mailReader: Pick<MailReader, 'received' | 'file'>;
  readonly signer: Signer;
  /** Null where none is configured. */
  readonly spamFilter: SpamFilter | null;
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
  // Two that are deleted at once see each other until both are committed. The pruner finds what a failure
  // leaves.
  await dropContents(
    database,
    rows.map(({ content_id: id }) => id),
  ).catch(() => {});
  return null;
}

/** Messages of one statement. */
const FORGOTTEN_AT_ONCE = 200;

/** $3 the address, $4 the id below which they lie, $5 the contact, whose replies may name another address. */
const OF_PERSON = `(id = any(${idsByAddress('$1', '$2::boolean', '$3::text')}) or id = any(array(
    select r.id from received r where r.contact_id = $5 and r.workspace_id = $1 and r.livemode = $2::boolean
  ))) and id < $4`;

/** A message names people in its octets: it goes as a whole. */
const FORGET = `with old as materialized (
  select id, content_id from received
  where ${OF_PERSON}
  order by id limit ${FORGOTTEN_AT_ONCE}
), ${remainsOf('old')}
delete from received r using old o where r.id = o.id returning 1 as one`;

/** $6 the id that the page before has ended at. */
const FORWARDED = `select id, context ->> 'forwardedAs' as "emailId" from received
where ${OF_PERSON} and id > $6 and context ->> 'forwardedAs' is not null
order by id limit ${FORGOTTEN_AT_ONCE}`;

/**
 * Deletes every message that names an address, or is a reply of its contact, and came before a moment (epoch
 * ms), and takes it out of the emails that forward it: its person is forgotten. @throws UnavailableError
 */
export async function forgetReceived(
  database: Database,
  {
    workspaceId,
    livemode,
    key,
    contactId,
    before,
  }: {
    readonly workspaceId: string;
    readonly livemode: boolean;
    /** `Address.key` */
    readonly key: string;
    readonly contactId: string;
    readonly before: number;
  },
  stop?: AbortSignal,
): Promise<void> {
  const parameters = [workspaceId, livemode, key, lowestIdAt('rcv', before), contactId] as const;
  let after: string | undefined = '';
  while (after !== undefined && !stop?.aborted) {
    const rows: readonly { id: string; emailId: string }[] = await database.query(FORWARDED, [
      ...parameters,
      after,
    ]);
    await eraseForwarded(
      database,
      workspaceId,
      rows.map(({ emailId }) => emailId),
    );
    after = rows.at(-1)?.id;
  }
  await untilDone(database, FORGET, parameters, FORGOTTEN_AT_ONCE, stop);
}

const NO_TARGET = new Failure('CONFLICT', 'The route of this message neither posts nor forwards.', {
  suggestion: 'Give the route a webhook or targets first, with PATCH /v1/inbound-routes/{id}.',
});

const WITHOUT_ROUTE = new Failure(
  'CONFLICT',
  'No route took this message: it is kept because it answers an email.',
  {
    suggestion:
      'Read it with GET /v1/received/{id}. An inbound route takes the messages that come from then on.',
  },
);

/**
 * Posts or forwards a message again, with all its retries, whatever became of it. The id of its event stays
 * the same.
 */
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
  if (row.routeId === NO_ROUTE) return WITHOUT_ROUTE;
  const target = await routeTarget(database, caller.workspaceId, row.routeId);
  if (!target?.url && !target?.forwardTo) return NO_TARGET;
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
    if (body.byteLength === 0) return invalidAt('/body', 'Must be a message.');
    const octets = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
    const raw = withSingleReturns(octets);
    if (raw === null) return invalidAt('/body', 'Must end each line with CRLF, as SMTP does.');
    if (hasLargeHeader(raw))
      return invalidAt('/body', `Must have a header of at most ${LARGEST_HEADER} octets.`);
    return { raw, from: query.from ?? null, to: query.to ?? null };
  }
  const { from, to, subject = '', text = '' } = body;
  const sender = parseAddress(from);
  if (isProblem(sender)) return invalidAt('/body/from', sender.problem);
  const host = sender.domain;
  const messageId = `<${mintId('test', now)}@${host}>`;
  const raw = await composeTestMessage({ from, to, subject, text, messageId, date: now });
  return { raw, from: sender.address, to };
}

const UNTAKABLE: Readonly<Record<Untakable, string>> = {
  loop: `Must have at most ${MOST_HOPS} Received fields: more are a loop.`,
  addresses: `Must name at most ${MOST_ADDRESSES} addresses in its header.`,
  returned: 'Must not have been forwarded by this address before: that is a loop.',
};

async function receive(commands: ReceivedCommands, call: TestCall): Promise<ReceivedItem | Failure> {
  const { database, mailReader, signer } = commands;
  const { caller, body } = call;
  const arrival = await testArrival(call);
  if (arrival instanceof Failure) return arrival;
  const { raw } = arrival;
  const mail = await mailReader.received(raw, caller.workspaceId);
  const [place, to] = [
    body instanceof Uint8Array ? '/query/to' : '/body/to',
    arrival.to ?? mail.to[0]?.address,
  ];
  const recipient = to === undefined ? null : readRecipient(to);
  if (!recipient) return invalidAt(place, 'Must be an address such as support@example.com.');
  const reason = untakable(mail, [recipient], signer);
  if (reason !== null) return invalidAt('/body', UNTAKABLE[reason]);
  const routes = await routesOfDomain(database, recipient.domain, false);
  const route = takingRoute(
    routes.filter(({ workspaceId, isProven }) => isProven && workspaceId === caller.workspaceId),
    recipient,
    signer,
  );
  if (!route)
    return invalidAt(place, 'No test route takes this address; a live one would answer 550 5.1.1 for it.');
  const envelopeFrom = arrival.from ?? mail.from?.address ?? '';
  const origin = { helo: '', client: null, from: envelopeFrom, at: call.now };
  const spam = (await commands.spamFilter?.judge(raw, origin)) ?? null;
  if (isRefusable(spam) && route.spam === 'refuse')
    return invalidAt('/body', 'Looks like spam: a live route that refuses spam would answer 550 5.7.1.');
  const [id = ''] = await storeArrival(commands, {
    envelopeFrom,
    taken: [{ route, recipient }],
    raw,
    mail,
    spam,
  });
  const row = await findReceived({ database }, caller, id);
  if (!row) return NO_RECEIVED;
  const item = itemOf(row);
  await keepReply(database, keyedBy(call), 201, item);
  return item;
}
