import { verify, X509Certificate } from 'node:crypto';

/** A message of SNS, by which SES reports, with a valid signature. */
export interface SnsMessage {
  readonly type: 'Notification' | 'SubscriptionConfirmation' | 'UnsubscribeConfirmation';
  readonly messageId: string;
  readonly topicArn: string;
  readonly message: string;
  /** The address that confirms a subscription when it is fetched (SubscriptionConfirmation). */
  readonly subscribeUrl: string | null;
}

/** The request is no message of SNS, or not of our topic. The message is for the log. */
export class NotGenuine {
  constructor(readonly reason: string) {}
}

/** The options of the verification. */
export interface SnsCheck {
  /**
   * True for our own topic. The signature alone proves nothing: anyone can point a topic of their own at this
   * service, and have Amazon sign any content.
   */
  readonly acceptsTopic: (topicArn: string) => boolean;
  /** Epoch milliseconds. */
  readonly now: number;
  /** Fetches the PEM certificate from an address that was verified as Amazon's. */
  readonly fetchCertificate: (url: string) => Promise<string>;
}

/** Reads and verifies the body of a request from SNS. */
export const readSnsMessage = async (body: string, check: SnsCheck): Promise<SnsMessage | NotGenuine> => {
  const fields = parse(body);
  if (fields === null) return new NotGenuine('It is not JSON with members of text.');
  const type = TYPES.find((known) => known === fields.Type);
  if (type === undefined) return new NotGenuine('Its type is unknown.');
  const topicArn = fields.TopicArn ?? '';
  if (!check.acceptsTopic(topicArn)) return new NotGenuine('It is of a topic that is not ours.');
  const age = check.now - Date.parse(fields.Timestamp ?? '');
  if (!(age <= OLDEST_MS && age >= -NEWEST_MS)) return new NotGenuine('Its time is not of these days.');
  const url = fields.SigningCertURL ?? '';
  if (!isOfTopic(url, topicArn) || !CERTIFICATE_PATH.test(new URL(url).pathname))
    return new NotGenuine('Its certificate is not at an address of SNS.');
  const digest = DIGEST[fields.SignatureVersion ?? ''];
  if (digest === undefined) return new NotGenuine('Its signature is of an unknown version.');
  const certificate = await check.fetchCertificate(url);
  const { publicKey } = new X509Certificate(certificate);
  const signature = Buffer.from(fields.Signature ?? '', 'base64');
  if (!verify(digest, Buffer.from(signedText(type, fields)), publicKey, signature))
    return new NotGenuine('Its signature does not hold.');
  const subscribeUrl = fields.SubscribeURL ?? '';
  return {
    type,
    messageId: fields.MessageId ?? '',
    topicArn,
    message: fields.Message ?? '',
    subscribeUrl: isOfTopic(subscribeUrl, topicArn) ? subscribeUrl : null,
  };
};

/**
 * Maximum age of a message. A replay is harmless, since an email takes each report once (see feedback in
 * modules/emails). So the window is wide enough for every genuine message: SNS tries for a minute, or for up
 * to an hour where a delivery policy says so, and a dead-letter queue keeps failures for 14 days.
 */
const OLDEST_MS = 15 * 24 * 60 * 60 * 1_000;
/** Tolerance for clocks that are behind. */
const NEWEST_MS = 15 * 60 * 1_000;

/** The path of SNS's certificates; other addresses of its hosts may return content that a caller chooses. */
const CERTIFICATE_PATH = /^\/SimpleNotificationService-[A-Za-z0-9]{1,64}\.pem$/;

/** True for an address of SNS in the topic's region, where its messages are signed. */
const isOfTopic = (url: string, topicArn: string): boolean => {
  if (!isAmazon(url)) return false;
  const [, partition, , region] = topicArn.split(':');
  return new URL(url).host === `sns.${region}.amazonaws.com${partition === 'aws-cn' ? '.cn' : ''}`;
};

const TYPES = ['Notification', 'SubscriptionConfirmation', 'UnsubscribeConfirmation'] as const;
const DIGEST: Readonly<Record<string, string>> = { 1: 'sha1', 2: 'sha256' };

/**
 * True for an address of SNS itself: HTTPS, and a host with exactly a region. `sns.s3-…` would be a bucket of
 * that name.
 */
export const isAmazon = (text: string): boolean => {
  if (!URL.canParse(text)) return false;
  const { protocol, host, username, password } = new URL(text);
  return (
    protocol === 'https:' &&
    /^sns\.[a-z]{2}(-[a-z]+)+-\d\.amazonaws\.com(\.cn)?$/.test(host) &&
    username + password === ''
  );
};

// The signed members of each type, in this order: "Verifying the signatures of Amazon SNS messages".
const signedText = (type: SnsMessage['type'], fields: Fields): string =>
  SIGNED[type]
    .filter((name) => fields[name] !== undefined)
    .map((name) => `${name}\n${fields[name]}\n`)
    .join('');

const CONFIRMATION = ['Message', 'MessageId', 'SubscribeURL', 'Timestamp', 'Token', 'TopicArn', 'Type'];
const SIGNED: Readonly<Record<SnsMessage['type'], readonly string[]>> = {
  Notification: ['Message', 'MessageId', 'Subject', 'Timestamp', 'TopicArn', 'Type'],
  SubscriptionConfirmation: CONFIRMATION,
  UnsubscribeConfirmation: CONFIRMATION,
};

type Fields = Readonly<Record<string, string>>;

const parse = (body: string): Fields | null => {
  try {
    const value: unknown = JSON.parse(body);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return null;
    const entries = Object.entries(value).filter(([, member]) => typeof member === 'string');
    return Object.fromEntries(entries) as Fields;
  } catch {
    return null;
  }
};
