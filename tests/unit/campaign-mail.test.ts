import { expect, test } from 'bun:test';
import { createSigner } from '../../src/crypto/signer.ts';
import { Failure } from '../../src/http/failure.ts';
import type { KeptContent } from '../../src/modules/campaigns/content.ts';
import { campaignMail, type MailDeps } from '../../src/modules/campaigns/mail.ts';
import { paceOf } from '../../src/modules/campaigns/pace.ts';
import { subjectsOf } from '../../src/modules/campaigns/subjects.ts';

const sources = { subject: 'Hello {{ contact.firstName }}', previewText: null, html: '<p>x</p>', text: null };
const kept = {
  ...{ from: 'News <news@sender.example>', audienceId: 'aud_1', startedAt: 1, content: { sources } },
} as KeptContent;
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

test('an email that was born with its subject is rendered without it, and one that was not is rendered whole', async () => {
  const asked: Parameters<MailDeps['contents']['render']>[0][] = [];
  const render: MailDeps['contents']['render'] = async (rendering) => {
    asked.push(rendering);
    const { subject } = rendering.content.sources;
    return {
      parts: { subject: subject && 'Hello Ada', previewText: null, html: 'x', text: null },
      names: {},
    };
  };
  const mail = campaignMail({
    database: { query: async () => [{ content: JSON.stringify(kept) }] },
    contents: { render },
    signer: createSigner('only-for-tests'),
    publicUrl: 'https://mail.example',
  } as unknown as MailDeps);
  const born = { ...content, campaign: { contact: {}, hasSubject: true as const } };
  expect(await mail.parts(email, born, 'send')).toMatchObject({ subject: null, html: 'x' });
  expect(await mail.parts(email, content, 'send')).toMatchObject({ subject: 'Hello Ada', html: 'x' });
  expect(asked.map(({ content: { sources: asks } }) => asks.subject)).toEqual([null, sources.subject]);
  expect(new Set(asked.map(({ key }) => key)).size).toBe(2);
});

test('the subjects of a campaign are made only where they differ, and one whose source is slow for all is left', async () => {
  let rendered = 0;
  const slow = {
    render: async () => {
      rendered++;
      return new Failure('SERVICE_UNAVAILABLE', 'Busy.');
    },
  } as unknown as MailDeps['contents'];
  const withSubject = (subject: string | null): KeptContent =>
    ({ ...kept, content: { sources: { ...sources, subject } } }) as KeptContent;
  for (const subject of [null, 'Hello', 'See {{ preferencesUrl }}'])
    expect(await subjectsOf(slow, email, withSubject(subject))([{ contact: {} }], 0)).toEqual([]);
  const make = subjectsOf(slow, email, kept);
  const chunk = Array.from({ length: 100 }, () => ({ contact: {} }));
  for (let asked = 1; asked <= 3; asked++) expect(await make(chunk, 0)).toEqual(chunk.map(() => null));
  // Eight together, twice.
  expect(rendered).toBe(16);
});

test('a rate is divided into what can be given out in one go, so that a high one is reached', () => {
  expect(paceOf(3_600_000, 100)).toEqual({ slice: 100, everyMs: 100 });
  expect(paceOf(36_000, 100)).toEqual({ slice: 10, everyMs: 1_000 });
  expect(paceOf(7_919, 500)).toEqual({ slice: 1, everyMs: 3_600_000 / 7_919 });
});
