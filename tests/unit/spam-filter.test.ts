import { expect, test } from 'bun:test';
import type { AskSpamAssassin } from '../../src/mail/spam/spam-assassin.ts';
import { reporter, spamFilter, throughSpamd } from '../../src/mail/spam/spam-filter.ts';
import type { Logger } from '../../src/platform/telemetry/logger.ts';

const RAW = Buffer.from('Subject: Hi\r\n\r\nHello\r\n');
const ORIGIN = { helo: 'mx.example', client: '192.0.2.1', from: 'a@customer.example', at: 0 };
const PARTS = {
  name: 'mx.sender.example',
  monotonic: () => 0,
  logger: { warn: () => {} } as unknown as Logger,
};
const HAM = { score: 1, threshold: 5, rules: [] };

const filterOf = (ask: AskSpamAssassin, limits: { readonly waitMs: number; readonly askMs: number }) =>
  spamFilter('SPAMASSASSIN_URL', throughSpamd(ask), PARTS, limits);
const UNKNOWN = { verdict: 'unknown', score: null } as const;

test('a message that waits too long for its turn is never asked about, and says nothing about spamd', async () => {
  const answers: (() => void)[] = [];
  const ask: AskSpamAssassin = () => new Promise((resolve) => answers.push(() => resolve(HAM)));
  const filter = filterOf(ask, { waitMs: 1, askMs: 60_000 });
  const asked = Array.from({ length: 8 }, () => filter.judge(RAW, ORIGIN));
  expect(await Promise.all(Array.from({ length: 4 }, () => filter.judge(RAW, ORIGIN)))).toEqual(
    Array(4).fill(UNKNOWN),
  );
  for (const answer of answers) answer();
  expect(await Promise.all(asked)).toEqual(Array(8).fill({ verdict: 'ham', score: 1 }));
  expect(answers).toHaveLength(8);
  const next = filter.judge(RAW, ORIGIN);
  await Promise.resolve();
  while (answers.length < 9) await Promise.resolve();
  answers[8]?.();
  expect((await next).verdict).toBe('ham');
});

test('a question without an answer in time is ended, and three of them leave spamd alone for a while', async () => {
  const ended: boolean[] = [];
  const ask: AskSpamAssassin = (_, signal) =>
    new Promise((_resolve, reject) => {
      signal?.addEventListener('abort', () => {
        ended.push(true);
        reject(new Error('ended'));
      });
    });
  const filter = filterOf(ask, { waitMs: 60_000, askMs: 1 });
  for (let at = 0; at < 5; at++) expect(await filter.judge(RAW, ORIGIN)).toEqual(UNKNOWN);
  expect(ended).toHaveLength(3);
});

test('two reports are made at once, and one that waits too long is refused', async () => {
  const answers: (() => void)[] = [];
  const ask: AskSpamAssassin = () => new Promise((resolve) => answers.push(() => resolve(HAM)));
  const report = reporter(ask, { waitMs: 1, askMs: 60_000 });
  const first = [report(RAW), report(RAW)];
  await expect(report(RAW)).rejects.toThrow('Too many reports wait for spamd.');
  expect(answers).toHaveLength(2);
  for (const answer of answers) answer();
  expect(await Promise.all(first)).toEqual([HAM, HAM]);
});

test('spamd has a return path beyond ASCII in UTF-8', async () => {
  const seen: Buffer[] = [];
  const ask: AskSpamAssassin = (raw) => {
    seen.push(raw);
    return Promise.resolve(HAM);
  };
  await filterOf(ask, { waitMs: 60_000, askMs: 60_000 }).judge(RAW, {
    ...ORIGIN,
    from: 'jürgen@customer.example',
  });
  expect(seen[0]?.toString()).toStartWith(
    'Return-Path: <jürgen@customer.example>\r\nReceived: from mx.example ',
  );
  expect(seen[0]?.subarray(-RAW.length).equals(RAW)).toBe(true);
});
