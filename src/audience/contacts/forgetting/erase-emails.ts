import type { EmailState } from '../../../../machines/email/machine.ts';
import { stateList, statesWhere } from '../../../engine/machine/kind.ts';
import type { Signer } from '../../../platform/crypto/signer.ts';
import type { Database } from '../../../platform/db/database.ts';
import { FORGOTTEN_DOMAIN } from '../../../platform/text/forgotten.ts';
import { erasedContent } from '../../../sending/emails/queries.ts';
import { forgottenKey, forgottenRecipient } from '../../../sending/suppressions/queries.ts';

/**
 * Reads the subjects of campaigns as they were written, by their ids; those whose content is gone have none.
 */
export type CommonSubjects = (ids: readonly string[]) => Promise<ReadonlyMap<string, string>>;

/** A person to be forgotten. */
export interface Person {
  /** As it was given. */
  readonly address: string;
  /** `Address.key` */
  readonly key: string;
}

/** Emails whose envelopes are rewritten at once: each has up to a hundred recipients. */
const AT_ONCE = 100;

/** True when an email has left, or never will: only then the address is not needed any more. */
const IS_OVER: Readonly<Record<EmailState, boolean>> = {
  scheduled: false,
  queued: false,
  sending: false,
  deferred: false,
  sent: true,
  delivered: true,
  failed: true,
  cancelled: true,
};

/** SQL of a text that tells whether an email names the same people as when it was read. */
const namesSql = (email: string): string => `md5(${email}.recipient_keys::text || ${email}.envelope::text)`;

const READ = `select e.id, e.recipients, e.recipient_keys, b.campaign_id, b.envelope, ${namesSql('b')} as names, e.state in (${stateList(statesWhere(IS_OVER))}) as is_over
from unnest($1::text[]) i(id) join emails b on b.id = i.id and b.workspace_id = $2 join emails_now e on e.id = b.id and e.workspace_id = $2`;

/**
 * Replaces the recipient wherever an email names it: in its lists and envelope, and in what its turns
 * recorded and noted, whose texts come from other servers and often repeat the address. Copies that were
 * captured are removed, since they hold it in their headers, and visits that were not judged yet, since links
 * may name it. The subject of a campaign's email was made for the person: it becomes the one that the
 * campaign was written with. A message that stays what it is names them in its octets: it loses its content.
 * An email that has changed since it was read is left out of the answer: another instance has taken another
 * person out of it. $1 the emails, $2 a pattern of the address, $3 the workspace, $4 an empty content.
 */
const ERASE = `with erased as materialized (
  select * from json_to_recordset($1::text::json)
    as r(id text, new text, names text, recipients text[], recipient_keys text[], envelope json, subject text)
), inserts as (
  update emails e set recipients = r.recipients, recipient_keys = r.recipient_keys, envelope = r.envelope,
    subject = coalesce(r.subject, e.subject),
    content = case when r.envelope ->> 'isRaw' = 'true' then decode($4, 'base64') else e.content end
  from erased r where e.id = r.id and e.workspace_id = $3 and ${namesSql('e')} = r.names
  returning e.id
), turns as (
  update email_turns t set recorded = regexp_replace(t.recorded::text, $2, r.new, 'gi')::json,
    noted = regexp_replace(t.noted::text, $2, r.new, 'gi')::json
  from erased r where t.email_id = r.id and t.workspace_id = $3 and (t.recorded::text ~* $2 or t.noted::text ~* $2)
), copies as (
  delete from captured c using erased r where c.email_id = r.id and c.workspace_id = $3
), bodies as (
  delete from email_bodies b using erased r
  where b.email_id = r.id and b.workspace_id = $3 and r.envelope ->> 'isRaw' = 'true'
), visits as (
  delete from early_visits v using erased r where v.email_id = r.id
)
select id from inserts`;

interface Row {
  readonly id: string;
  readonly recipients: readonly string[];
  readonly recipient_keys: readonly string[];
  readonly campaign_id: string | null;
  readonly envelope: Readonly<Record<string, unknown>>;
  /** `namesSql` */
  readonly names: string;
  readonly is_over: boolean;
}

/** The values that take the place of those of an email. */
interface Replacement extends Omit<Row, 'campaign_id' | 'is_over'> {
  /** The replacement of the address. */
  readonly new: string;
  /** Null where it stays. */
  readonly subject: string | null;
}

/** The services that erasing emails calls. */
interface EmailEraserDeps {
  readonly database: Database;
  readonly signer: Signer;
  readonly commonSubjects: CommonSubjects;
}

/**
 * Takes a person out of emails; answers the ids of those that still have to leave, and so keep the address
 * for now.
 */
export async function eraseFromEmails(
  { database, signer, commonSubjects }: EmailEraserDeps,
  workspaceId: string,
  person: Person,
  ids: readonly string[],
): Promise<readonly string[]> {
  const waiting: string[] = [];
  const hash = forgottenKey(signer, workspaceId, person.key);
  const eraseAll = async (some: readonly string[]): Promise<void> => {
    const rows = await database.query<Row>(READ, [some, workspaceId]);
    waiting.push(...rows.flatMap(({ id, is_over }) => (is_over ? [] : [id])));
    const over = rows.filter((row) => row.is_over);
    const campaigns = [...new Set(over.flatMap(({ campaign_id: id }) => id ?? []))];
    const subjects = await commonSubjects(campaigns);
    const erased = over.flatMap((row) => {
      const { campaign_id: id } = row;
      const subject = id === null ? null : (subjects.get(id) ?? '');
      return erasedOf(row, person, subject, (recipient) =>
        forgottenRecipient(signer, { emailId: row.id, recipient }, hash),
      );
    });
    if (erased.length === 0) return;
    const done = await database.query<{ id: string }>(ERASE, [
      JSON.stringify(erased),
      patternOf(person),
      workspaceId,
      await erasedContent(),
    ]);
    const isDone = new Set(done.map(({ id }) => id));
    const changed = erased.flatMap(({ id }) => (isDone.has(id) ? [] : [id]));
    if (changed.length > 0) await eraseAll(changed);
  };
  for (let from = 0; from < ids.length; from += AT_ONCE) await eraseAll(ids.slice(from, from + AT_ONCE));
  return waiting;
}

/**
 * `subject`: what takes the place of its subject; null where that stays. `keyAt` makes the key that reports
 * about the email are matched by from now on.
 */
function erasedOf(
  { id, recipients, recipient_keys: keys, envelope, names }: Row,
  { key }: Person,
  subject: string | null,
  keyAt: (place: number) => string,
): readonly Replacement[] {
  const place = keys.indexOf(key);
  const old = recipients[place];
  if (old === undefined) return [];
  const replacement = `forgotten-${place}@${FORGOTTEN_DOMAIN}`;
  return [
    {
      id,
      new: replacement,
      names,
      subject,
      recipients: recipients.with(place, replacement),
      recipient_keys: keys.with(place, keyAt(place)),
      envelope: {
        ...envelope,
        ...withoutMailbox(envelope, old, replacement),
        ...withoutOriginal(envelope, place),
      },
    },
  ];
}

interface Mailbox {
  readonly name: string | null;
  readonly address: string;
}

/** The lists of an envelope without that mailbox; its name is the person's as well. */
const withoutMailbox = (envelope: Row['envelope'], old: string, replacement: string): object =>
  Object.fromEntries(
    ['to', 'cc', 'bcc'].map((list) => [
      list,
      ((envelope[list] ?? []) as readonly Mailbox[]).map((mailbox) =>
        mailbox.address === old ? { name: null, address: replacement } : mailbox,
      ),
    ]),
  );

/** The submitted envelope without the original address of one recipient (ORCPT, RFC 3461 4.2). */
function withoutOriginal({ submitted }: Row['envelope'], place: number): object {
  const { recipients, ...said } = (submitted ?? {}) as { readonly recipients?: readonly object[] };
  const known = recipients?.[place];
  return known
    ? { submitted: { ...said, recipients: recipients.with(place, { ...known, originalRecipient: null }) } }
    : {};
}

/** A pattern that both forms of the address match, in any case. */
const patternOf = ({ address, key }: Person): string =>
  [...new Set([address, key])].map((text) => text.replace(/[^\p{L}\p{M}\p{N}@]/gu, '\\$&')).join('|');
