import type { Database } from '../../db/database.ts';
import { mintId } from '../../db/ids.ts';
import type { Asking } from '../audiences/commands.ts';
import { type AcceptanceDeps, acceptEmail } from '../emails/accept.ts';
import { confirmationPath } from './links.ts';
import type { PreferenceDeps } from './person.ts';
import { textsIn } from './queries.ts';

/** Mails a day that ask one address to confirm, over all audiences. */
const MOST_ASKED = 3;

/**
 * Notes that people are asked, of those who still have to confirm and were not asked three times in a day: each time counts before
 * its mail is sent, so that a crash in between costs a mail and never sends one too many. $1 workspace, $2 environment,
 * $3 audience, $4 contacts, $5 now, $6 ids of the activity.
 */
const ASK = `with named as materialized (
  select * from unnest($4::text[], $6::text[]) as n(contact_id, activity_id)
), asked as materialized (
  select c.id, c.email, c.email_key, c.properties ->> 'language' as language, n.activity_id
  from named n join audience_members m on m.audience_id = $3 and m.contact_id = n.contact_id and m.state = 'pending'
    join contacts c on c.workspace_id = $1 and c.livemode = $2::boolean and c.id = n.contact_id
  where (
    select count(*) from contact_activity a
    where a.contact_id = c.id and a.type = 'asked' and a.at > $5::timestamptz - interval '1 day'
  ) < ${MOST_ASKED}
  order by c.id for update of c
), noted as (
  insert into contact_activity (contact_id, id, livemode, type, at, subject)
  select id, activity_id, $2::boolean, 'asked', $5::timestamptz, $3 from asked
)
select a.email, a.email_key, a.language, u.name as list, w.name as sender, w.default_from
from asked a join audiences u on u.workspace_id = $1 and u.livemode = $2::boolean and u.id = $3
  join workspaces w on w.id = $1`;

interface Asked {
  readonly email: string;
  readonly email_key: string;
  readonly language: string | null;
  readonly list: string;
  readonly sender: string;
  readonly default_from: string | null;
}

/** Mails people the link by which they confirm that an audience may have them. @throws Unavailable */
export async function askToConfirm(
  deps: Pick<PreferenceDeps, 'signer' | 'publicUrl'> & {
    readonly acceptance: AcceptanceDeps;
    readonly database: Database;
  },
  { sender, audienceId, contactIds, now }: Asking,
): Promise<void> {
  const { workspaceId, livemode } = sender;
  const rows = await deps.database.query<Asked>(ASK, [
    ...[workspaceId, livemode, audienceId, contactIds, new Date(now).toISOString()],
    contactIds.map(() => mintId('act', now)),
  ]);
  await Promise.all(
    rows.map(async ({ email, email_key: key, language, list, sender: name, default_from: from }) => {
      if (from === null) return;
      const texts = textsIn(language);
      const url = deps.publicUrl + confirmationPath(deps.signer, { workspaceId, livemode, key, audienceId });
      const body = {
        from,
        to: email,
        subject: texts.mailSubject(list),
        text: texts.mailText(list, name, url),
      };
      await acceptEmail(deps.acceptance, { sender, body, claim: null, now, at: '/body' });
    }),
  );
}
