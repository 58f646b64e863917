import { ownOf } from '../../../platform/text/own-member.ts';

/** A message that SES has received, as its notification tells it. */
export interface ReceivedNotification {
  /** The envelope sender; empty for the null one. */
  readonly from: string;
  /** The recipients whom the receipt rule took, each once; the first hundred. */
  readonly recipients: readonly string[];
  /** Null where SES has not scanned the message, or could not. */
  readonly spam: 'spam' | 'ham' | 'virus' | null;
  readonly authentication: SesAuthentication;
  readonly content: NotifiedContent;
}

type SesResult = 'pass' | 'fail' | 'none' | 'temperror';

interface SesAuthentication {
  readonly spf: SesResult;
  readonly dkim: SesResult;
  readonly dmarc: SesResult;
}

/** The message itself (SNS action), its place (S3 action), or neither (any other action). */
export type NotifiedContent =
  | { readonly octets: Buffer }
  | { readonly bucket: string; readonly key: string }
  | null;

/** RFC 5321 4.5.3.1.8, as at the port. */
const MOST_RECIPIENTS = 100;

interface Verdict {
  readonly status?: unknown;
}

interface NotificationBody {
  readonly notificationType?: unknown;
  readonly content?: unknown;
  readonly mail?: { readonly source?: unknown };
  readonly receipt?: {
    readonly recipients?: unknown;
    readonly action?: Readonly<Record<string, unknown>>;
    readonly spamVerdict?: Verdict;
    readonly virusVerdict?: Verdict;
    readonly spfVerdict?: Verdict;
    readonly dkimVerdict?: Verdict;
    readonly dmarcVerdict?: Verdict;
  };
}

/**
 * Reads a notification of a receipt rule; null for any other message, such as the one by which SES tries a
 * topic.
 */
export function readReceived(message: string): ReceivedNotification | null {
  const { notificationType, content, mail, receipt } = parse(message);
  if (notificationType !== 'Received' || !receipt) return null;
  const { recipients } = receipt;
  const all = Array.isArray(recipients) ? recipients.filter((one) => typeof one === 'string') : [];
  return {
    from: typeof mail?.source === 'string' ? mail.source.replace(/^<|>$/g, '') : '',
    recipients: [...new Set(all)].slice(0, MOST_RECIPIENTS),
    spam: spamOf(receipt),
    authentication: {
      spf: resultOf(receipt.spfVerdict),
      dkim: resultOf(receipt.dkimVerdict),
      dmarc: resultOf(receipt.dmarcVerdict),
    },
    content: contentOf(content, receipt.action ?? {}),
  };
}

function spamOf({
  spamVerdict,
  virusVerdict,
}: NonNullable<NotificationBody['receipt']>): ReceivedNotification['spam'] {
  if (virusVerdict?.status === 'FAIL') return 'virus';
  if (spamVerdict?.status === 'FAIL') return 'spam';
  return spamVerdict?.status === 'PASS' ? 'ham' : null;
}

/**
 * GRAY: the sender's domain has no SPF or DMARC, or the message no signature. A check that failed, or a new
 * word, proves nothing.
 */
const RESULTS: Readonly<Record<string, SesResult>> = { PASS: 'pass', FAIL: 'fail', GRAY: 'none' };
const resultOf = (verdict: Verdict | undefined): SesResult =>
  ownOf(RESULTS, String(verdict?.status)) ?? 'temperror';

function contentOf(content: unknown, action: Readonly<Record<string, unknown>>): NotifiedContent {
  if (typeof content === 'string')
    return { octets: Buffer.from(content, action.encoding === 'BASE64' ? 'base64' : 'utf8') };
  const { type, bucketName: bucket, objectKey: key } = action;
  return type === 'S3' && typeof bucket === 'string' && typeof key === 'string' ? { bucket, key } : null;
}

// The shape is Amazon's, as the signature proves; absent members are undefined.
function parse(message: string): NotificationBody {
  try {
    const value: unknown = JSON.parse(message);
    return typeof value === 'object' && value !== null ? (value as NotificationBody) : {};
  } catch {
    return {};
  }
}
