import type { RecipientOutcome, ReturnedMail } from '../../../../machines/email/recipient.ts';
import { readLife } from '../../../engine/store/actors.ts';
import type { Call } from '../../../http/request/route.ts';
import type { HtmlLock } from '../../../mail/raw/raw-mail.ts';
import type { Database } from '../../../platform/db/database.ts';
import { timeOfId } from '../../../platform/db/ids.ts';
import { type Failure, notFound } from '../../../platform/errors/failure.ts';
import { emailKind } from '../kind.ts';
import type { Explanation } from '../read/answer-model.ts';
import { explainEmail, wordsOfReason } from './explanation-text.ts';
import { untouchedText } from './untouched-text.ts';

/** One statement about a recipient: an event of the log, or an attempt without an event. */
interface RecipientNote {
  readonly at: number;
  readonly what: string;
  readonly attempt: number | null;
  readonly recipient: string;
  readonly data: {
    readonly message?: string;
    readonly response?: string;
    readonly remoteMta?: string | null;
    readonly relay?: string;
    readonly passedOver?: readonly string[];
    readonly reason?: string;
  };
}

const NOTES = `select (extract(epoch from a.at) * 1000)::float8 as at, a.outcome as what, a.attempt,
  e.recipients[a.recipient + 1] as recipient, a.data
from emails e join email_attempts a on a.email_id = e.id and a.workspace_id = $2 where e.id = $1 and e.workspace_id = $2 and a.attempt > 0
union all
select (extract(epoch from v.occurred_at) * 1000)::float8, v.type, null, v.recipient, v.data
from email_events v where v.email_id = $1 and v.workspace_id = $2
order by at limit 500`;

const UNTOUCHED = `select envelope ->> 'untouched' as untouched from emails where id = $1 and workspace_id = $2`;

/**
 * The phrase for each outcome of an attempt, of which the accepted and the refused ones leave events instead.
 */
const OUTCOME_PHRASES: Readonly<Record<RecipientOutcome['outcome'], string>> = {
  accepted: 'accepted',
  refused: 'refused',
  deferred: 'put off',
  unknown: 'no reply after the whole message, so the outcome is unknown',
  suppressed: 'nothing was sent',
  removed: 'nothing was sent',
};

/** Explains an email from its row, its journal, and everything that servers answered. */
export async function explanationOf(
  { database }: { readonly database: Database },
  { caller, params: { id } }: Call<{ readonly id: string }>,
): Promise<Explanation | Failure> {
  const life = await readLife(database, emailKind, id, caller);
  if (!life) return notFound('email');
  const [notes, [email]] = await Promise.all([
    database.query<RecipientNote>(NOTES, [id, caller.workspaceId]),
    database.query<{ untouched: HtmlLock | null }>(UNTOUCHED, [id, caller.workspaceId]),
  ]);
  const untouched = email?.untouched ? [{ at: timeOfId(id), text: untouchedText(email.untouched) }] : [];
  const { summary, rule, evidence, next } = explainEmail(life);
  const all = [...untouched, ...evidence, ...notes.map((one) => ({ at: one.at, text: sentenceOf(one) }))];
  return {
    id,
    status: life.state as Explanation['status'],
    summary,
    rule,
    evidence: all.toSorted((a, b) => a.at - b.at).map(({ at, text }) => ({ at: iso(at), text })),
    next: { text: next.text, at: next.at === null ? null : iso(next.at) },
  };
}

const RETURNED: ReturnedMail['outcome'] = 'returned';

const iso = (at: number): string => new Date(at).toISOString();

function sentenceOf({ what, attempt, recipient, data }: RecipientNote): string {
  if (what === RETURNED)
    return `A mail came back for ${recipient}, and is no report that can be read: “${data.message ?? ''}”`;
  const prefix =
    attempt === null
      ? what
      : `Attempt ${attempt}: ${OUTCOME_PHRASES[what as RecipientOutcome['outcome']] ?? what}`;
  const words = data.response ?? data.message ?? wordsOfReason(data.reason);
  const server = data.relay ?? data.remoteMta;
  const by = server ? ` (${server})` : '';
  const others = (data.passedOver ?? []).map((one) => `; passed over ${one}`).join('');
  return `${prefix}, ${recipient}${words ? `: ${words}` : ''}${by}${others}`;
}
