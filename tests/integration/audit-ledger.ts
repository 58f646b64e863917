import type { EmailContext } from '../../machines/email/context.ts';
import type { Check } from '../../src/engine/audit/findings.ts';
import { mintId } from '../../src/platform/db/ids.ts';
import { periodOf } from '../../src/platform/time/clock.ts';
import { simulate } from '../../src/sending/emails/simulator/simulator.ts';
import { emailSpawn, engineOver, plainInput, type Store, WORKSPACE } from '../support/engine.ts';
import { eventually } from '../support/eventually.ts';

/** The fates of the emails that `live` makes, beside a scheduled and a cancelled one. */
export const INPUTS = ['delivered', 'bounced', 'bounced-transient', 'complained', 'suppressed', 'deferred'];

/** One email of each end, a scheduled one and a cancelled one; answers their ids by name. */
export async function live(store: Store): Promise<Record<string, string>> {
  const { database } = store;
  const engine = engineOver(database, {
    performer: {
      slots: 100,
      backlog: 100,
      perform: ({ actor }) => simulate(actor.snapshot.context as EmailContext, '<m@test>', Date.now()),
    },
  });
  const ids: Record<string, string> = {};
  const now = Date.now();
  const spawn = async (name: string, input = plainInput(now)) => {
    const id = mintId('em', now);
    const reply = JSON.stringify({ id });
    const claim = { key: name, fingerprint: 'f', status: 202, reply: () => reply };
    const scope = { workspaceId: WORKSPACE, livemode: false };
    const meter = { period: periodOf(false, now), quota: 100 };
    await engine.spawn('email', emailSpawn(input, { id, meter, claim: { ...claim, scope } }));
    ids[name] = id;
  };
  for (const name of INPUTS)
    await spawn(name, plainInput(now, { recipients: [{ simulate: name }], backoffMs: [0, 0] }));
  await spawn('scheduled', plainInput(now, { scheduledAt: now + 3_600_000 }));
  await spawn('cancelled', plainInput(now, { scheduledAt: now + 3_600_000 }));
  await engine.tell('email', ids.cancelled as string, { type: 'cancel.requested', at: now });
  await eventually('all have ended', async () => {
    await engine.wakeDue();
    const [row] = await database.query<{ n: number }>(
      `select count(*)::integer as n from emails_now where state in ('sending', 'deferred')`,
    );
    return row?.n === 0 ? true : undefined;
  });
  await engine.stop();
  return ids;
}

/**
 * A way to break a ledger, and the check that must see it. `$id` is replaced by the id of the email of that
 * name.
 */
export type Corruption = readonly [what: string, check: Check, of: string, sql: string];

/** All of them. */
export const CORRUPTIONS: readonly Corruption[] = [
  [
    'a lost turn',
    'snapshots',
    'complained',
    `delete from email_journal where actor_id = '$id' and revision = 2`,
  ],
  [
    'a gap in the journal',
    'journals',
    'deferred',
    `delete from email_journal where actor_id = '$id' and revision = 2`,
  ],
  [
    'a revision too many',
    'journals',
    'delivered',
    `update emails_now set revision = revision + 1 where id = '$id'`,
  ],
  [
    'a journal that ends elsewhere',
    'journals',
    'scheduled',
    `update email_journal set steps = replace(steps::text, '"to" : "scheduled"', '"to" : "queued"')::json where actor_id = '$id'`,
  ],
  [
    'a step that begins where none ended',
    'journals',
    'cancelled',
    `update email_journal set steps = replace(steps::text, '"from" : "scheduled"', '"from" : "queued"')::json where actor_id = '$id'`,
  ],
  [
    'a journal without its actor',
    'journals',
    'scheduled',
    `insert into email_journal (actor_id, revision, commit_tag, steps) values ('$new', 2, 1, '[]')`,
  ],
  [
    'a state without its timer',
    'snapshots',
    'scheduled',
    `update emails_now set timers = null, wake_at = null where id = '$id'`,
  ],
  [
    'a timer that wakes no instance',
    'snapshots',
    'scheduled',
    `update emails_now set wake_at = null where id = '$id'`,
  ],
  [
    'a wake-up far behind its timer',
    'snapshots',
    'scheduled',
    `update emails_now set wake_at = wake_at + interval '1 day' where id = '$id'`,
  ],
  [
    'a timer in a state that has none',
    'snapshots',
    'delivered',
    `update emails_now set timers = '{"x":1}', wake_at = now() where id = '$id'`,
  ],
  [
    'a machine of the future',
    'snapshots',
    'delivered',
    `update emails_now set machine_version = 99 where id = '$id'`,
  ],
  [
    'a column that contradicts the others',
    'snapshots',
    'delivered',
    `update emails_now set delivered_at = null where id = '$id'`,
  ],
  [
    'a lost event',
    'events',
    'delivered',
    `delete from email_events where email_id = '$id' and type = 'delivered'`,
  ],
  [
    'an event twice',
    'events',
    'complained',
    `insert into email_events (email_id, id, workspace_id, livemode, type, recipient, occurred_at, data)
      select email_id, '$new', workspace_id, livemode, type, recipient, occurred_at, data
      from email_events where email_id = '$id' and type = 'sent'`,
  ],
  [
    'an event of a stranger',
    'events',
    'delivered',
    `update email_events set recipient = 'stranger@example.com' where email_id = '$id' and type = 'delivered'`,
  ],
  ['a bounce that was not recorded', 'events', 'bounced', `delete from email_events where email_id = '$id'`],
  [
    'an event of a suppressed recipient',
    'events',
    'suppressed',
    `insert into email_events (email_id, id, workspace_id, livemode, type, recipient, occurred_at, data)
      select id, '$new', workspace_id, livemode, 'bounced', recipients[1], now(), '{}' from emails_now where id = '$id'`,
  ],
  [
    'an event of a cancelled email',
    'events',
    'cancelled',
    `insert into email_events (email_id, id, workspace_id, livemode, type, recipient, occurred_at, data)
      select id, '$new', workspace_id, livemode, 'sent', recipients[1], now(), '{}' from emails_now where id = '$id'`,
  ],
  [
    'a state its recipients deny',
    'outcomes',
    'bounced-transient',
    `update emails_now set state = 'failed' where id = '$id'`,
  ],
  [
    'a cancelled email that was sent',
    'outcomes',
    'delivered',
    `update emails_now set state = 'cancelled' where id = '$id'`,
  ],
  ['a unit that no email took', 'quotas', 'delivered', `update usage set used = used + 1`],
  ['a unit given back twice', 'quotas', 'cancelled', `update usage set used = used - 1`],
  [
    'an entry too many',
    'quotas',
    'delivered',
    `insert into usage_entries select workspace_id, livemode, period, 1 from usage`,
  ],
  ['a period that is not counted', 'quotas', 'delivered', `delete from usage`],
  [
    'a position that is yet to come',
    'positions',
    'delivered',
    `update email_turns set position = position + 1000000000000 where email_id = '$id'`,
  ],
  [
    'a reply about nothing',
    'replies',
    'delivered',
    `update idempotency_keys set reply = replace(reply, '$id', '$new') where key = 'delivered'`,
  ],
];
