import { describe, expect, test } from 'bun:test';
import { createSigner } from '../../src/platform/crypto/signer.ts';
import { readLinkToken } from '../../src/sending/tracking/api.ts';
import { type CopyTracking, copyTexts, personaliser } from '../../src/sending/tracking/commands.ts';
import { costMs } from '../support/own-time.ts';

const signer = createSigner('only-for-tests-only-for-tests-only');
const EMAIL = 'em_01m7xj1rwzprnwr10308attx';

/** Personalises, and counts how often text is made of html. */
function maker() {
  const made: string[] = [];
  const textFromHtml = (html: string): string => {
    made.push(html);
    return html.replace(/<[^>]*>/g, '');
  };
  return { made, personalise: personaliser({ signer, publicUrl: 'https://mail.test', textFromHtml }) };
}

const copyOf = (recipient: number, more: Partial<CopyTracking> = {}): CopyTracking => ({
  destination: { emailId: EMAIL, recipient },
  workspaceId: 'ws_1',
  address: `r${recipient}@receiver.example`,
  host: null,
  leaveHost: 'bounces.sender.example',
  opens: true,
  clicks: true,
  list: null,
  ...more,
});

describe('tracked copies of an email', () => {
  const HTML = `<body><p>{{ unsubscribeUrl }}</p><a href="{{unsubscribeUrl}}">Leave</a>
<a href="https://shop.example/?leave={{unsubscribeUrl}}&amp;b=$1">Shop</a></body>`;

  test('share what is read of it, and each has separate links', () => {
    const { made, personalise } = maker();
    const parts = { text: null, html: HTML };
    const links = [0, 1].map((recipient) => {
      const { text, html, unsubscribe } = personalise(parts, copyOf(recipient));
      const exit = unsubscribe?.url ?? '';
      const token = (purpose: 'unsubscribe' | 'click' | 'open', letter: string) =>
        readLinkToken(purpose, new RegExp(`/t/${letter}/([\\w.-]+)`).exec(html ?? '')?.[1] ?? '', signer);
      expect(text).toBe(`${exit}Leave\nShop`);
      expect(html).toStartWith(`<body><p>${exit}</p><a href="${exit}">Leave</a>`);
      expect(html).not.toContain('exit.invalid');
      expect(html).toMatch(/<img [^>]*><\/body>$/);
      expect(token('unsubscribe', 'u')?.target).toBe(`ws_1 r${recipient}@receiver.example`);
      expect(token('click', 'c')).toEqual({
        emailId: EMAIL,
        recipient,
        target: `https://shop.example/?leave=${exit}&b=$1`,
      });
      expect(token('open', 'o')?.recipient).toBe(recipient);
      return exit;
    });
    expect(new Set(links).size).toBe(2);
    expect(made.length).toBe(1);
  });

  test('unsubscribe by the link itself where its author wrote more behind it: no click tells a webhook the token', () => {
    for (const [more, written = more] of [['?utm=1&b=2', '?utm=1&amp;b=2'], ['#top'], ['']] as const) {
      const html = `<a href="{{unsubscribeUrl}}${more}">Leave</a>`;
      const made = maker().personalise({ text: null, html }, copyOf(0));
      expect(made.html).toStartWith(`<a href="${made.unsubscribe?.url}${written}">Leave</a>`);
      expect(made.html).not.toContain('/t/c/');
    }
  });

  test('of the same words are those of another email', () => {
    const { personalise } = maker();
    const [one, other] = ['https://a.example', 'https://b.example'].map((text) =>
      personalise({ text, html: null }, copyOf(0)),
    );
    expect([one?.text, other?.text, one?.unsubscribe]).toEqual([
      'https://a.example',
      'https://b.example',
      null,
    ]);
  });

  test('without anything to count are what was written', () => {
    const html = '<a href="https://shop.example/?a=1&amp;b=2">Shop</a>';
    const quiet = copyOf(0, { opens: false, clicks: false });
    expect(maker().personalise({ text: 'Shop', html }, quiet)).toEqual({
      text: 'Shop',
      html,
      unsubscribe: null,
    });
  });

  test('of html that is costly to read parse it once for fifty recipients', () => {
    const { personalise } = maker();
    const tedious = { text: '', html: `${'<b>'.repeat(900)}${'</i>'.repeat(80_000)}` };
    const first = costMs(() => personalise(tedious, copyOf(0)));
    const others = costMs(() => {
      for (let recipient = 1; recipient < 50; recipient++) personalise(tedious, copyOf(recipient));
    });
    // Each took as long as the first.
    expect(others).toBeLessThan(2 * first + 250);
  });

  test('that are put together from others are in their language, also of the same html', () => {
    const texts = copyTexts({
      signer,
      publicUrl: 'https://mail.test',
      textFromHtml: (html) => html.replace(/<[^>]*>/g, ' '),
    });
    const list = { audienceId: 'aud_1', campaignId: 'cmp_1' };
    const written = (parts: { text: null; html: string }, language: string): string => {
      const tracked = copyOf(0, { list, language } as Partial<CopyTracking>);
      return JSON.stringify(texts.compiled(parts, tracked) ?? texts.personalise(parts, tracked));
    };
    const named = (name: string) => ({
      text: null,
      html: `<body><p>Hi ${name}</p>${'<p>News</p>'.repeat(99)}</body>`,
    });
    for (const name of ['Ada', 'Bob', 'Cy']) written(named(name), 'en');
    const parts = named('Eve');
    expect(
      texts.compiled(parts, copyOf(0, { list, language: 'en' } as Partial<CopyTracking>)),
    ).not.toBeNull();
    expect(written(parts, 'en')).toContain('Unsubscribe');
    expect(written(parts, 'de')).toContain('Abbestellen');
    expect(written(parts, 'de')).not.toContain('Unsubscribe');
  });

  test('that come in several languages by turns are put together from others of theirs', () => {
    const texts = copyTexts({
      signer,
      publicUrl: 'https://mail.test',
      textFromHtml: (html) => html.replace(/<[^>]*>/g, ' '),
    });
    const list = { audienceId: 'aud_1', campaignId: 'cmp_1' };
    const compiled = (name: string, [hello, news, language]: readonly string[]) =>
      texts.compiled(
        { text: null, html: `<body><p>${hello} ${name}</p>${`<p>${news}</p>`.repeat(99)}</body>` },
        copyOf(0, { list, language } as Partial<CopyTracking>),
      );
    const LANGUAGES = [
      ['Hi', 'News', 'en'],
      ['Hallo', 'Neues', 'de'],
    ];
    for (const name of ['Ada', 'Bob', 'Cy']) for (const each of LANGUAGES) compiled(name, each);
    for (const each of LANGUAGES) expect(compiled('Eve', each)).not.toBeNull();
  });
});
