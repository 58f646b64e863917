import { describe, expect, test } from 'bun:test';
import { withPreviewLine } from '../../src/mail/html/preview-line.ts';
import { readHtml } from '../../src/mail/html/read-html.ts';
import { createSigner } from '../../src/platform/crypto/signer.ts';
import { personaliser } from '../../src/sending/tracking/commands.ts';
import { type HtmlShape, htmlShapes } from '../support/html-shapes.ts';
import { asOutlook, type Seen, seenIn } from '../support/read-as-browser.ts';

const personalise = personaliser({
  signer: createSigner('only-for-tests-only-for-tests-only'),
  publicUrl: 'https://mail.test',
  textFromHtml: () => '',
});
const campaignCopy = (html: string): string =>
  personalise(
    { html, text: '' },
    {
      destination: { emailId: 'em_01m7xj1rwzprnwr10308attx', recipient: 0 },
      workspaceId: 'ws_1',
      address: 'ada@receiver.example',
      host: null,
      opens: true,
      clicks: true,
      leaveHost: null,
      list: { campaignId: 'cmp_1', audienceId: 'aud_1' },
    },
  ).html ?? '';

const isExit = ({ text, href }: Seen): boolean =>
  text === 'Unsubscribe' && (href?.startsWith('https://mail.test/t/u/') ?? false);
const isPixel = ({ picture }: Seen): boolean => picture?.startsWith('https://mail.test/t/o/') ?? false;

/** The problems of a shape once all is added to it, in words. */
function faultsOf({ html }: HtmlShape): readonly string[] {
  const sent = campaignCopy(withPreviewLine(html, 'Tea & <milk>'));
  const faults: string[] = [];
  for (const [reader, read] of [
    ['a browser', sent],
    ['Outlook', asOutlook(sent)],
  ] as const) {
    const seen = seenIn(read);
    const [first] = seen;
    if (!first?.isPreview || first.text !== 'Tea & <milk>') faults.push(`${reader}: no preview text`);
    if (seen.filter(({ isPreview }) => isPreview).length !== 1) faults.push(`${reader}: more is hidden`);
    if (seen.filter(isExit).length !== 1) faults.push(`${reader}: no way out`);
    if (seen.filter(isPixel).length !== 1) faults.push(`${reader}: no pixel`);
    if (seen.findIndex(isExit) < seen.findIndex(({ text }) => text.endsWith('Body text')))
      faults.push(`${reader}: the way out comes before the text`);
  }
  const others = seenIn(sent).filter((each) => !each.isPreview && !isExit(each) && !isPixel(each));
  const words = (seen: readonly Seen[]) => seen.map(({ text }) => text).join(' ');
  if (words(others) !== words(seenIn(html))) faults.push('the rest reads differently');
  return faults;
}

describe('what is added to html is shown', () => {
  const shapes = htmlShapes(250);
  for (const shape of shapes)
    test(`in ${JSON.stringify(shape.name)}`, () => expect(faultsOf(shape)).toEqual([]));
});

test('additions are placed where the shape says', () => {
  const at = (html: string) => {
    const { begin, end } = readHtml(html);
    return `${html.slice(0, begin)}[${html.slice(begin, end)}]${html.slice(end)}`;
  };
  expect(at('<body>x</BODY></html>')).toBe('<body>[x]</BODY></html>');
  expect(at('<p>x</p>')).toBe('[<p>x</p>]');
  expect(at('<p>x</p></body></html>\n')).toBe('[<p>x</p>]</body></html>\n');
  expect(at('<!-- </body> --><body>İYİ GÜNLER</body></html>')).toBe(
    '<!-- </body> --><body>[İYİ GÜNLER]</body></html>',
  );
  expect(at('<body>x<!-- a --></body>')).toBe('<body>[x]<!-- a --></body>');
  expect(at('<body>x<!-- unfinished')).toBe('<body>[x]<!-- unfinished');
  expect(at(`<body>${'<b>'.repeat(2_000)}x</body>`)).toBe(`<body>[]${'<b>'.repeat(2_000)}x</body>`);
});
