import type { FirstKey } from '../../../accounts/api-keys/issue.ts';
import { leaves } from '../../../mail/transport/traits.ts';
import type { Config } from '../../../platform/config/config.ts';

/**
 * The text of the first start: the keys, which are shown only now, a first email to send, and where to look
 * next.
 */
export function firstRunText(
  { publicUrl, simulatorDomain, transport }: Pick<Config, 'publicUrl' | 'simulatorDomain' | 'transport'>,
  keys: readonly FirstKey[],
): string {
  const test = keys.find(({ livemode }) => !livemode)?.key;
  const named = keys
    .filter(({ origin }) => origin === 'generated')
    .map(({ livemode, key }) => `  ${livemode ? 'live' : 'test'}  ${key}`);
  return [
    '',
    `Posthorn is set up to answer at ${publicUrl}`,
    '',
    ...(named.length === 0 ? [] : ['Your API keys. They are shown this once and never again:', ...named, '']),
    'Send a first email. A test key delivers no mail; the simulator answers:',
    `  curl ${publicUrl}/v1/emails \\`,
    `    -H 'authorization: Bearer ${test ?? '<your test key>'}' \\`,
    `    -H 'content-type: application/json' \\`,
    `    -d '{"from":"you@example.com","to":"delivered@${simulatorDomain}","subject":"Hello","text":"It works."}'`,
    '',
    ...(!leaves(transport[0]) ? captured(publicUrl) : []),
    'Then look at:',
    `  ${publicUrl}/docs       every endpoint, with examples`,
    `  ${publicUrl}/v1/emails  what was sent, with the same key`,
    '',
    '',
  ].join('\n');
}

/** A sentence about captured live mail, so that it is not searched for elsewhere or thought to be sent. */
const captured = (publicUrl: string): string[] => [
  'Live email is not sent yet: TRANSPORT is capture, which stores it here to be read:',
  `  ${publicUrl}/v1/captured  with the live key`,
  'To send for real, set TRANSPORT to smtp, direct or ses.',
  '',
];
