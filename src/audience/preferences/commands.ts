import type { Duty, DutyDeps } from '../../engine/duties/duty.ts';
import type { PlanName } from '../../platform/config/plans.ts';
import { Failure } from '../../platform/errors/failure.ts';
import { UnavailableError } from '../../platform/errors/unavailable.ts';
import { type AcceptanceDeps, acceptEmail } from '../../sending/emails/accept.ts';
import { confirmationPath } from './links.ts';
import type { PreferenceDeps } from './person.ts';
import { textsIn } from './queries.ts';

/** The services that asking people calls. */
export interface AskingDeps
  extends Pick<PreferenceDeps, 'database' | 'signer' | 'publicUrl'>,
    Pick<DutyDeps, 'clock'> {
  readonly acceptance: AcceptanceDeps;
}

/**
 * The waiting confirmations, with the present data. People who have joined or left the audience meanwhile,
 * and audiences that were deleted, are left out. Who has left everything since they were asked gets no mail.
 */
const READ = `select w.id, w.workspace_id, w.livemode, w.audience_id, c.email, c.email_key, c.properties ->> 'language' as language,
  u.name as list, s.name as sender, s.language as sender_language, s.default_from, s.plan, coalesce(m.state = 'pending', false) as is_pending,
  c.status in ('bounced', 'complained') or c.status = 'unsubscribed' and c.unsubscribed_at > w.asked_at or w.livemode and exists (
    select from suppressions x where x.workspace_id = w.workspace_id and x.address_key = c.email_key and x.reason <> 'unsubscribed'
  ) as is_suppressed
from confirmations w
join workspaces s on s.id = w.workspace_id
join contacts c on c.workspace_id = w.workspace_id and c.livemode = w.livemode and c.id = w.contact_id
join audiences u on u.workspace_id = w.workspace_id and u.livemode = w.livemode and u.id = w.audience_id
left join audience_members m on m.audience_id = w.audience_id and m.contact_id = w.contact_id
where w.id = any($1)`;

interface WaitingConfirmation {
  readonly id: string;
  readonly workspace_id: string;
  readonly livemode: boolean;
  readonly audience_id: string;
  readonly email: string;
  readonly email_key: string;
  readonly language: string | null;
  readonly list: string;
  readonly sender: string;
  readonly sender_language: string | null;
  readonly default_from: string | null;
  readonly plan: PlanName;
  readonly is_pending: boolean;
  readonly is_suppressed: boolean;
}

/**
 * $1 the confirmation, $2 why the person was not asked, which their activity shows. Without a reason there is
 * nothing to show.
 */
const GIVE_UP = `with gone as (
  delete from confirmations where id = $1 returning *
)
insert into contact_activity (contact_id, id, livemode, type, at, subject, data)
select contact_id, id, livemode, 'notAsked', asked_at, audience_id, json_build_object('reason', $2::text)
from gone where $2::text is not null`;

/**
 * Mails people the link by which they confirm that they join an audience. Mails that cannot be sent now are
 * left to the duty; a mail that can never be sent is noted.
 */
export const askToConfirm = (deps: AskingDeps, ids: readonly string[]): Promise<void> =>
  unlessAway(async () => {
    if (ids.length === 0) return;
    const rows = await deps.database.query<WaitingConfirmation>(READ, [ids]);
    const there = new Set(rows.map(({ id }) => id));
    const gone = ids.filter((id) => !there.has(id));
    await Promise.all([
      ...rows.map((waiting) => unlessAway(() => ask(deps, waiting))),
      ...gone.map((id) => unlessAway(() => giveUp(deps, id, null))),
    ]);
  });

/** A dependency that is away does not keep other people from being asked. */
async function unlessAway(act: () => Promise<void>): Promise<void> {
  try {
    await act();
  } catch (error) {
    if (!(error instanceof UnavailableError)) throw error;
  }
}

async function giveUp(
  { database }: Pick<AskingDeps, 'database'>,
  id: string,
  reason: string | null,
): Promise<void> {
  await database.query(GIVE_UP, [id, reason]);
}

async function ask(deps: AskingDeps, waiting: WaitingConfirmation): Promise<void> {
  const { id, workspace_id: workspaceId, livemode, audience_id: audienceId, email_key: key, plan } = waiting;
  if (!waiting.is_pending) return giveUp(deps, id, null);
  if (waiting.is_suppressed) return giveUp(deps, id, 'suppressed');
  if (waiting.default_from === null) return giveUp(deps, id, 'no_sender');
  const texts = textsIn(waiting.language, waiting.sender_language);
  const url =
    deps.publicUrl +
    confirmationPath(deps.signer, {
      workspaceId,
      livemode,
      key,
      audienceId,
      language: waiting.language === null ? null : texts.language,
    });
  const accepted = await acceptEmail(deps.acceptance, {
    sender: { workspaceId, livemode, plan },
    body: {
      from: waiting.default_from,
      to: waiting.email,
      language: texts.language,
      subject: texts.mailSubject(waiting.list),
      text: texts.mailText(waiting.list, waiting.sender, url),
    },
    claim: null,
    now: deps.clock.now(),
    at: '/body',
    onBehalf: { confirmation_id: id },
  });
  // Nothing waits any more where another instance was faster, and nothing is noted.
  if (accepted instanceof Failure && accepted.code !== 'SERVICE_UNAVAILABLE')
    await giveUp(deps, id, REASONS[accepted.code] ?? accepted.message.slice(0, 200));
}

const REASONS: Readonly<Partial<Record<string, string>>> = {
  FORBIDDEN: 'sender_unverified',
  QUOTA_EXCEEDED: 'quota_exceeded',
};

const AT_ONCE = 100;
/** The time after which another instance tries. */
const LEASE_MS = 60_000;

const CLAIM = `update confirmations w set next_at = $2::timestamptz from (
  select id from confirmations where next_at <= $1::timestamptz order by next_at limit ${AT_ONCE} for update skip locked
) due where w.id = due.id returning w.id`;

/** Sends the mails that a crash, or a dependency that was away, has left waiting. */
export const confirmationAsker = (deps: AskingDeps): Duty => ({
  name: 'confirmationAsker',
  pattern: '*/10 * * * * *',
  asks: (now) => `exists (select from confirmations where next_at <= ${now})`,
  async run(stop) {
    for (;;) {
      const now = deps.clock.now();
      const due = await deps.database.query<{ id: string }>(CLAIM, [
        new Date(now).toISOString(),
        new Date(now + LEASE_MS).toISOString(),
      ]);
      await askToConfirm(
        deps,
        due.map(({ id }) => id),
      );
      if (stop?.aborted || due.length < AT_ONCE) return;
    }
  },
});
