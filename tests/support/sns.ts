import { spyOn } from 'bun:test';
import { sign } from 'node:crypto';
import { CERTIFICATE, PRIVATE_KEY } from '../integration/transport/certificates.ts';

const HOST = 'https://sns.eu-west-1.amazonaws.com';
const CERTIFICATE_URL = `${HOST}/SimpleNotificationService-1.pem`;

type Fields = Readonly<Record<string, string>>;

const MEMBERS = {
  Notification: ['Message', 'MessageId', 'Subject', 'Timestamp', 'TopicArn', 'Type'],
  SubscriptionConfirmation: [
    'Message',
    'MessageId',
    'SubscribeURL',
    'Timestamp',
    'Token',
    'TopicArn',
    'Type',
  ],
} as const;

/** A body as SNS posts it, with a signature of its key. */
export function snsBody(type: keyof typeof MEMBERS, topic: string, more: Fields): string {
  const fields: Fields = {
    Type: type,
    TopicArn: topic,
    MessageId: crypto.randomUUID(),
    Timestamp: new Date().toISOString(),
    ...more,
  };
  const text = MEMBERS[type]
    .filter((name) => fields[name] !== undefined)
    .map((name) => `${name}\n${fields[name]}\n`)
    .join('');
  const signature = sign('sha256', Buffer.from(text), PRIVATE_KEY).toString('base64');
  return JSON.stringify({
    SigningCertURL: CERTIFICATE_URL,
    ...fields,
    SignatureVersion: '2',
    Signature: signature,
  });
}

/**
 * An SNS of a test's own, for a service in this process: requests to the host of SNS are answered here, its
 * certificate and confirmations, and all others go on.
 */
export function startSns() {
  const asked: string[] = [];
  let isDown = false;
  const real = globalThis.fetch;
  const answer = (url: string): Response => {
    asked.push(url);
    if (isDown) return new Response('', { status: 503 });
    return new Response(url === CERTIFICATE_URL ? CERTIFICATE : '<ConfirmSubscriptionResponse/>');
  };
  const stub = spyOn(globalThis, 'fetch').mockImplementation(
    Object.assign(
      async (...[input, init]: Parameters<typeof fetch>) => {
        const url = input instanceof Request ? input.url : String(input);
        return url.startsWith(`${HOST}/`) ? answer(url) : real(input, init);
      },
      { preconnect: real.preconnect },
    ),
  );
  return {
    /** The addresses that it was asked for. */
    asked: asked as readonly string[],
    confirmUrl: `${HOST}/?Action=ConfirmSubscription&Token=t`,
    fail(is: boolean) {
      isDown = is;
    },
    [Symbol.dispose]: () => stub.mockRestore(),
  };
}
