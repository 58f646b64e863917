/** The topic of the receipt rule. */
export const TOPIC = 'arn:aws:sns:eu-west-1:123456789012:inbound';

const PASSED = { status: 'PASS' };

/** A notification of a receipt rule of SES. */
export const received = (to: string | readonly string[], more: object = {}, action: object = {}): object => ({
  notificationType: 'Received',
  receipt: {
    recipients: [to].flat(),
    spamVerdict: PASSED,
    virusVerdict: PASSED,
    spfVerdict: PASSED,
    dkimVerdict: PASSED,
    dmarcVerdict: PASSED,
    action: { type: 'SNS', topicArn: TOPIC, encoding: 'BASE64', ...action },
    ...more,
  },
  mail: { source: 'ada@customer.example', messageId: crypto.randomUUID(), destination: [to].flat() },
});

/** The same with the message in it. */
export const inline = (raw: string | Buffer, to: string | readonly string[], more: object = {}): object => ({
  ...received(to, more),
  content: Buffer.from(raw).toString('base64'),
});

/** The same with the message in S3. */
export const stored = (key: string, to: string, bucket = 'bodies'): object =>
  received(to, {}, { type: 'S3', bucketName: bucket, objectKeyPrefix: 'mail/in/', objectKey: key });
