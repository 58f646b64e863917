import { describe, expect, test } from 'bun:test';
import {
  liveSentence,
  reachesPeople,
  WAYS_OUT,
  type WayOut,
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
});
