import { describe, expect, test } from 'bun:test';
import { sign } from 'node:crypto';
import { readSesEvent } from '../../../src/mail/transport/ses/ses-events.ts';
import { isAmazon, NotGenuine, readSnsMessage } from '../../../src/mail/transport/ses/sns-message.ts';
import { CERTIFICATE, PRIVATE_KEY } from '../../integration/transport/certificates.ts';

const TOPIC = 'arn:aws:sns:eu-west-1:123456789012:ses';
const CERT_URL = 'https://sns.eu-west-1.amazonaws.com/SimpleNotificationService-1.pem';

/** A message as SNS makes it: the signed members in their order, each on a line after its name. */
const message = (changes: Record<string, string> = {}, signedAs: Record<string, string> = {}) => {
  const fields: Record<string, string> = {
    Type: 'Notification',
    MessageId: 'm-1',
    TopicArn: TOPIC,
    Message: '{"a":1}',
    Timestamp: '2026-11-20T12:00:00.000Z',
    SignatureVersion: '2',
    SigningCertURL: CERT_URL,
    ...changes,
  };
  const names =
    fields.Type === 'Notification'
      ? ['Message', 'MessageId', 'Subject', 'Timestamp', 'TopicArn', 'Type']
      : ['Message', 'MessageId', 'SubscribeURL', 'Timestamp', 'Token', 'TopicArn', 'Type'];
  const told = { ...fields, ...signedAs };
  const text = names
    .filter((name) => told[name] !== undefined)
    .map((name) => `${name}\n${told[name]}\n`)
    .join('');
  const digest = fields.SignatureVersion === '1' ? 'sha1' : 'sha256';
  return JSON.stringify({
    ...fields,
    Signature: sign(digest, Buffer.from(text), PRIVATE_KEY).toString('base64'),
  });
};

let fetched: string[] = [];
const read = (body: string) =>
  readSnsMessage(body, {
    acceptsTopic: (arn) => arn === TOPIC,
    now: Date.parse('2026-11-20T12:00:01.000Z'),
    fetchCertificate: async (url) => {
      fetched.push(url);
      return CERTIFICATE;
    },
  });

describe('an SNS message', () => {
  for (const SignatureVersion of ['1', '2'])
    test(`is read when its signature (version ${SignatureVersion}) holds`, async () => {
      expect(await read(message({ SignatureVersion, Subject: 'Hi' }))).toEqual({
        type: 'Notification',
        messageId: 'm-1',
        topicArn: TOPIC,
        message: '{"a":1}',
        subscribeUrl: null,
      });
    });

  test('that asks for confirmation says where', async () => {
    const SubscribeURL = 'https://sns.eu-west-1.amazonaws.com/?Action=ConfirmSubscription&Token=x';
    const body = { Type: 'SubscriptionConfirmation', Token: 'x', SubscribeURL };
    expect(await read(message(body))).toMatchObject({
      type: 'SubscriptionConfirmation',
      subscribeUrl: SubscribeURL,
    });
    expect(await read(message({ ...body, SubscribeURL: 'https://169.254.169.254/' }))).toMatchObject({
      subscribeUrl: null,
    });
  });

  const forged: Record<string, string> = {
    'a changed message': message({ Message: '{"a":2}' }, { Message: '{"a":1}' }),
    'a changed topic': message({ TopicArn: 'arn:aws:sns:eu-west-1:666666666666:evil' }),
    'a certificate elsewhere': message({
      SigningCertURL: 'https://evil.example/SimpleNotificationService-1.pem',
    }),
    'a certificate in a bucket': message({ SigningCertURL: 'https://sns.s3.amazonaws.com/a.pem' }),
    'a certificate in clear text': message({ SigningCertURL: CERT_URL.replace('https', 'http') }),
    'a certificate of another region': message({
      SigningCertURL: CERT_URL.replace('eu-west-1', 'us-east-1'),
    }),
    'a certificate at another path': message({
      SigningCertURL: 'https://sns.eu-west-1.amazonaws.com/?Action=x&y=.pem',
    }),
    'a time long ago': message({ Timestamp: '2026-11-05T11:00:00.000Z' }),
    'a time to come': message({ Timestamp: '2026-11-20T13:00:00.000Z' }),
    'no time': message({ Timestamp: '' }),
    'another signature version': message({ SignatureVersion: '3' }),
    'another type': message({ Type: 'Invitation' }),
    'no signature': JSON.stringify({ ...JSON.parse(message()), Signature: undefined }),
    'no JSON': 'Type=Notification',
    'an array': '[]',
  };
  for (const [name, body] of Object.entries(forged))
    test(`is not genuine with ${name}`, async () => {
      fetched = [];
      expect(await read(body)).toBeInstanceOf(NotGenuine);
      expect(fetched.filter((url) => url !== CERT_URL)).toEqual([]);
    });
});

test('SNS certificates and confirmations come from SNS addresses only', () => {
  for (const url of [
    CERT_URL,
    'https://sns.us-gov-west-1.amazonaws.com/x',
    'https://sns.cn-north-1.amazonaws.com.cn/x',
  ])
    expect(isAmazon(url)).toBe(true);
  for (const url of [
    '',
    'http://sns.eu-west-1.amazonaws.com/x',
    'https://sns.eu-west-1.amazonaws.com:8443/x',
    'https://sns.eu-west-1.amazonaws.com.evil.example/x',
    'https://sns.eu-west-1.amazonaws.com@evil.example/x',
    'https://evil.example/sns.eu-west-1.amazonaws.com',
    'https://sns.evil.s3.amazonaws.com/x',
    'https://sns.s3-eu-west-1.amazonaws.com/x',
    'https://user@sns.eu-west-1.amazonaws.com/x',
  ])
    expect(isAmazon(url)).toBe(false);
});

describe('an SES event', () => {
  const mail = { messageId: '0100-ses', tags: { emailId: ['em_1'] } };
  const reference = { token: null, emailId: 'em_1', providerId: '0100-ses', messageId: null };
  const events = (event: object) => readSesEvent(JSON.stringify({ mail, ...event }));
  const bounce = (bounceType: string, recipient: object, more = {}) =>
    events({
      eventType: 'Bounce',
      bounce: {
        bounceType,
        bouncedRecipients: [{ emailAddress: 'bob@receiver.example', ...recipient }],
        ...more,
      },
    });

  test('tells of a permanent bounce', () => {
    const said = { status: '5.1.1', diagnosticCode: 'smtp; 550 5.1.1 user unknown' };
    expect(
      bounce('Permanent', said, { bounceSubType: 'General', reportingMTA: 'dns; a.smtp-out.amazonses.com' }),
    ).toEqual([
      {
        kind: 'bounced',
        permanent: true,
        isFinal: true,
        fault: 'recipient',
        subType: 'NoEmail',
        smtpCode: 550,
        enhancedCode: '5.1.1',
        message: '550 5.1.1 user unknown',
        remoteMta: 'a.smtp-out.amazonses.com',
        suppresses: true,
        failing: null,
        reference,
        recipient: 'bob@receiver.example',
      },
    ]);
  });
  test('takes its word that a bounce is not for good', () => {
    expect(bounce('Transient', { status: '5.1.1', diagnosticCode: 'smtp; 550 5.1.1 x' })).toMatchObject([
      { permanent: false, suppresses: false },
    ]);
  });
  test('does not suppress for what is not the address', () => {
    expect(bounce('Permanent', { status: '5.7.1', diagnosticCode: 'smtp; 550 5.7.1 blocked' })).toMatchObject(
      [{ permanent: true, suppresses: false }],
    );
  });
  test('reports its own suppression list', () => {
    expect(
      bounce('Permanent', { status: '5.1.1' }, { bounceSubType: 'OnAccountSuppressionList' }),
    ).toMatchObject([{ permanent: true, suppresses: true }]);
  });
  test('tells of a complaint, unless it is none', () => {
    const complaint = (complaintFeedbackType?: string) =>
      events({
        notificationType: 'Complaint',
        complaint: {
          complaintFeedbackType,
          userAgent: 'FBL',
          complainedRecipients: [{ emailAddress: 'bob@receiver.example' }],
        },
      });
    expect(complaint('abuse')).toEqual([
      {
        kind: 'complained',
        feedbackType: 'abuse',
        userAgent: 'FBL',
        reference,
        recipient: 'bob@receiver.example',
      },
    ]);
    expect(complaint()).toMatchObject([{ feedbackType: 'other' }]);
    expect(complaint('not-spam')).toEqual([]);
    expect(complaint('opt-out')).toEqual([
      { kind: 'optedOut', reference, recipient: 'bob@receiver.example' },
    ]);
  });
  test('tells of delivery and delay, recipient by recipient', () => {
    expect(
      events({ delivery: { recipients: ['a@x.example', 'b@x.example'], smtpResponse: '250 Ok' } }),
    ).toMatchObject([
      { kind: 'delivered', recipient: 'a@x.example', response: '250 Ok' },
      { kind: 'delivered', recipient: 'b@x.example' },
    ]);
    expect(
      events({
        deliveryDelay: { delayType: 'MailboxFull', delayedRecipients: [{ emailAddress: 'a@x.example' }] },
      }),
    ).toMatchObject([{ kind: 'delayed', message: 'MailboxFull' }]);
  });
  for (const nothing of ['', '[]', 'null', '{}', JSON.stringify({ mail, eventType: 'Open', open: {} })])
    test(`says nothing when it is ${nothing}`, () => expect(readSesEvent(nothing)).toEqual([]));
});
