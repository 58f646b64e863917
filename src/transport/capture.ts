import { begin } from './begin.ts';
import { finishMessage } from './message/finish.ts';
import type { OutboundMessage, RecipientOutcome, SendLimits, Transport } from './transport.ts';

/** A live message that stayed here. */
export interface CapturedMessage {
  readonly emailId: string;
  readonly attempt: number;
  /** The envelope sender. */
  readonly returnPath: string;
  /** The envelope recipients. */
  readonly recipients: readonly string[];
  /** The octets that would have left, signatures included. */
  readonly raw: Buffer;
}

/**
 * Keeps live mail instead of sending it: the message is finished as if it left, and handed to `keep`. Opens no
 * connection.
 */
export class CaptureTransport implements Transport {
  readonly name = 'capture';
  /** Where it was to go is where it is. */
  readonly confirmsDelivery = true;

  constructor(private readonly keep: (captured: CapturedMessage) => Promise<void>) {}

  /** Rejects as `keep` does: a store that does not answer has no outcome, and the attempt's lease tries again. */
  async send(message: OutboundMessage, limits: SendLimits): Promise<readonly RecipientOutcome[]> {
    const { emailId, attempt, returnPath, recipients } = message;
    const raw = await finishMessage(message);
    await begin(limits);
    await this.keep({ emailId, attempt, returnPath, recipients, raw });
    return recipients.map((recipient) => ({ ...KEPT, recipient }));
  }

  async verify() {
    return [
      { check: 'Capture', ok: true, detail: 'Live email is kept here; none leaves.', advice: SEND_FOR_REAL },
    ];
  }

  async close() {}
}

const SEND_FOR_REAL = 'To send for real, set TRANSPORT to smtp, direct or ses.';

const KEPT = {
  outcome: 'accepted',
  smtpCode: 250,
  enhancedCode: '2.0.0',
  response: '250 2.0.0 Captured; nothing left this machine',
  remoteMta: null,
  fault: null,
  subType: null,
  providerId: null,
} as const;
