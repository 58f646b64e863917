import { beforeEach, describe, expect, test } from 'bun:test';
import { createCertificateStore } from '../../../src/mail/transport/ses/certificates.ts';

let now = 0;
let asked: string[] = [];
let fails = false;
let fetchCertificate: (url: string) => Promise<string>;

beforeEach(() => {
  now = 0;
  asked = [];
  fails = false;
  fetchCertificate = createCertificateStore({
    monotonic: () => now,
    ask: async (url) => {
      asked.push(url);
      if (fails) throw new Error('no network');
      return `certificate at ${url}`;
    },
  });
});

const said = (url: string): Promise<string> => fetchCertificate(url).catch((error: Error) => error.message);

describe('a signing certificate', () => {
  test('is fetched once, however many ask for it meanwhile and afterwards', async () => {
    const answers = await Promise.all(Array.from({ length: 50 }, () => fetchCertificate('a')));
    expect(new Set(answers)).toEqual(new Set(['certificate at a']));
    now = 86_400_000;
    expect(await fetchCertificate('a')).toBe('certificate at a');
    expect(asked).toEqual(['a']);
  });

  test('that could not be had is not asked for again for a minute', async () => {
    fails = true;
    expect(await said('a')).toBe('no network');
    fails = false;
    now = 59_999;
    expect(await said('a')).toBe('no network');
    expect(asked).toEqual(['a']);
    now = 60_000;
    expect(await said('a')).toBe('certificate at a');
  });

  test('is asked for ten times a minute at most, whatever addresses are made up; known ones stay at hand', async () => {
    await fetchCertificate('genuine');
    fails = true;
    for (let n = 0; n < 1_000; n++) await said(`forged ${n}`);
    expect(asked).toHaveLength(10);
    expect(await said('forged 999')).toContain('too often');
    expect(await said('genuine')).toBe('certificate at genuine');
    now = 60_000;
    fails = false;
    expect(await said('renewed')).toBe('certificate at renewed');
  });

  test('makes room for another one: failures go first, then the oldest', async () => {
    await fetchCertificate('first');
    await fetchCertificate('second');
    for (let round = 1; round <= 3; round++) {
      now = round * 60_000;
      fails = round < 3;
      for (let n = 0; n < 10; n++) await said(`${round} ${n}`);
    }
    asked = [];
    await said('first');
    await said('second');
    expect(asked).toEqual([]);
    for (let round = 4; round <= 5; round++) {
      now = round * 60_000;
      for (let n = 0; n < 10; n++) await said(`${round} ${n}`);
    }
    now = 360_000;
    asked = [];
    await said('first');
    expect(asked).toEqual(['first']);
  });
});
