import { withDeadline } from '../../../platform/async/deadline.ts';
import { compose } from '../../compose/compose.ts';
import { envelopeAddress, needsSmtpUtf8 } from '../../compose/envelope.ts';
import { begin } from '../begin.ts';
import { withoutReply } from '../smtp/outcome.ts';
import type { Finding, OutboundMessage, RecipientOutcome, SendLimits, Transport } from '../transport.ts';
import { examineReporting, type ReportingSettings } from './configuration-set.ts';
import { createSesApi, type SesAccount, type SesAnswer, type SesApi, SesUnreachable } from './ses-api.ts';
import { isSesDown, sesVerdict } from './ses-verdict.ts';

export interface SesOptions extends SesAccount, ReportingSettings {}

/**
 * Sends through Amazon SES (API v2). Messages are not signed here: SES signs with the domain's own key (see
 * identity.ts), and replaces Message-ID and Date, which would break a signature that covers them. Bounces go
 * to SES, which reports them in notifications.
 */
export class SesTransport implements Transport {
  readonly name = 'ses';
  readonly confirmsDelivery = false;
  readonly #api: SesApi;

  constructor(private readonly options: SesOptions) {
    this.#api = createSesApi(options);
  }

  async send(message: OutboundMessage, limits: SendLimits): Promise<readonly RecipientOutcome[]> {
    const all = (outcome: (recipient: string) => RecipientOutcome) => message.recipients.map(outcome);
    if (needsSmtpUtf8(message))
      return all((one) => withoutReply(one, 'refused', 'SES takes no address beyond ASCII', 'General', SES));
    const body = this.#request(message, await compose(message));
    await begin(limits);
    try {
      const answer = await withDeadline(limits, (signal) =>
        this.#api({ method: 'POST', path: '/v2/email/outbound-emails', body, signal }),
      );
      // Its interface knows no NOTIFY.
      const isUnreported = message.reports?.notify?.includes('SUCCESS') === true && {
        isUnreported: true as const,
      };
      return all((recipient) => {
        const outcome = outcomeOf(recipient, answer);
        return outcome.outcome === 'accepted' ? { ...outcome, ...isUnreported } : outcome;
      });
    } catch (error) {
      if (!(error instanceof SesUnreachable)) throw error;
      const outcome = error.mayHaveArrived ? 'unknown' : 'deferred';
      const isDown = outcome === 'deferred' && { isServerDown: true as const };
      return all((one) => ({
        ...withoutReply(one, outcome, error.message, 'ConnectionFailed', SES),
        ...isDown,
      }));
    }
  }

  async verify(): Promise<readonly Finding[]> {
    const check = `Amazon SES in ${this.options.region}`;
    const signal = AbortSignal.timeout(15_000);
    try {
      const answer = await this.#api({ method: 'GET', path: '/v2/email/account', signal });
      const account = findingOf(check, answer);
      return answer.errorType === null
        ? [account, await examineReporting(this.#api, this.options, signal)]
        : [account];
    } catch (error) {
      if (!(error instanceof SesUnreachable)) throw error;
      return [
        {
          check,
          ok: false,
          detail: `${error.message}.`,
          advice: 'Check SES_REGION, SES_ENDPOINT and the firewall.',
        },
      ];
    }
  }

  async close() {}

  #request({ emailId, from, recipients }: OutboundMessage, raw: Buffer): object {
    const { configurationSet } = this.options;
    return {
      FromEmailAddress: envelopeAddress(from.address),
      // This is the envelope, so that the kind of recipient does not matter; the message has the visible
      // ones.
      Destination: { ToAddresses: recipients.map(envelopeAddress) },
      Content: { Raw: { Data: raw.toString('base64') } },
      EmailTags: [{ Name: 'emailId', Value: emailId }],
      ...(configurationSet === null ? {} : { ConfigurationSetName: configurationSet }),
    };
  }
}

const SES = 'Amazon SES';

const outcomeOf = (recipient: string, answer: SesAnswer): RecipientOutcome => {
  const { errorType, errorMessage, body } = answer;
  const id = body.MessageId;
  return {
    recipient,
    ...sesVerdict(answer),
    smtpCode: null,
    enhancedCode: null,
    response:
      errorType === null
        ? `Accepted as ${String(id ?? 'unknown')}`
        : `${errorType}: ${errorMessage}`.slice(0, 1_000),
    remoteMta: SES,
    providerId: typeof id === 'string' ? id : null,
    ...(isSesDown(answer) && { isServerDown: true as const }),
  };
};

const findingOf = (check: string, { errorType, errorMessage, body }: SesAnswer): Finding => {
  if (errorType !== null)
    return {
      check,
      ok: false,
      detail: `${errorType}: ${errorMessage}`,
      advice:
        'Check AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, and that they allow ses:SendEmail and ses:GetAccount.',
    };
  if (body.SendingEnabled === false)
    return {
      check,
      ok: false,
      detail: 'Sending is paused for this account.',
      advice: 'See the reputation page of the SES console.',
    };
  if (body.ProductionAccessEnabled === false)
    return {
      check,
      ok: false,
      detail: 'The account is in the sandbox: only verified addresses receive mail.',
      advice: 'Request production access in the SES console.',
    };
  const quota = body.SendQuota as
    | { readonly Max24HourSend?: number; readonly SentLast24Hours?: number }
    | undefined;
  return {
    check,
    ok: true,
    detail: `Sent ${quota?.SentLast24Hours ?? '?'} of ${quota?.Max24HourSend ?? '?'} in 24 hours.`,
    advice: null,
  };
};
