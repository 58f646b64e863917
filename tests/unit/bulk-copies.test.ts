import { beforeAll, expect, test } from 'bun:test';
import { composeAny } from '../../src/mail/compose/compose.ts';
import { renderMarkdown } from '../../src/mail/content/render-markdown.ts';
import { renderMjml } from '../../src/mail/content/render-mjml.ts';
import { textFromHtml } from '../../src/mail/content/text-part.ts';
import { generateDkimKey } from '../../src/mail/dkim/key-pair.ts';
import { inThisThread, signaturesOf } from '../../src/mail/dkim/sign.ts';
import { loadSigningKey, type SigningKey } from '../../src/mail/dkim/signing-key.ts';
import { randomFrom } from '../../src/ops/torture/random.ts';
import { createSigner } from '../../src/platform/crypto/signer.ts';
import {
  CopyWriter,
  type PortableKey,
  type WritingJob,
  type WrittenBatch,
} from '../../src/sending/emails/bulk/copy-writer.ts';
import { personaliser } from '../../src/sending/tracking/commands.ts';

// Copies of campaigns are put together from what they have in common. Each is compared, octet by octet, with
// the copy that nodemailer's composer makes by itself, after html and text were read for this copy alone.
const CAMPAIGNS = 44;
const COPIES = 7;
const SEED = 20_261_128;
const { between, pick: one } = randomFrom(SEED);

const publicUrl = 'https://mail.example';
const signer = createSigner('only-for-tests');
let keys: readonly PortableKey[];
let dkim: readonly SigningKey[];

beforeAll(async () => {
  const { privateKey, algorithm } = await generateDkimKey('ed25519-sha256');
  keys = [{ domain: 'sender.example', selector: 'ed', algorithm, pem: privateKey }];
  dkim = keys.map((key) => loadSigningKey(key));
});

const NAMES = [
  'Ada',
  'Adam',
  'Person1',
  'Person2',
  'Person3',
  'Zoë',
  '日本',
  'Ada Lovelace',
  'Anna-Maria de la Cruz',
  'Иван',
  'Ἀλέξανδρος',
  '𝒜da',
  'Bob',
  'Grace Hopper',
  'O’Neil',
  '',
  'News',
  'Xaver',
  'unsubscribeUrl',
  'P',
  '42nd',
  '<b>',
  'Ümit',
  'Bob',
];
const SENTENCES = [
  'Some forty characters of a newsletter.',
  'Grüße aus Köln, schöne Straße und ein Übermaß an Umlauten für alle.',
  'A = B; 100 % of it.',
  'Добрый день, вот наши новости за эту неделю для вас.',
  '你好，这是本周的新闻。',
  'Two  spaces, a\ttab, and space at the end. ',
  `A line without an end ${'that goes on and on '.repeat(12)}`,
  `https://shop.example/${'path/'.repeat(30)}`,
  '👋🏽 Hello',
];
const LINKS = [
  '<a href="https://shop.example/new">New</a>',
  '<a href="https://shop.example/?a=1&amp;b=2">Two</a>',
  '<a href="https://mail.example/p/abc">Preferences</a>',
  '<a href="{{ unsubscribeUrl }}">Leave</a>',
  '<a href="https://shop.example/?out={{unsubscribeUrl}}">Out</a>',
  '<a href="mailto:a@b.example">Mail</a>',
  `<a href="https://shop.example/${'x'.repeat(2_040)}">Long</a>`,
];
const several = <T>(most: number, all: readonly T[]): readonly T[] =>
  Array.from({ length: between(0, most) }, () => one(all));

/** Sources with HELD in place of a name. */
type Source = (script: readonly string[]) => Promise<string>;
const HELD = 'Qheldq';
const paragraphs = (script: readonly string[]): string =>
  several(12, script)
    .map((said) => `<p>${said}</p>`)
    .join(one(['\n', '\r\n', '\n    ', '']));
const SOURCES: Readonly<Record<string, Source>> = {
  html: async (script) =>
    `<h1>Hi ${HELD}</h1>${several(4, LINKS).join(' ')}${paragraphs(script)}${one(['', '\n', ' ', '</body></html>'])}`,
  indented: async (script) =>
    `<html>\n  <body>\n    <p>Dear ${HELD},</p>\n    ${paragraphs(script)}\n    ${several(4, LINKS).join('\n    ')}\n  </body>\n</html>\n`,
  twice: async (script) => `<p>${HELD} and ${HELD} </p>${paragraphs(script)}`,
  nothing: async (script) => `<p>Hi</p>${paragraphs(script)}${several(3, LINKS).join('')}`,
  markdown: async (script) =>
    (
      await renderMarkdown(
        `# Hi ${HELD}\n\n${several(6, script).join('\n\n')}\n\n[Shop](https://shop.example/md)`,
        'Subject',
        '0123456789abcdef',
      )
    ).html,
  mjml: async (script) =>
    (
      await renderMjml(
        `<mjml lang="en"><mj-body><mj-section><mj-column><mj-text>Hi ${HELD}</mj-text><mj-text>${one(script)}</mj-text><mj-button href="https://shop.example/m">Go</mj-button></mj-column></mj-section></mj-body></mjml>`,
        '0123456789abcdef0123456789abcdef',
      )
    ).html,
};

async function jobsOf(campaign: number): Promise<readonly WritingJob[]> {
  const script = one([SENTENCES, SENTENCES.slice(0, 1), SENTENCES.slice(0, 3), SENTENCES.slice(3, 5)]);
  const html = await (Object.values(SOURCES)[campaign % 6] as Source)(script);
  const text = one([
    null,
    null,
    null,
    `Hi ${HELD},\n\n${several(9, script).join('\n')}`,
    `Hi\n${script[0]}`,
    '',
  ]);
  const tracking = { opens: one([true, false]), clicks: one([true, false]) };
  const host = one([null, null, 'links.sender.example']);
  const list = { campaignId: `cmp_${campaign}`, audienceId: 'aud_1' };
  const subject = one(['Hello', `Hello ${HELD}`, 'Grüße', 's'.repeat(200), '=?utf-8?q?a?=', 'Новости 👋']);
  const replyTo = one([[], [{ name: 'Größe', address: 'reply@sender.example' }]]);
  const own = one([
    [],
    [{ name: 'X-Campaign', value: 'spring' }],
    [{ name: 'List-Unsubscribe', value: '<https://x.example>' }],
  ]);
  const file = { filename: 'a.txt', contentType: null, contentId: null, content: Buffer.from('abc') };
  const attachments = campaign % 11 === 10 ? [file] : [];
  const receives = campaign % 2 === 0;
  const isUsual = between(0, 2) > 0;
  return Array.from({ length: COPIES }, (_, index) => {
    const name = isUsual ? `Person${100 * campaign + index}` : one(NAMES);
    const emailId = `em_${(1_000 * campaign + index).toString(36).padStart(24, '0')}`;
    const address = one([`p${index}@people.example`, 'grüße@people.example', 'p@bücher.example']);
    const put = (part: string): string => part.replaceAll(HELD, name);
    return {
      message: {
        emailId,
        attempt: 1,
        from: { name: 'News', address: 'news@sender.example' },
        to: [{ name: name || null, address }],
        cc: [],
        bcc: [],
        replyTo,
        recipients: [address],
        subject: put(subject),
        headers: [
          { name: 'Precedence', value: 'bulk' },
          { name: 'List-Id', value: '<aud-1.sender.example>' },
          ...own,
        ],
        attachments,
        messageId: `<${emailId}@sender.example>`,
        date: 1_700_000_000_000 + index,
        returnPath: 'b@bounces.sender.example',
        isBulk: true,
      },
      parts: { text: text === null ? null : put(text), html: put(html) },
      personal: {
        destination: { emailId, recipient: 0 },
        workspaceId: 'ws_1',
        address,
        host,
        ...tracking,
        leaveHost: receives ? 'bounces.sender.example' : null,
        list,
      },
      keys,
    };
  });
}

async function expectedOf({ message, parts, personal }: WritingJob): Promise<Buffer> {
  const personalise = personaliser({ signer, publicUrl, textFromHtml });
  const composed = await composeAny({ ...message, dkim, ...personalise(parts, personal) });
  return Buffer.concat([await signaturesOf({ composed }, dkim, message.date, inThisThread), composed]);
}

function* copiesIn({ octets, lengths }: WrittenBatch): Generator<Buffer> {
  let at = 0;
  for (const length of lengths) {
    if (length === null) throw new Error('A copy was not written.');
    const end = at + length.signatures + length.composed;
    yield Buffer.from(octets.subarray(at, end));
    at = end;
  }
}

test(`copies of ${CAMPAIGNS} generated campaigns have the octets of the composer, ${CAMPAIGNS * COPIES} in all`, async () => {
  let copies = 0;
  const compiled = new Set<string>();
  for (let campaign = 0; campaign < CAMPAIGNS; campaign++) {
    const jobs = await jobsOf(campaign);
    const writer = new CopyWriter({ sign: inThisThread, library: null });
    const batch = await writer.write({ signerKey: signer.key, publicUrl, jobs });
    for (const [index, written] of [...copiesIn(batch)].entries()) {
      const expected = await expectedOf(jobs[index] as WritingJob);
      if (!written.equals(expected))
        expect({ campaign, index, octets: written.toString('latin1') }).toEqual({
          campaign,
          index,
          octets: expected.toString('latin1'),
        });
      copies++;
    }
    if (writer.compiled > 0) compiled.add(Object.keys(SOURCES)[campaign % 6] ?? '');
  }
  expect(copies).toBe(CAMPAIGNS * COPIES);
  // Copies that were composed one by one would be equal as well.
  expect([...compiled].toSorted()).toEqual(['html', 'indented', 'markdown', 'mjml']);
});
