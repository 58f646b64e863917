import { describe, expect, test } from 'bun:test';
import { textFromHtml } from '../../src/mail/content/text-part.ts';
import { parseParts, renderParts } from '../../src/mail/liquid/parts.ts';
import { createSigner } from '../../src/platform/crypto/signer.ts';
import { personaliser } from '../../src/sending/tracking/commands.ts';
import { costMs } from '../support/own-time.ts';
import { asOutlook, seenIn } from '../support/read-as-browser.ts';

const personalise = personaliser({
  signer: createSigner('only-for-tests-only-for-tests-only'),
  publicUrl: 'https://mail.test',
  textFromHtml,
});

/** The mail of a campaign, rendered for one recipient. */
function sent(html: string, text: string | null, firstName: string | null, clicks = true) {
  const contact = { firstName };
  const parts = renderParts(parseParts({ subject: 'x', previewText: null, html, text }), {
    names: { contact },
    now: 0,
  });
  return personalise(parts, {
    destination: { emailId: 'em_01m7xj1rwzprnwr10308attx', recipient: 0 },
    workspaceId: 'ws_1',
    address: 'ada@receiver.example',
    host: null,
    opens: clicks,
    clicks,
    leaveHost: null,
    list: { campaignId: 'cmp_1', audienceId: 'aud_1' },
  });
}

const exits = (html: string): number =>
  seenIn(html).filter(({ href, text }) => text !== '' && href?.startsWith('https://mail.test/t/u/')).length;

const LINK = '<a href="{{ unsubscribeUrl }}">Leave</a>';

/** Html in which a way out is hidden, or none. */
const WITHOUT: Readonly<Record<string, string>> = {
  'no link': '<p>Hi</p>',
  'a link for those with a name': `<p>Hi</p>{% if contact.firstName %}${LINK}{% endif %}`,
  'a misspelt name': '<a href="{{ unsubscribeURL }}">Leave</a>',
  'another misspelt name': '<a href="{{ unsubscribe_url }}">Leave</a>',
  'the name of another service': '<a href="*|UNSUB|*">Leave</a>',
  'a placeholder that an editor encoded': '<a href="%7B%7B%20unsubscribeUrl%20%7D%7D">Leave</a>',
  'one with character references': '<a href="&#123;&#123;unsubscribeUrl&#125;&#125;">Leave</a>',
  'one with named references': '<a href="&lbrace;&lbrace;unsubscribeUrl&rbrace;&rbrace;">Leave</a>',
  'one that is cut in two': '<a href="{<b></b>{unsubscribeUrl}}">Leave</a>',
  'one with markup around the name': '<p>{ { unsubscribeUrl } }</p>',
  'a raw block': '<a href="{% raw %}{ { unsubscribeUrl } }{% endraw %}">Leave</a>',
  'a link that is hidden': `<div style="display: none">${LINK}</div>`,
  'a link that is invisible': `<div style="VISIBILITY:hidden">${LINK}</div>`,
  'a link without opacity': `<p style="opacity:0.0">${LINK}</p>`,
  'a link in letters of no size': `<p style="font-size:0px">${LINK}</p>`,
  'a link far away': `<p style="position:absolute;left:-9999px">${LINK}</p>`,
  'a link cut off': `<p style="max-height:0;overflow:hidden">${LINK}</p>`,
  'a link with the attribute hidden': `<p hidden>${LINK}</p>`,
  'a link that a style sheet hides': `<style>.x, .gone{display:none}</style><p class="a gone">${LINK}</p>`,
  'a link that a style sheet hides by its place': `<style>#foot a{display:none!important}</style><p id="foot"><a style="display:block" href="{{ unsubscribeUrl }}">Leave</a></p>`,
  'a style sheet with a comment': `<style>/* {} */ @media print{.a{color:red}} @import "x"; p.gone{visibility:hidden}</style><p class="gone">${LINK}</p>`,
  'a comment': `<p>Hi</p><!-- ${LINK} -->`,
  'a comment for Outlook': `<p>Hi</p><!--[if mso]>${LINK}<![endif]-->`,
  'a part that Outlook leaves out': `<p>Hi</p><!--[if !mso]><!-->${LINK}<!--<![endif]-->`,
  'a part that Outlook leaves out by a style': `<p style="mso-hide:all">${LINK}</p>`,
  'a template': `<template>${LINK}</template>`,
  'a text field': `<textarea>${LINK}</textarea>`,
  'a script': '<script>var a = "{{ unsubscribeUrl | raw }}"</script>',
  'an attribute of something else': '<p title="{{ unsubscribeUrl }}">Hi</p>',
  'a link without content': '<a href="{{ unsubscribeUrl }}"></a>',
  'a link with blanks alone': '<a href="{{ unsubscribeUrl }}">&nbsp;&zwnj; <span></span></a>',
  'a link around a dot': '<a href="{{ unsubscribeUrl }}"><img src="x.png" width="1" height="1"></a>',
  'a link whose words are hidden':
    '<a href="{{ unsubscribeUrl }}"><span style="display:none">Leave</span></a>',
  'a link within another address': '<a href="https://a.example/?to={{ unsubscribeUrl }}">Leave</a>',
  'a part that is closed': `<details><summary>More</summary>${LINK}</details>`,
};

/** Html that has an unsubscribe link already. */
const WITH: Readonly<Record<string, string>> = {
  'a link': `<p>Hi</p>${LINK}`,
  'a link in capitals': '<P>Hi</P><A HREF="{{unsubscribeUrl}}">LEAVE</A>',
  'a link that is always rendered': `{% if contact.firstName %}Hi{% else %}Hello{% endif %} ${LINK}`,
  'a link in a nested table': `<table><tr><td><table><tr><td style="font-size:0"><div style="font-size:12px">${LINK}</div></td></tr></table></td></tr></table>`,
  'a link around a picture':
    '<a href="{{ unsubscribeUrl }}"><img src="leave.png" width="90" alt="Leave"></a>',
  'the address written out': '<p>{{ unsubscribeUrl }}</p>',
  'a link that phones hide': `<style>@media (max-width:400px){.wide{display:none}}</style><p class="wide">${LINK}</p>`,
  'a link beside a hidden one': `<div style="display:none">${LINK}</div>${LINK}`,
  'a link in both': `<!--[if mso]>${LINK}<![endif]--><!--[if !mso]><!-->${LINK}<!--<![endif]-->`,
  'a map': '<map><area href="{{ unsubscribeUrl }}" alt="Leave"></map>',
  'a rule that another style overrules': `<style>p{display:none}</style><p style="display:block">${LINK}</p>`,
  'a link by a variable': `{% assign way = unsubscribeUrl %}<a href="{{ way }}">Leave</a>`,
};

describe('every recipient of a campaign sees a way out', () => {
  for (const [name, html] of Object.entries(WITHOUT))
    for (const clicks of [true, false])
      test(`${name}: one is added, clicks ${clicks ? 'counted' : 'left alone'}`, () => {
        const copy = sent(html, 'Hi', null, clicks);
        expect(seenIn(copy.html ?? '').filter(({ text }) => text === 'Unsubscribe')).toHaveLength(1);
        expect(exits(asOutlook(copy.html ?? ''))).toBeGreaterThan(0);
        expect(copy.text).toBe(`Hi\n\nUnsubscribe: ${copy.unsubscribe?.url}\n`);
      });
  for (const [name, html] of Object.entries(WITH))
    test(`${name}: nothing is added`, () => {
      const copy = sent(html, 'Leave: {{ unsubscribeUrl }}', null, false);
      expect(copy.html).not.toContain('>Unsubscribe<');
      expect(copy.html).toContain(copy.unsubscribe?.url ?? 'x');
      expect(copy.text).toBe(`Leave: ${copy.unsubscribe?.url}`);
    });

  test('is decided for each by what was rendered', () => {
    const html = `<p>Hi</p>{% if contact.firstName %}${LINK}{% endif %}`;
    expect(sent(html, null, 'Ada').html).not.toContain('Unsubscribe');
    expect(sent(html, null, null).html).toContain('Unsubscribe');
    expect(
      sent('<p>Hi</p>', '{% if contact.firstName %}{{ unsubscribeUrl }}{% endif %}', 'Ada').text,
    ).toStartWith('https://mail.test/t/u/');
  });

  test('also in a text part that is made of the html', () => {
    const copy = sent(`<p>Hi</p><div style="display:none">${LINK}</div>`, null, null);
    expect(copy.text).toBe(`Hi\n\nUnsubscribe: ${copy.unsubscribe?.url}\n`);
  });

  test('and nothing is added to mail that goes to no list', () => {
    const html = '<p>Hi</p>';
    const copy = personalise(
      { html, text: 'Hi' },
      {
        destination: { emailId: 'em_01m7xj1rwzprnwr10308attx', recipient: 0 },
        workspaceId: 'ws_1',
        address: 'ada@receiver.example',
        host: null,
        opens: false,
        clicks: false,
        leaveHost: null,
        list: null,
      },
    );
    expect(copy).toEqual({ html, text: 'Hi', unsubscribe: null });
  });
});

test('looking for a way out takes a bounded time, whatever the html is', () => {
  const hostile = [
    `<a href="{{unsubscribeUrl}}">${'<b style="display:none">x</b>'.repeat(30_000)}`,
    `<div style="${'/*'.repeat(200_000)}">${LINK}`,
    `<style>${'/*'.repeat(200_000)}</style>${LINK}`,
    `<style>${'a{}'.repeat(100_000)}b{display:none}</style>${LINK}`,
    `<style>${'.a '.repeat(50_000)}{display:none}</style><p class="${'a '.repeat(200_000)}">${LINK}`,
    `<script>${'<!--'.repeat(200_000)}</script>${LINK}`,
    '<a href>'.repeat(100_000),
    `<!--[if !mso]>${' '.repeat(500_000)}x-->${LINK}`,
    '</b '.repeat(200_000),
    `${'<noscript>'.repeat(990)}${'<link>'.repeat(100_000)}`,
  ];
  for (const html of hostile) {
    expect(costMs(() => readAll(html))).toBeLessThan(2_000);
  }
});

const readAll = (html: string) =>
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
  );
