import { describe, expect, test } from 'bun:test';
import { spamAssassinAt } from '../../src/mail/spam/spam-assassin.ts';
import { verdictOf } from '../../src/mail/spam/spam-verdict.ts';
import { startSpamd } from '../support/spamd.ts';

const RAW = Buffer.from('Subject: Grüße\r\n\r\nHello\r\n');

describe('SpamAssassin', () => {
  test('is asked about the whole message, and its rules come with the heaviest first', async () => {
    await using spamd = await startSpamd();
    expect(await spamAssassinAt(spamd.url)(RAW)).toEqual({
      score: 6.2,
      threshold: 5,
      rules: [
        {
          name: 'GTUBE',
          points: 5,
          description: 'BODY: Generic Test for Unsolicited Bulk Email, as its authors have agreed upon',
          advice: null,
        },
        { name: 'MISSING_HEADERS', points: 1.2, description: 'Missing To: header', advice: null },
        {
          name: 'NO_RELAYS',
          points: -0,
          description: 'Informational: message was not relayed via SMTP',
          advice: null,
        },
      ],
    });
    expect(spamd.asked).toEqual([RAW.toString()]);
  });

  test.each([
    ['an error', 'SPAMD/1.1 76 EX_PROTOCOL\r\nSpam: True ; 6.2 / 5.0\r\n\r\n'],
    ['another protocol', '220 mail.example ESMTP\r\n'],
    ['a verdict without its report', 'SPAMD/1.1 0 EX_OK\r\nSpam: True ; 6.2 / 5.0\r\n'],
    ['nothing', ''],
  ])('that answers with %s has said nothing', async (_, answer) => {
    expect(verdictOf(answer)).toBeNull();
    await using spamd = await startSpamd(answer);
    await expect(spamAssassinAt(spamd.url)(RAW)).rejects.toThrow('is not a report');
  });

  test('that does not run is reported', async () => {
    const { url } = await startSpamd().then(async (spamd) => {
      await spamd[Symbol.asyncDispose]();
      return spamd;
    });
    await expect(spamAssassinAt(url)(RAW)).rejects.toThrow();
  });

  test('a report that does not end is given up', async () => {
    await using spamd = await startSpamd(`SPAMD/1.1 0 EX_OK\r\n\r\n${'x'.repeat(300_000)}`);
    await expect(spamAssassinAt(spamd.url)(RAW)).rejects.toThrow('is incomplete');
  });
});
