import { expect, test } from 'bun:test';
import type { BodyStore } from '../../../src/platform/bodies/body-store.ts';
import { packOctets } from '../../../src/platform/db/wire/packed-octets.ts';
import type { Content } from '../../../src/sending/emails/accept/message.ts';
import { packContent, unpackContent } from '../../../src/sending/emails/accept/packed-content.ts';
import { bringBack, broughtInside, putAway } from '../../../src/sending/emails/bodies/content-bodies.ts';
import { noise } from '../../support/noise.ts';

const OWNER = { kind: 'email', livemode: true, workspaceId: 'ws_1', day: '2026-11-27' } as const;

/** A content whose octets are no text. */
const contentOf = (octets: Buffer, text: string): Content => ({
  text,
  html: '<p>\n</p>',
  markdown: null,
  attachments: [],
  raw: { octets, index: { headers: [], attachments: [], html: 'no html', came: null } },
});

/** A store in memory. */
function memoryStore() {
  const kept = new Map<string, Buffer>();
  const write = async (_: unknown, octets: Buffer) => {
    const key = `key-${kept.size}`;
    kept.set(key, octets);
    return { key, until: 0 };
  };
  const read = async (key: string) => kept.get(key) ?? Buffer.alloc(0);
  return { kept, store: { write, read } as unknown as BodyStore };
}

test('a message that stays what it is comes back from its row octet for octet', async () => {
  for (const octets of [Buffer.alloc(0), Buffer.from('\n\0\r\n\xff', 'latin1'), noise(100_000, 1)]) {
    const content = contentOf(octets, 'a\nb');
    expect(await unpackContent(await packContent(content))).toEqual(content);
  }
});

test.each([
  ['octets', noise(100_000, 1), 'short'],
  ['text', Buffer.from('\n\xff', 'latin1'), noise(100_000, 2).toString('base64')],
  ['octets and text', noise(100_000, 3), noise(100_000, 4).toString('base64')],
])('a message whose %s lie outside comes back, and into its row in any order', async (_, octets, text) => {
  const content = contentOf(octets, text);
  const { kept, store } = memoryStore();
  const { content: packed, judged } = await putAway(store, content, OWNER);
  expect(judged?.body_keys).toEqual([...kept.keys()]);
  expect(await bringBack(store, packed, 'whole')).toEqual(content);
  for (const keys of [[...kept.keys()], [...kept.keys()].toReversed()]) {
    let inside = packed;
    for (const key of keys)
      inside = await broughtInside(inside, key, kept.get(key) ?? (await packOctets('')));
    expect(await unpackContent(inside)).toEqual(content);
  }
});
