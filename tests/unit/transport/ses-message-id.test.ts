import { expect, test } from 'bun:test';
import { messageIdOfSes, withoutRegion } from '../../../src/mail/transport/ses/ses-message-id.ts';

const ID = '0102018f3a5b6c7d-1b2c3d4e-5f60-7182-93a4-b5c6d7e8f901-000000';

test('the Message-ID of SES is known by the answer of its API and of its SMTP interface alone', () => {
  const own = `<${ID}@email.amazonses.com>`;
  expect(messageIdOfSes({ provider: 'ses', messageId: ID })).toBe(own);
  expect(messageIdOfSes({ provider: 'smtp', messageId: '<em_1@a.example>', response: `250 Ok ${ID}` })).toBe(
    own,
  );
  for (const other of [
    { provider: 'ses', messageId: '<em_1@a.example>' },
    { provider: 'smtp', messageId: ID, response: '250 2.0.0 Ok: queued as 4Rk0' },
    { provider: 'smtp', messageId: ID, response: `250 Ok ${ID} and more` },
    { provider: 'direct', messageId: '<em_1@a.example>', response: `250 Ok ${ID}` },
    {},
  ])
    expect(messageIdOfSes(other)).toBeNull();
});

test('regions of SES count as one, and no other domain does', () => {
  for (const domain of ['email', 'eu-west-1', 'us-gov-east-1'])
    expect(withoutRegion(`<${ID}@${domain}.amazonses.com>`)).toBe(`<${ID}@email.amazonses.com>`);
  for (const other of [
    `<${ID}@amazonses.com>`,
    `<${ID}@x.y.amazonses.com>`,
    `<${ID}@eu-west-1.amazonses.com.evil.example>`,
    '<order-1@email.amazonses.com>',
  ])
    expect(withoutRegion(other)).toBe(other);
});
