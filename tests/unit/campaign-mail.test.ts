import { expect, test } from 'bun:test';
import { createSigner } from '../../src/crypto/signer.ts';
import { Failure } from '../../src/http/failure.ts';
import type { KeptContent } from '../../src/modules/campaigns/content.ts';
import { campaignMail, type MailDeps } from '../../src/modules/campaigns/mail.ts';
import { paceOf } from '../../src/modules/campaigns/pace.ts';

const kept = { from: 'News <news@sender.example>', audienceId: 'aud_1', startedAt: 1 } as KeptContent;
const email = {
  emailId: 'em_01m7xj1rwzprnwr10308attx',
  campaignId: 'cmp_1',
  workspaceId: 'ws_1',
  recipientKey: 'r@receiver.example',
};
const content = { text: null, html: null, markdown: null, attachments: [], campaign: { contact: {} } };

test('an email whose rendering always takes too long fails in the end, and keeps its campaign from no end', async () => {
  const mail = campaignMail({
    database: { query: async () => [{ content: JSON.stringify(kept) }] },
    contents: { render: async () => new Failure('SERVICE_UNAVAILABLE', 'Busy.') },
    signer: createSigner('only-for-tests'),
    publicUrl: 'https://mail.example',
  } as unknown as MailDeps);
  for (let tries = 1; tries < 10; tries++)
    expect(await mail.parts(email, content, 'send').catch(String)).toContain('Busy.');
  // Who only looks at it has no part in that.
  expect(await mail.parts(email, content, 'show').catch(String)).toContain('Busy.');
  expect(await mail.parts(email, content, 'send')).toBe('The template takes too long to render.');
});

test('a rate is divided into what can be given out in one go, so that a high one is reached', () => {
  expect(paceOf(3_600_000, 100)).toEqual({ slice: 100, everyMs: 100 });
  expect(paceOf(36_000, 100)).toEqual({ slice: 10, everyMs: 1_000 });
  expect(paceOf(7_919, 500)).toEqual({ slice: 1, everyMs: 3_600_000 / 7_919 });
});
