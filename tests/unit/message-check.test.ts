import { describe, expect, test } from 'bun:test';
import { isDark } from '../../src/mail/check/colours.ts';
import { type LookedAt, lookAt } from '../../src/mail/check/look.ts';
import { readSource } from '../../src/mail/check/source-tags.ts';
import { placeAt } from '../../src/platform/text/places.ts';
import { costMs } from '../support/own-time.ts';

/** Findings with the lines of their places. */
const look = (html: string, more: Partial<LookedAt> = {}) => {
  const { problems, links, images, leftOut } = lookAt({
    html,
    text: null,
    source: null,
    as: 'single',
    exit: null,
    ownUrl: 'https://us.example/',
    ...more,
  });
  const source = more.source?.text ?? html;
  const lined = <One extends { readonly at: number | null }>(one: One) => ({
    ...one,
    line: one.at === null ? null : placeAt(source, one.at).line,
  });
  return { problems: problems.map(lined), links: links.map(lined), images: images.map(lined), leftOut };
};
const found = (html: string, code: string, more: Partial<LookedAt> = {}): string[] =>
  look(html, more).problems.flatMap((one) => (one.code === code ? [`${one.line}: ${one.message}`] : []));

describe('what mail programs leave out', () => {
  test('comes once for each thing, at its first place, with the programs', () => {
    const sheet =
      '<style>\n/* .z { display:flex } */\n.a { opacity: .5;\n  gap: 4px }\n@font-face { font-family: x }\n.b::after { content: "" }</style>';
    const told = found(`${sheet}<p style="float:left">\n<p style="FLOAT : right">`, 'dropped');
    expect(told.map((one) => one.split('. ')[0])).toEqual([
      '6: Outlook for Windows leaves out float (2 times, first here)',
      '5: Gmail leaves out @font-face',
      '6: Outlook for Windows and Gmail leave out ::before and ::after',
      '3: Outlook for Windows leaves out opacity',
      '4: Outlook for Windows leaves out gap',
    ]);
    expect(found('<p style="display:block">', 'dropped')).toEqual([]);
  });

  test('images of formats that some do not show, and images within the html', () => {
    expect(found('<img alt="" src="a.WEBP?x">', 'dropped')[0]).toContain('WEBP images');
    expect(found('<img alt="" src="data:image/png;base64,AA">', 'dropped')[0]).toContain('data:');
    expect(found('<img alt="" src="a.png">', 'dropped')).toEqual([]);
  });

  test('comes only for what the author writes', () => {
    const source = {
      text: 'a\n<mj-text css-class="x">\n<mj-style>.x { opacity: .4 }</mj-style>',
      format: 'mjml',
    } as const;
    const html = '<p style="float:left;opacity:.4">a</p>';
    expect(found(html, 'dropped', { source })).toHaveLength(1);
    expect(found(html, 'dropped', { source })[0]).toStartWith('3: Outlook for Windows leaves out opacity');
  });

  test.each([
    [
      '<img alt="a" src="https://a.example/a.webp">',
      '<mj-image alt="a"\n src="https://a.example/a.webp" />',
      'WEBP',
    ],
    [
      '<style>.x::before{content:"a"}</style>',
      '<mj-style>\n.x::before { content: "a" }</mj-style>',
      '::before',
    ],
    ['<p style="color:var(--a)">a</p>', '<mj-text>\n<i style="color: var(--a)">a</i></mj-text>', '(var)'],
    ['<p style="display:flex">a</p>', '<mj-style>\n.x { display: flex }</mj-style>', 'display:flex'],
    ['<video src="a"></video>', '<mj-raw>\n<video src="a"></video></mj-raw>', '<video>'],
  ])('comes where MJML has %s', (html, text, what) => {
    const [told = ''] = found(html, 'dropped', { source: { text, format: 'mjml' } });
    expect(told).toStartWith('2: ');
    expect(told).toContain(what);
  });

  test('comes for no word of the text', () => {
    const html =
      '<p style="float:left;top:0;display:flex">a</p><link rel="stylesheet" href="https://a.example/a.css">';
    const text = '<mj-text>Boats float to the top left: see the link, and display them.</mj-text>';
    expect(found(html, 'dropped', { source: { text, format: 'mjml' } })).toEqual([]);
  });
});

describe('braces that an editor has encoded', () => {
  const html =
    '<p>Hi</p>\n<p>&#123;&#123; name &#125;&#125;</p>\n\n<a href="https://a.example/?u=%7B%7Bid%7D%7D">a</a>';

  test.each(['single', 'list'] as const)('make a problem at each place, in a message for %s', (as) => {
    const source = { text: html, format: 'html' } as const;
    expect(found(html, 'encoded_placeholder', { as, source }).map((one) => one.slice(0, 50))).toEqual([
      '2: An editor has encoded the braces of &#123;&#123',
      '4: An editor has encoded the braces of %7B%7Bid%7D',
    ]);
  });

  test('have the line of the source that html is made of', () => {
    const source = { text: `<mjml>\n\n${html}`, format: 'mjml' } as const;
    expect(
      look(html, { source }).problems.filter(({ code }) => code === 'encoded_placeholder'),
    ).toMatchObject([{ line: 4, at: source.text.indexOf('&#123;') }, { line: 6 }]);
  });

  test('make at most twenty problems, and none in a finished message', () => {
    expect(found(html.repeat(11), 'encoded_placeholder')).toHaveLength(20);
    expect(found(html, 'encoded_placeholder', { as: 'finished' })).toEqual([]);
  });
});

describe('dark mode', () => {
  test('dark text needs a ground', () => {
    const html = '<p style="color:#111">a</p>';
    expect(found(html, 'dark_text')).toHaveLength(1);
    expect(found(`<div style="background-color:#fff">${html}</div>`, 'dark_text')).toEqual([]);
    expect(found(`<table bgcolor="white">${html}</table>${html}`, 'dark_text')).toHaveLength(1);
    expect(found('<p style="color:#999">a</p>', 'dark_text')).toEqual([]);
    expect(found('<font color="black">a</font>', 'dark_text')).toHaveLength(1);
    const [deep, out] = [times(300, '<div>'), times(300, '</div>')];
    expect(found(`${deep}<div bgcolor="white">${html}</div>${out}`, 'dark_text')).toEqual([]);
    expect(found(`<i bgcolor="white">${deep}</i>${html}`, 'dark_text')).toHaveLength(1);
  });

  test('a message says its schemes', () => {
    expect(found('<p>', 'no_dark_mode')).toHaveLength(1);
    expect(found('<meta name="color-scheme" content="light dark">', 'no_dark_mode')).toEqual([]);
    expect(found('<style>:root { color-scheme: light dark }</style>', 'no_dark_mode')).toEqual([]);
  });

  test.each([
    ['#000', true],
    ['#1a1a1aff', true],
    ['rgb(10, 20, 30)', true],
    ['#fff', false],
    ['#12345', false],
    ['tomato', false],
    ['rgb(200 200 200)', false],
  ])('%s is dark: %p', (colour, expected) => expect(isDark(colour)).toBe(expected));
});

test('addresses without a host lead nowhere from a message', () => {
  const html =
    '<a href="/tour">a</a>\n<img alt="" src=" images/a.png">\n<a href="www.acme.example">b</a>\n<a href="">c</a>\n' +
    '<img alt="" src=3D"https://acme.example/a.png">\n<a href="//acme.example/">d</a>\n<a href="/{{ x }}">e</a>\n' +
    '<img alt="" src="https:///uploads/a.png">\n<a href="http:?a">f</a><a href="https://{{ host }}/">g</a>';
  const places = (told: readonly string[]) => told.map((one) => one.split(' leads')[0]);
  expect(places(found(html, 'relative_address', { source: { text: html, format: 'html' } }))).toEqual([
    '1: /tour',
    '2: images/a.png',
    '3: www.acme.example',
    '4: An empty address',
    '5: 3D"https://acme.example/a.png"',
    '6: //acme.example/',
    '7: /…',
    '8: https:///uploads/a.png',
    '9: http:?a',
  ]);
  expect(look('<img alt="" src="https:///uploads/a.png">').images).toEqual([]);
  const good =
    '<a href="https://acme.example/">a</a><a href="#top">b</a><a href="mailto:a@b.example">c</a><a name="top">d</a>' +
    '<a href="{{ url }}">e</a><img alt="" src="cid:logo"><a href="{% if a %}https://a.example{% endif %}">f</a><a href="&#104;ttps://a.example">g</a>';
  expect(found(good, 'relative_address', { source: { text: good, format: 'html' } })).toEqual([]);
  expect(found(good, 'relative_address')).toEqual([]);
  const mixed = '<a href="/a/{{ x }}/b{% if c %}\n?d{% endif %}">a</a>';
  expect(found(mixed, 'relative_address', { source: { text: mixed, format: 'html' } })).toEqual([
    '1: /a/…/b…?d… leads nowhere from a message: begin it with https:// and the host.',
  ]);
});

test('addresses without a host in MJML and markdown come with the line of their author', () => {
  const html = '<a href="/tour">a</a><img alt="" src="images/a.png"><a href="made">b</a><a href="">c</a>';
  const places = (text: string) =>
    found(html, 'relative_address', { source: { text, format: 'mjml' } }).map(
      (one) => one.split(' leads')[0],
    );
  expect(places('made https://acme.example/tour\n[a](/tour)\n![](<images/a.png>)\n[b]({{ url }})')).toEqual([
    '2: /tour',
    '3: images/a.png',
  ]);
  expect(places('<mj-button href="https://acme.example/tour">\n<mj-image src=\'images/a.png\' />')).toEqual([
    '2: images/a.png',
  ]);
});

test('a long address without a host has its own place, and no message has its password', () => {
  const long = `images/${'a'.repeat(200)}`;
  const [one, other] = [`${long}1.png`, `${long}2.png`];
  const text = `<mj-image src="${one}" />\n<mj-image src="${other}" />`;
  const html = `<img alt="" src="${one}"><img alt="" src="${other}">`;
  const told = found(html, 'relative_address', { source: { text, format: 'mjml' } });
  expect(told.map((each) => each.split(':')[0])).toEqual(['1', '2']);
  const secret = 'x'.repeat(150);
  const [problem = ''] = found(`<a href="//user:${secret}@a.example/">a</a>`, 'relative_address');
  expect(problem).toStartWith('1: //a.example/ leads');
});

test('lines are those of the source, with its Liquid in it', () => {
  const text =
    '<p>{% if a %}\n{% endif %}</p>\n<img {{ rest }}><img src="{{ x }}">\n<a href="https://a.example/?b&amp;c">';
  const html = '<p></p><img alt="x"><img src="y"><a href="https://a.example/?b&amp;c">';
  const source = { text, format: 'html' } as const;
  expect(found(html, 'image_without_alt', { source }).map((one) => one.split(':')[0])).toEqual(['3']);
  expect(look(html, { source }).links).toMatchObject([{ url: 'https://a.example/?b&c', line: 4 }]);
});

test('addresses in styles, picture sets, backgrounds, VML and heads are followed, images as such', () => {
  const html = `<link rel="stylesheet" href="https://a.example/l.css"><link rel="preconnect" href="https://a.example/no">
<style>@import "https://a.example/i.css"; @import url(https://a.example/u.css);
/* url(https://a.example/no) */
@font-face { src: local("x"), url('https://a.example/f.woff2'), url(https://a.example/f.woff) } .a { background: url( "https://a.example/s.png" ) }</style>
<table background="https://a.example/t.png"><td style="background-image:url(&quot;https://a.example/q.png?a&amp;b&quot;);color:red">
<img alt="" src="https://a.example/1.png" srcset="https://a.example/2.png 2x,https://a.example/3,3.png 3x, https://a.example/4.png">
<!--[if mso]><v:fill src="https://a.example/v.png" /><v:roundrect href="https://a.example/b"><![endif]-->
<!-- <img src="https://a.example/no"> --><video src="https://a.example/m.mp4" poster="https://a.example/p.png"></video>`;
  const { links, images } = look(html, { source: { text: html, format: 'html' } });
  const told = (found: typeof links) => found.map(({ url, line }) => [url.slice(18), line]);
  expect(told(links)).toEqual([
    ['l.css', 1],
    ['m.mp4', 8],
    ['i.css', 2],
    ['u.css', 2],
    ['f.woff2', 2],
    ['f.woff', 2],
    ['b', 7],
  ]);
  expect(told(images)).toEqual([
    ['t.png', 5],
    ['q.png?a&b', 5],
    ['1.png', 6],
    ['2.png', 6],
    ['3,3.png', 6],
    ['4.png', 6],
    ['p.png', 8],
    ['s.png', 2],
    ['v.png', 7],
  ]);
});

test('an element without its end in MJML has its place there, and one in markdown none', () => {
  const mjml =
    '<mjml><mj-body>\n<mj-text>{{ a }} <b>bold</mj-text>\n<mj-text></b></mj-text><mj-text>\n<i></mj-text>';
  const html = '<div><b>bold</div><div></b></div><div><i></div>';
  const told = (text: string, format: 'emailmd' | 'mjml' = 'mjml') =>
    found(html, 'unclosed_tag', { source: { text, format } });
  expect(told(mjml)).toEqual(['4: This i is closed nowhere: write </i> where it ends.']);
  expect(told('`<i>` or `<mj-text>`', 'emailmd')).toEqual([]);
  // Its end is behind the characters that are read.
  expect(told(`<mj-text><i>${'x'.repeat(262_144)}</i></mj-text>`)).toEqual([]);
});

test('an element that both branches of a block open has its end', () => {
  const text = '{% if vip %}<b class="v">{% else %}<b>{% endif %}Hi</b>';
  const shown = (html: string) => found(html, 'unclosed_tag', { source: { text, format: 'html' } });
  expect(shown('<b>Hi</b>')).toEqual([]);
  expect(shown('<b>Hi')).toHaveLength(1);
});

test('at most fifty links and fifty images are asked for, each once, and none of this service', () => {
  const links = Array.from({ length: 60 }, (_, n) => `<a href="https://a.example/${n % 55}">a</a>`).join('');
  const looked = look(`<a href="https://us.example/c/x">b</a><a href="mailto:a@b.example">c</a>${links}`);
  expect(looked.links).toHaveLength(50);
  expect(looked.links[0]?.url).toBe('https://a.example/0');
  // The last five, and the one of this service.
  expect(looked.leftOut).toBe(6);
});

test('an address is asked for once, an own one in any writing not at all, and of a head its style sheets alone', () => {
  const { links, images, leftOut } = look(
    '<link rel="canonical" href="https://a.example/c"><link rel="icon" href="https://a.example/i.png"><link rel="Alternate StyleSheet" href="https://a.example/l.css">' +
      '<input src="https://a.example/no.png"><input type="IMAGE" src="https://a.example/b.png"><a href="https://a.example/p.png"><img alt="" src="https://a.example/p.png"></a>' +
      '<a href="https://US.example/t/c/x">a</a><a href="https://us.example:443/t/c/y">b</a><a href="https://us.example.a.example/">c</a>' +
      '<table background="HTTPS://us.EXAMPLE/images/a.png">',
  );
  expect(links.map(({ url }) => url)).toEqual(['https://us.example.a.example/', 'https://a.example/l.css']);
  expect(images.map(({ url }) => url)).toEqual([
    'https://a.example/b.png',
    'https://a.example/p.png',
    'HTTPS://us.EXAMPLE/images/a.png',
  ]);
  expect(leftOut).toBe(2);
});

test('no message says the user name and the password of an address', () => {
  const html =
    '<a href="//ada:secret@a.example/x">a</a><a href="https:ada:secret@a.example/y">b</a><a href="ada@a.example">c</a><a href="https:///ada:secret@a.example/z">d</a>';
  const told = found(html, 'relative_address', { source: { text: html, format: 'html' } });
  expect(told.map((one) => one.split(' leads')[0])).toEqual([
    '1: //a.example/x',
    '1: https:a.example/y',
    '1: ada@a.example',
    '1: https:///a.example/z',
  ]);
});

test('at most twenty thousand tags are read', () => {
  const { tags, isWhole } = readSource('<a>'.repeat(30_000));
  expect([tags.length, isWhole]).toEqual([20_000, false]);
});

test('at most twenty problems of one kind come', () => {
  expect(found('<img src="a">'.repeat(21), 'image_without_alt')).toHaveLength(20);
});

const times = (count: number, text: string): string => text.repeat(count);
/** Html of 1 MiB and more that wants the time or the memory of the thread. */
const HOSTILE: Readonly<Record<string, string>> = {
  'elements within elements': times(300_000, '<div>'),
  'other ends within elements': `${times(10_000, '<div>')}${times(10_000, '</b>')}`,
  'attributes without end': `<p ${times(300_000, 'a="b" ')}>`,
  'one style of a megabyte': `<p style="${times(120_000, 'color:#111;')}">`,
  'blocks within blocks': `<style>${times(500_000, 'a{')}</style>`,
  'comments without end': `<style>${times(500_000, '/*')}</style>`,
  'Liquid without end': times(500_000, '{{'),
  'tags of one character': times(500_000, '<a>'),
  'end tags': times(300_000, '</b>'),
  'tags behind line ends': `${times(200_000, '\n')}${times(20_000, '<a>')}`,
  'line ends': `${times(900_000, '\n')}<img>`,
  'addresses in styles': `<style>${times(80_000, 'url("')}${times(80_000, "url('")}</style><p style="${times(60_000, '@import ')}">`,
  'parts for Outlook': times(60_000, '<!--[if mso]><a>-->'),
  'candidates of a picture': `<img srcset="${times(250_000, ', ')}">`,
  addresses: times(30_000, '<a href="https://a.example/">b</a>'),
  'brackets of rgb': `<p style="color:rgb(${times(500_000, ' ')}">`,
};

test.each(Object.keys(HOSTILE))('hostile html is read in bounded time: %s', async (name) => {
  const html = HOSTILE[name] ?? '';
  const spent = await costMs(async () => {
    look(html, { source: { text: html, format: 'html' }, as: 'list' });
    look(html, { source: { text: html, format: 'mjml' } });
  });
  expect(spent).toBeLessThan(4_000);
});
