import { describe, expect, test } from 'bun:test';
import {
  liveSentence,
  reachesPeople,
  WAYS_OUT,
  type WayOut,
  warmUpSentence,
  waysOutOf,
} from '../../../src/web/dashboard/web/application/shell/ways-out.ts';

describe('the band of the live environment', () => {
  const sentences: Readonly<Record<WayOut, readonly [sentence: string, reaches: boolean]>> = {
    capture: ['Email is captured here and not delivered.', false],
    held: ['Email is held, because the transport of its domain is not enabled.', false],
    smtp: ['Email goes to real people through your SMTP relay.', true],
    direct: ['Email goes to real people directly to their mail servers.', true],
    ses: ['Email goes to real people through Amazon SES.', true],
  };

  test.each(Object.entries(sentences))('%s: says where email goes', (way, [sentence, reaches]) => {
    expect(liveSentence([way as WayOut])).toBe(sentence);
    expect(reachesPeople([way as WayOut])).toBe(reaches);
    expect(Object.keys(sentences)).toEqual(Object.keys(WAYS_OUT));
  });

  test.each<[string, Parameters<typeof waysOutOf>, readonly WayOut[]]>([
    ['without domains the default transport counts', [['smtp', 'capture'], []], ['smtp']],
    ['a domain sends by its own transport', [['smtp', 'direct'], [{ provider: 'direct' }]], ['direct']],
    ['a transport that is not enabled holds email', [['smtp'], [{ provider: 'ses' }]], ['held']],
    [
      'each way is named once',
      [['smtp'], [{ provider: 'smtp' }, { provider: 'ses' }, { provider: 'smtp' }]],
      ['smtp', 'held'],
    ],
    ['without any transport email is captured', [[], []], ['capture']],
  ])('%s', (_, given, ways) => {
    expect(waysOutOf(...given)).toEqual(ways);
  });

  test('several transports are shown, and that the choice depends on the domain', () => {
    expect(liveSentence(['smtp', 'held'])).toBe(
      'Depends on the domain: email goes to real people through your SMTP relay; or it is held, because the transport of its domain is not enabled.',
    );
    expect(reachesPeople(['held', 'smtp'])).toBeTrue();
  });

  const warmed = (name: string, allowed: number | null) => ({
    name,
    provider: 'smtp' as const,
    warmUps: [{ provider: 'smtp' as const, today: allowed === null ? null : { allowed } }],
  });

  test.each<[string, Parameters<typeof warmUpSentence>[0], string]>([
    ['no warm-up', [], ''],
    ['a warm-up that has ended', [warmed('acme.example', null)], ''],
    [
      'a warm-up of a transport that the domain does not use',
      [{ ...warmed('acme.example', 50), provider: 'ses' }],
      '',
    ],
    [
      'one warm-up',
      [warmed('acme.example', 50)],
      'Warm-up: today at most 50 recipients of acme.example; further email waits.',
    ],
    [
      'several warm-ups',
      [warmed('acme.example', 50), warmed('b.example', 20), warmed('c.example', 20)],
      'Warm-up: today at most 50 recipients of acme.example, and limits for 2 more; further email waits.',
    ],
  ])('says the limit of today: %s', (_, domains, sentence) => {
    expect(warmUpSentence(domains)).toBe(sentence);
  });
});
