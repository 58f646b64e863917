import { expect, test } from 'bun:test';
import type { Content } from '../../src/sending/emails/accept/message.ts';
import { packContent, unpackContent } from '../../src/sending/emails/accept/packed-content.ts';

const contentOf = (html: string): Content => ({ text: null, html, markdown: null, attachments: [] });

test.each([
  ['nothing', ''],
  ['characters beyond ASCII', '<p>Grüße, 你好 🎉</p>'],
  ['more than is packed at once', `<p>${'Your order is on its way. '.repeat(10_000)}</p>`],
  ['what packs badly', crypto.getRandomValues(new Uint8Array(60_000)).toBase64().repeat(2)],
])('a body of %s comes back as it was', async (_, html) => {
  expect(await unpackContent(await packContent(contentOf(html)))).toEqual(contentOf(html));
});

test('the base64 of PostgreSQL, which breaks its lines, is read', async () => {
  const packed = await packContent(contentOf('<p>Hello</p>'.repeat(50)));
  expect(await unpackContent(packed.replaceAll(/.{76}/g, '$&\n'))).toEqual(
    contentOf('<p>Hello</p>'.repeat(50)),
  );
});
