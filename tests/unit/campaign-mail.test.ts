import { expect, test } from 'bun:test';
import { tellCampaign } from '../../src/automation/campaigns/commands.ts';
import type { CampaignDeps } from '../../src/automation/campaigns/deps.ts';
import type { KeptContent } from '../../src/automation/campaigns/preview/content.ts';
import { campaignMail, type MailDeps } from '../../src/automation/campaigns/sending/mail.ts';
import { paceOf } from '../../src/automation/campaigns/sending/pace.ts';
import { RENDER_MS, subjectsOf } from '../../src/automation/campaigns/sending/subjects.ts';
import { createSigner } from '../../src/platform/crypto/signer.ts';
import { Failure } from '../../src/platform/errors/failure.ts';

const sources = { subject: 'Hello {{ contact.firstName }}', previewText: null, html: '<p>x</p>', text: null };
const kept = {
  from: 'News <news@sender.example>',
  audienceId: 'aud_1',
  startedAt: 1,
  content: { sources, translations: {} },
  subject: sources.subject,
} as KeptContent;
const email = {
  emailId: 'em_01m7xj1rwzprnwr10308attx',
  campaignId: 'cmp_1',
  workspaceId: 'ws_1',
  recipientKey: 'r@receiver.example',
  subject: 'Hello {{ contact.firstName }}',
};
const turn = { ...email, isOver: () => false };
const still = { monotonic: () => 0 };
const content = { text: null, html: null, markdown: null, attachments: [], campaign: { contact: {} } };

test('an email whose rendering always takes too long fails in the end, and keeps its campaign from no end', async () => {
  const mail = campaignMail({
    database: { query: async () => [{ content: JSON.stringify(kept) }] },
    contents: { render: async () => new Failure('SERVICE_UNAVAILABLE', 'Busy.') },
    signer: createSigner('only-for-tests'),
    publicUrl: 'https://mail.example',
    ...still,
  } as unknown as MailDeps);
  for (let tries = 1; tries < 10; tries++)
    expect(await mail.parts(email, content, 'send').catch(String)).toContain('Busy.');
  // A reader has no part in that.
  expect(await mail.parts(email, content, 'show').catch(String)).toContain('Busy.');
  expect(await mail.parts(email, content, 'send')).toBe('The template takes too long to render.');
});

test('contents of campaigns are kept within a memory, however many there are', async () => {
  const read: unknown[] = [];
  const text = JSON.stringify({
    ...kept,
    content: { sources: { ...sources, text: 'x'.repeat(20_000_000) } },
  });
  const mail = campaignMail({
    database: {
      query: async (_: string, [id]: unknown[]) => {
        read.push(id);
        return [{ content: text }];
      },
    },
    contents: { render: async () => new Failure('VALIDATION_ERROR', 'No.') },
    signer: createSigner('only-for-tests'),
    publicUrl: 'https://mail.example',
    ...still,
  } as unknown as MailDeps);
  for (const campaignId of ['one', 'two', 'one', 'two', 'three', 'three', 'two', 'one'])
    await mail.parts({ ...email, campaignId }, content, 'show');
  expect(read).toEqual(['one', 'two', 'three', 'one']);
});

test('an email that was inserted with its subject is rendered without it, and one that was not is rendered whole', async () => {
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
    ...still,
  } as unknown as MailDeps);
  const inserted = { ...content, campaign: { contact: {}, hasSubject: true as const } };
  expect(await mail.parts(email, inserted, 'send')).toMatchObject({ subject: null, html: 'x' });
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
    ({ ...kept, content: { sources: { ...sources, subject }, translations: {} } }) as KeptContent;
  for (const subject of [null, 'Hello', 'See {{ preferencesUrl }}'])
    expect(
      await subjectsOf({ contents: slow, clock: still }, turn, withSubject(subject))([{ contact: {} }], 0),
    ).toEqual([]);
  const make = subjectsOf({ contents: slow, clock: still }, turn, kept);
  const chunk = Array.from({ length: 100 }, () => ({ contact: {} }));
  for (let asked = 1; asked <= 3; asked++) expect(await make(chunk, 0)).toEqual(chunk.map(() => null));
  // Eight together, twice.
  expect(rendered).toBe(16);
});

test('the subjects of a chunk are made for two seconds, and no longer than its turn; the others are found when they leave', async () => {
  let now = 0;
  let rendered = 0;
  let takesMs = 0;
  const contents = {
    render: async () => {
      rendered++;
      now += takesMs;
      return { parts: { subject: 'Hello Ada', previewText: null, html: null, text: null }, names: {} };
    },
  } as unknown as MailDeps['contents'];
  let overAt = Number.POSITIVE_INFINITY;
  const isOver = (): boolean => now >= overAt;
  const make = subjectsOf({ contents, clock: { monotonic: () => now } }, { ...email, isOver }, kept);
  const chunk = Array.from({ length: 100 }, () => ({ contact: {} }));
  const madeOf = async (tookMs: number): Promise<number> => {
    takesMs = tookMs;
    rendered = 0;
    const subjects = await make(chunk, 0);
    expect(subjects).toEqual(chunk.map((_, index) => (index < rendered ? 'Hello Ada' : null)));
    return rendered;
  };
  // Eight at a time: the bound is met after the fifth eight, or just not yet.
  const perEight = RENDER_MS / 8 / 5;
  expect(await madeOf(perEight)).toBe(40);
  expect(await madeOf(perEight - 1)).toBe(48);
  // Each chunk has its own time.
  expect(await madeOf(1)).toBe(100);
  overAt = now + 16;
  expect(await madeOf(1)).toBe(16);
  expect(await madeOf(1)).toBe(0);
});

test('a rate is divided into what can be given out in one go, so that a high one is reached', () => {
  expect(paceOf(3_600_000, 100)).toEqual({ slice: 100, everyMs: 100 });
  expect(paceOf(36_000, 100)).toEqual({ slice: 10, everyMs: 1_000 });
  expect(paceOf(7_919, 500)).toEqual({ slice: 1, everyMs: 3_600_000 / 7_919 });
});

test('after the answer to a pause no email of the campaign leaves, and a refused event drops nothing', async () => {
  let state = 'sending';
  let looks = 0;
  const mail = campaignMail({
    database: {
      query: async () => {
        looks++;
        return [{ state }];
      },
    },
    ...still,
  } as unknown as MailDeps);
  const caller = { workspaceId: 'ws_1', livemode: true } as Parameters<typeof tellCampaign>[1];
  const tell = (outcome: string) => {
    const deps = { engine: { tell: async () => ({ outcome }) }, forgetStanding: mail.forgetStanding };
    const event = { type: 'pause.requested', at: 1 } as const;
    return tellCampaign(deps as unknown as CampaignDeps, caller, 'cmp_1', event);
  };
  expect(await mail.standing('cmp_1')).toBe('sends');
  await tell('refused');
  expect([await mail.standing('cmp_1'), looks]).toEqual(['sends', 1]);
  state = 'paused';
  await tell('changed');
  expect([await mail.standing('cmp_1'), looks]).toEqual(['held', 2]);
});
