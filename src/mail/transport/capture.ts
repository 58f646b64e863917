import { finishMessage } from '../compose/finish.ts';
import { begin } from './begin.ts';
import type { OutboundMessage, RecipientOutcome, SendLimits, Transport } from './transport.ts';

/** A live message that was captured. */
export interface CapturedMessage {
  readonly emailId: string;
  readonly attempt: number;
  /** The envelope sender. */
  readonly returnPath: string;
  /** The envelope recipients. */
  readonly recipients: readonly string[];
  /** The complete message with its signatures. */
  readonly raw: Buffer;
}

/**
 * Keeps live mail instead of sending it: the message is composed and signed as usual, and handed to `keep`.
 * No connection is opened.
 */
export class CaptureTransport implements Transport {
  readonly name = 'capture';
  /** A captured message is at its destination. */
  readonly confirmsDelivery = true;

  constructor(private readonly keep: (captured: CapturedMessage) => Promise<void>) {}

  /** Rejects when `keep` does: then the attempt has no outcome, and is repeated when its lease ends. */
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
