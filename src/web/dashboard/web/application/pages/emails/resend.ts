import type { Email } from '../../../../../client/operations.ts';
import { useChange } from '../../api/queries.ts';
import { request } from '../../api/requests.ts';
import { useViewer } from '../../api/viewer.tsx';

/** The effect, for the dialog that asks. */
export const RESEND_TEXT =
  'Each is accepted as a new email with the same sender, recipients, subject and content. Emails of campaigns, those with attachments and those whose content is not kept are left out.';

/** The reason why an email cannot be sent again as it was; null where it can. */
function refusalOf(email: Email): string | null {
  if (email.campaignId !== null)
    return 'Emails of a campaign have links for one person: send the campaign again.';
  if (email.attachments.length > 0 || email.calendar !== null)
    return 'Its attachments are not sent again: send it from your program.';
  if (email.text === null && email.html === null) return 'Its content is not kept.';
  return email.status === 'scheduled' ? 'It is still scheduled.' : null;
}

/** Sends a new email that says the same to the same people. */
export function useResend() {
  const { environment } = useViewer();
  const send = useChange('POST /emails');
  return {
    refresh: send.refresh,
    resend: async (id: string) => {
      const { data: email } = await request<Email>('GET', `${environment}/emails/${id}`);
      const refusal = refusalOf(email);
      if (refusal !== null) throw new Error(refusal);
      const { from, to, cc, bcc, replyTo, subject, text, html, tags, headers } = email;
      return send.each({
        body: {
          from,
          to,
          subject,
          headers,
          ...(cc.length > 0 && { cc }),
          ...(bcc.length > 0 && { bcc }),
          ...(replyTo.length > 0 && { replyTo }),
          ...(text !== null && { text }),
          ...(html !== null && { html }),
          ...(tags.length > 0 && { tags }),
        },
      });
    },
  };
}
