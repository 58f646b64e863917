import type { FirstKey } from '../modules/api-keys/issue.ts';

/** What a new installation is told, once. */
export interface FirstRun {
  readonly baseUrl: string;
  readonly keys: readonly FirstKey[];
}

/** The welcome: the keys, which are shown only now, a first email to send, and where to look next. */
export function firstRunText({ baseUrl, keys }: FirstRun): string {
  const test = keys.find(({ livemode }) => !livemode)?.key;
  const named = keys
    .filter(({ origin }) => origin === 'generated')
    .map(({ livemode, key }) => `  ${livemode ? 'live' : 'test'}  ${key}`);
  return [
    '',
    `Posthorn is ready at ${baseUrl}`,
    '',
    ...(named.length === 0 ? [] : ['Your API keys. They are shown this once and never again:', ...named, '']),
    'Send a first email. A test key delivers to nobody; the simulator answers:',
    `  curl ${baseUrl}/v1/emails \\`,
    `    -H 'authorization: Bearer ${test ?? '<your test key>'}' \\`,
    `    -H 'content-type: application/json' \\`,
    `    -d '{"from":"you@example.com","to":"delivered@simulator.svc.test","subject":"Hello","text":"It works."}'`,
    '',
    'Then look at:',
    `  ${baseUrl}/docs       every endpoint, with examples`,
    `  ${baseUrl}/v1/emails  what was sent, with the same key`,
    '',
    '',
  ].join('\n');
}
