import { expect, test } from 'bun:test';
import {
  confirmationPath,
  preferencesPath,
  SHOWN_PREFERENCES,
} from '../../src/audience/preferences/links.ts';
import { createSigner } from '../../src/platform/crypto/signer.ts';
import { linkToken, withShownLinks } from '../../src/sending/tracking/api.ts';

// Readers of an email must not act for its recipient by the pages that it links.

const SIGNER = createSigner('a secret of thirty-two characters');
const recipient = { workspaceId: 'ws_01m7xj1rwzprnwr10308attx', livemode: true, key: 'ada@example.com' };
const copy = { emailId: 'em_0', campaignId: 'cmp_0', audienceId: 'aud_0' };
const LONG = `${'ü'.repeat(100)}@${'long.'.repeat(30)}example`;

const PREFERENCES = [
  recipient,
  { ...recipient, language: 'de' },
  { ...recipient, copy },
  { ...recipient, key: LONG },
].map((one) => preferencesPath(SIGNER, one));
const CONFIRMATIONS = [undefined, 'de'].map((language) =>
  confirmationPath(SIGNER, { ...recipient, audienceId: 'aud_0', ...(language && { language }) }),
);

const WAYS: readonly ((path: string) => string)[] = [
  (path) => path,
  (path) => `<a href="https://post.example${path}">Choose</a>`,
  (path) => `See https://post.example${path}.\n`,
  (path) => `(https://post.example${path}?from=mail#top)`,
  (path) => `https://a.example/?to=${encodeURIComponent(`https://post.example${path}`)}&x=1`,
  (path) => `https://post.example${path} and https://post.example${path}`,
];

test('each form of such a link becomes that of a page that does nothing', () => {
  for (const way of WAYS) {
    for (const path of PREFERENCES) expect(withShownLinks(way(path))).toBe(way(SHOWN_PREFERENCES));
    for (const path of CONFIRMATIONS) expect(withShownLinks(way(path))).toBe(way('/c/preview'));
  }
});

test('other text stays as it is', () => {
  const click = linkToken(
    'click',
    { emailId: 'em_01m7xj1rwzprnwr10308attx', recipient: 0, target: 'https://a.example/' },
    SIGNER,
  );
  for (const text of [
    '',
    'Hello',
    `https://post.example/t/c/${click}`,
    'https://a.example/p/WyJ3c1.short',
    'https://a.example/p/some-product.abcdefghijklmnopqrstuv',
  ])
    expect(withShownLinks(text)).toBe(text);
  expect(withShownLinks(null)).toBeNull();
});
