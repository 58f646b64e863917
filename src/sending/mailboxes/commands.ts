import type { Principal } from '../../http/auth/principal.ts';
import { changedSince, isStatedSql, laterSql, statedMoment } from '../../http/if-updated-at.ts';
import { idempotently, keyedBy } from '../../http/request/idempotent.ts';
import type { Call, Replay } from '../../http/request/route.ts';
import type { Sealer } from '../../platform/crypto/sealer.ts';
import type { Signer } from '../../platform/crypto/signer.ts';
import { mintId } from '../../platform/db/ids.ts';
import { type KeyedRequest, keepReplySql, replyParameters } from '../../platform/db/stored-replies.ts';
import { type Detail, Failure, invalid, invalidAt, notFound } from '../../platform/errors/failure.ts';
import type { HostChecks } from '../webhooks/api.ts';
import { type MailboxPatch, type MailboxView, MOST_MAILBOXES, type NewMailbox } from './model.ts';
import { findMailbox, type MailboxLister, type MailboxRow, mailboxView, sealPassword } from './queries.ts';

/** The services that changing mailboxes calls. */
export interface MailboxCommands extends MailboxLister {
  readonly sealer: Sealer;
  readonly signer: Pick<Signer, 'hash'>;
  readonly hosts: () => Pick<HostChecks, 'problemOfHost'>;
  /** Called once a change is durable: this process looks at once. */
  readonly changed: () => void;
}

const NO_MAILBOX = notFound('mailbox');
const CHANGED = changedSince('mailbox');
const TOO_MANY = new Failure(
  'QUOTA_EXCEEDED',
  `This environment has ${MOST_MAILBOXES} mailboxes, the maximum.`,
  {
    suggestion: 'Delete one that you no longer need, or have several addresses delivered to one mailbox.',
  },
);

/** No command of IMAP holds these, and a server may take what follows for the next one. */
const CONTROL = /\p{Cc}/u;

/** The mistakes in a body, which the schema alone cannot see. */
async function problemsOf(
  { hosts }: MailboxCommands,
  body: Omit<MailboxPatch, 'ifUpdatedAt'>,
): Promise<readonly Detail[]> {
  const problems: Detail[] = [];
  for (const name of ['username', 'password', 'folder'] as const)
    if (CONTROL.test(body[name] ?? ''))
      problems.push({ path: `/body/${name}`, message: 'Must have no control characters.' });
  const problem = body.host === undefined ? null : await hosts().problemOfHost(body.host);
  if (problem !== null) problems.push({ path: '/body/host', message: problem });
  return problems;
}

const USUAL_PORT = { tls: 993, starttls: 143 } as const;

/**
 * $1 … $3 the mailbox and its owner, $4 … $9 its settings, $10 the sealed password, $11 now, $12 the reply,
 * $13 on: its key.
 */
const CREATE = `with created as (
  insert into mailboxes (id, workspace_id, livemode, host, port, security, username, folder, is_paused, sealed,
    state, state_at, failures, next_at, last_uid, taken, skipped, created_at, updated_at)
  select $1, $2, $3::boolean, $4, $5::integer, $6, $7, $8, $9::boolean, $10,
    'waiting', $11::timestamptz, 0, $11::timestamptz, 0, 0, 0, $11::timestamptz, $11::timestamptz
  where mailboxes_present($2, $3::boolean) < ${MOST_MAILBOXES}
  returning id
), kept as (
  ${keepReplySql({ from: 'created', reply: '$12::text', first: 13 })}
)
select id from created`;

/**
 * The stored fingerprint is keyed: by a plain one of the body the password could be guessed from a copy of
 * the database.
 */
function keyedWithSecret({ signer }: MailboxCommands, call: Parameters<typeof keyedBy>[0]): KeyedRequest {
  const { claim, ...keyed } = keyedBy(call);
  if (claim === null) return { ...keyed, claim };
  const fingerprint = signer.hash('request with a password', claim.fingerprint).toString('hex');
  return { ...keyed, claim: { ...claim, fingerprint } };
}

/** Creates a mailbox. It is read from the next message on. */
export async function createMailbox(
  commands: MailboxCommands,
  call: Call<unknown, unknown, NewMailbox>,
): Promise<MailboxView | Failure | Replay> {
  const { database, sealer, changed } = commands;
  const { caller, body, now } = call;
  const keyed = keyedWithSecret(commands, call);
  return idempotently(database, keyed, {
    run: async () => {
      const problems = await problemsOf(commands, body);
      if (problems.length > 0) return invalid(problems);
      const id = mintId('mbx', now);
      const row = newRow(caller, body, now, id);
      const view = mailboxView(row);
      const rows = await database.query(CREATE, [
        id,
        caller.workspaceId,
        caller.livemode,
        row.host,
        row.port,
        row.security,
        row.username,
        row.folder,
        row.isPaused,
        sealPassword(sealer, id, body.password),
        new Date(now).toISOString(),
        JSON.stringify(view),
        ...replyParameters(keyed, 201),
      ]);
      if (rows.length === 0) return TOO_MANY;
      changed();
      return view;
    },
  });
}

const newRow = (
  { workspaceId, livemode }: Principal,
  { host, port, security = 'tls', username, folder = 'INBOX', paused: isPaused = false }: NewMailbox,
  now: number,
  id: string,
): MailboxRow => {
  const at = new Date(now);
  return {
    id,
    workspaceId,
    livemode,
    host,
    port: port ?? USUAL_PORT[security],
    security,
    username,
    folder,
    isPaused,
    sealed: '',
    state: 'waiting',
    problem: null,
    stateAt: at,
    failures: 0,
    nextAt: at,
    holder: null,
    heldUntil: null,
    uidValidity: null,
    lastUid: 0,
    begunAt: null,
    since: null,
    taken: 0,
    skipped: 0,
    lastTakenAt: null,
    createdAt: at,
    updatedAt: at,
  };
};

/**
 * Another account or folder has other messages: it is read from the next one on. The reader of the old
 * settings loses it, so that it notes nothing more.
 */
const PATCH = `update mailboxes set host = $4, port = $5::integer, security = $6, username = $7, folder = $8, is_paused = $9::boolean,
  sealed = coalesce($10, sealed), state = 'waiting', problem = null, state_at = $11::timestamptz, failures = 0, next_at = $11::timestamptz,
  holder = null, held_until = null,
  uid_validity = case when (host, username, folder) = ($4, $7, $8) then uid_validity end,
  since = case when (host, username, folder) = ($4, $7, $8) then since end,
  updated_at = ${laterSql('updated_at', '$11')}
where id = $1 and workspace_id = $2 and livemode = $3::boolean and ${isStatedSql('updated_at', '$12')} and updated_at = $13::timestamptz
returning updated_at`;

/** A change that another one overtakes is made again on what that has left. */
const MOST_TRIES = 5;

/** Changes the members that the body names. */
export async function patchMailbox(
  commands: MailboxCommands,
  { caller, params, body, now }: Call<{ readonly id: string }, unknown, MailboxPatch>,
): Promise<MailboxView | Failure> {
  const { database, sealer, changed } = commands;
  const problems = await problemsOf(commands, body);
  if (problems.length > 0) return invalid(problems);
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const before = await findMailbox(commands, caller, params.id);
    if (!before) return NO_MAILBOX;
    const stated = statedMoment(body);
    if (stated !== null && stated !== before.updatedAt.toISOString()) return CHANGED;
    const { paused: isPaused = before.isPaused, host = before.host, port = before.port } = body;
    const { security = before.security, username = before.username, folder = before.folder } = body;
    const { password } = body;
    // A password is of one server and user: it is never sent to another.
    if (password === undefined && (host !== before.host || username !== before.username))
      return invalidAt('/body/password', 'Must be given with another host or username.');
    const [row] = await database.query<{ updated_at: string | Date }>(PATCH, [
      params.id,
      caller.workspaceId,
      caller.livemode,
      host,
      port,
      security,
      username,
      folder,
      isPaused,
      password === undefined ? null : sealPassword(sealer, params.id, password),
      new Date(now).toISOString(),
      stated,
      before.updatedAt.toISOString(),
    ]);
    if (!row) continue;
    changed();
    const at = new Date(now);
    return mailboxView({
      ...before,
      host,
      port,
      security,
      username,
      folder,
      isPaused,
      state: 'waiting',
      stateAt: at,
      nextAt: at,
      updatedAt: new Date(row.updated_at),
    });
  }
  return CHANGED;
}

const DELETE = `with gone as (
  delete from mailboxes where id = $1 and workspace_id = $2 and livemode = $3::boolean returning id
), messages as (
  delete from mailbox_messages m using gone g where m.mailbox_id = g.id
)
select id from gone`;

/** Deletes a mailbox. Messages that were read of it stay. */
export async function deleteMailbox(
  { database, changed }: MailboxCommands,
  { caller, params }: Call<{ readonly id: string }>,
): Promise<null | Failure> {
  const rows = await database.query(DELETE, [params.id, caller.workspaceId, caller.livemode]);
  if (rows.length === 0) return NO_MAILBOX;
  changed();
  return null;
}
