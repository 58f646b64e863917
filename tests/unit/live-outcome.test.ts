import { describe, expect, test } from 'bun:test';
import { withoutReply } from '../../src/mail/transport/smtp/outcome.ts';
import type { RecipientOutcome } from '../../src/mail/transport/transport.ts';
import { eventsOfAttempt } from '../../src/sending/emails/send/outcome.ts';

const by = { name: 'smtp', confirmsDelivery: true } as const;

/** Every text of the events, as JSON has it. */
const toldOf = (sent: RecipientOutcome): string =>
  JSON.stringify(eventsOfAttempt({ attempt: 1, by: 'me' }, '<m@x>', [{ recipient: 0, sent, by }], [], 1));

describe('what a server said in an attempt', () => {
  const accepted: RecipientOutcome = {
    ...withoutReply('ada@example.com', 'deferred', '', 'General'),
    outcome: 'accepted',
    response: '250 2.0.0 Ok \0 \ud83d',
    remoteMta: 'mx\0.example',
    providerId: 'id\0',
  };

  test('is reported without what PostgreSQL refuses', () => {
    for (const outcome of ['accepted', 'deferred', 'refused', 'unknown'] as const) {
      const told = toldOf({ ...accepted, outcome });
      expect(told).toContain('250 2.0.0 Ok \uFFFD \uFFFD');
      expect(told).not.toMatch(/\\u0000|\\ud/);
    }
  });

  test('is not cut within a character', () => {
    const told = toldOf(withoutReply('ada@example.com', 'deferred', `a${'😀'.repeat(800)}`, 'General'));
    expect(told).toContain(`"a${'😀'.repeat(499)}"`);
  });
});
