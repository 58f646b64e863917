import { describe, expect, test } from 'bun:test';
import { simpleParser } from 'mailparser';
import { compose } from '../../src/mail/compose/compose.ts';
import { CALENDAR_METHODS, LONGEST_CALENDAR } from '../../src/mail/message/calendar.ts';
import { LONGEST_MESSAGE_ID, readMessageId } from '../../src/mail/message/message-id.ts';
import { accepted, misshapen, places, problems } from './a-send-request.ts';
import { aMessage } from './transport/a-message.ts';

const calendarOf = (method: string, lines: readonly string[] = ['BEGIN:VEVENT', 'UID:1', 'END:VEVENT']) =>
  ['BEGIN:VCALENDAR', 'VERSION:2.0', `METHOD:${method}`, ...lines, 'END:VCALENDAR', ''].join('\r\n');
const calendar = { method: 'REQUEST', content: calendarOf('REQUEST') };
const WITHOUT_BODY = { text: undefined };

describe('a Message-ID', () => {
  test('is taken with brackets and without, its host in lower case', () => {
    for (const [given, id] of [
      ['<order-1842@acme.example>', '<order-1842@acme.example>'],
      ['order-1842@ACME.example', '<order-1842@acme.example>'],
      ["a.b!#$%&'*+/=?^_`{|}~-@x-1.example", "<a.b!#$%&'*+/=?^_`{|}~-@x-1.example>"],
      ['CaSe@acme.example', '<CaSe@acme.example>'],
    ] as const)
      expect(readMessageId(given)).toMatchObject({ id });
  });

  test('is refused when it is none, or one that the service gives', () => {
    for (const given of [
      '',
      '<>',
      '@',
      'a',
      'a@',
      '@acme.example',
      '<a@acme.example',
      'a@acme.example>',
      'a@localhost',
      'a b@acme.example',
      '<a@acme.example> ',
      'a@b@acme.example',
      '.a@acme.example',
      'a..b@acme.example',
      '"a"@acme.example',
      'a@[127.0.0.1]',
      'a@acme..example',
      'a@-acme.example',
      'é@acme.example',
      'a@acmé.example',
      'a\r\nBcc:b@acme.example',
      '<<a@acme.example>>',
      'a(b)@acme.example',
      'a@acme.example.',
      'em_01jd3x7q8zabcdefghjkmnpq@acme.example',
      '<EM_x@acme.example>',
    ])
      expect([given, 'problem' in readMessageId(given)]).toEqual([given, true]);
  });

  test(`has at most ${LONGEST_MESSAGE_ID} characters with its brackets`, () => {
    const of = (length: number) => `<${'x'.repeat(length - '<@acme.example>'.length)}@acme.example>`;
    expect('id' in readMessageId(of(LONGEST_MESSAGE_ID))).toBe(true);
    expect('id' in readMessageId(of(LONGEST_MESSAGE_ID).slice(1, -1))).toBe(true);
    expect('problem' in readMessageId(`x${of(LONGEST_MESSAGE_ID).slice(1, -1)}`)).toBe(true);
    expect(misshapen({ messageId: of(LONGEST_MESSAGE_ID + 1) })).toEqual(['/body/messageId']);
  });

  test('of a request is refused in its place', () => {
    expect(accepted({ messageId: 'a@acme.example' }).messageId?.id).toBe('<a@acme.example>');
    expect(places({ messageId: 'nonsense' })).toEqual(['/body/messageId']);
  });
});

describe('a calendar', () => {
  test('of each method is taken, however its lines end', () => {
    for (const method of CALENDAR_METHODS)
      for (const end of ['\r\n', '\n', '\r']) {
        const content = calendarOf(method).replaceAll('\r\n', end);
        expect(accepted({ calendar: { method, content } }).calendar).toEqual({ method, content });
      }
  });

  test('is refused when a reader could not answer it', () => {
    const wrong: Readonly<Record<string, string>> = {
      'another method': calendarOf('CANCEL'),
      'no method': calendarOf('REQUEST').replace('METHOD:REQUEST\r\n', ''),
      'two methods': calendarOf('REQUEST').replace('VERSION:2.0', 'METHOD:REQUEST'),
      'a method that is folded away': calendarOf('REQUEST').replace('METHOD:', 'X-A:b\r\n METHOD:'),
      'no calendar': 'Lunch at noon?',
      'no end': calendarOf('REQUEST').replace('END:VCALENDAR', ''),
      'two calendars': calendarOf('REQUEST').repeat(2),
      'words before it': `Hello\r\n${calendarOf('REQUEST')}`,
      'nothing in it': calendarOf('REQUEST', []),
      'a control character': calendarOf('REQUEST').replace('UID:1', 'UID:\u0000'),
      'nothing at all': '',
    };
    for (const [name, content] of Object.entries(wrong))
      expect([name, places({ calendar: { method: 'REQUEST', content } })]).toEqual([
        name,
        ['/body/calendar/content'],
      ]);
  });

  test('has one of the methods of iTIP, and nothing else', () => {
    expect(misshapen({ calendar: { ...calendar, method: 'request' } })).toEqual(['/body/calendar/method']);
    expect(misshapen({ calendar: { ...calendar, filename: 'a.ics' } })).toEqual(['/body/calendar/filename']);
    expect(misshapen({ calendar: { method: 'REQUEST' } })).toEqual(['/body/calendar/content']);
  });

  test(`has at most ${LONGEST_CALENDAR} characters`, () => {
    const of = (length: number) => {
      const bare = calendarOf('REQUEST', ['BEGIN:VEVENT', 'DESCRIPTION:', 'END:VEVENT']);
      return bare.replace('DESCRIPTION:', `DESCRIPTION:${'x'.repeat(length - bare.length)}`);
    };
    expect(
      accepted({ calendar: { method: 'REQUEST', content: of(LONGEST_CALENDAR) } }).calendar,
    ).not.toBeNull();
    expect(misshapen({ calendar: { method: 'REQUEST', content: of(LONGEST_CALENDAR + 1) } })).toEqual([
      '/body/calendar/content',
    ]);
  });
});

describe('a body may be missing', () => {
  const attachments = [{ filename: 'scan.pdf', content: 'AAECAw==' }];
  test('where there is a file or a calendar', () => {
    for (const more of [{ attachments }, { calendar }, { attachments, calendar }])
      expect(accepted({ ...WITHOUT_BODY, ...more })).toMatchObject({ text: null, html: null });
    expect(accepted({ text: ' \n', attachments })).toMatchObject({ text: null });
  });

  test('and nowhere else', () => {
    expect(problems({ ...WITHOUT_BODY })).toEqual({
      '/body':
        'Must have a body: one of text, html, markdown or templateId; or else attachments or a calendar.',
    });
    expect(places({ ...WITHOUT_BODY, attachments: [] })).toEqual(['/body']);
  });
});

describe('the message', () => {
  const invitation = {
    method: 'REQUEST',
    content: calendarOf('REQUEST', ['BEGIN:VEVENT', 'SUMMARY:Kaffee für 2 ☕', 'END:VEVENT']).replaceAll(
      '\r\n',
      '\n',
    ),
  };
  const file = {
    filename: 'scan.pdf',
    content: Buffer.from('%PDF'),
    contentType: 'application/pdf',
    contentId: null,
  };
  /** Its parts with their types and parameters, in their order. */
  const parts = (raw: Buffer): readonly string[] =>
    [...raw.toString().matchAll(/^Content-Type: ([^\r]*(?:\r\n[ \t][^\r]*)*)/gim)].map(([, type = '']) =>
      type.replace(/\s+/g, ' ').replace(/ ?boundary="[^"]*"/, ''),
    );
  const CALENDAR = 'text/calendar; charset=utf-8; method=REQUEST';
  const TEXT = 'text/plain; charset=utf-8';
  const HTML = 'text/html; charset=utf-8';

  const SHAPES: readonly (readonly [object, readonly string[]])[] = [
    [{ calendar: invitation }, ['multipart/alternative;', TEXT, CALENDAR]],
    [{ calendar: invitation, html: '<p>x</p>' }, ['multipart/alternative;', TEXT, HTML, CALENDAR]],
    [{ calendar: invitation, text: null }, [CALENDAR]],
    [
      { calendar: invitation, html: '<p>x</p>', attachments: [file] },
      ['multipart/mixed;', 'multipart/alternative;', TEXT, HTML, CALENDAR, 'application/pdf; name=scan.pdf'],
    ],
    [
      { calendar: invitation, text: null, attachments: [file] },
      ['multipart/mixed;', CALENDAR, 'application/pdf; name=scan.pdf'],
    ],
    [{ text: null, attachments: [file] }, ['application/pdf; name=scan.pdf']],
  ];
  for (const [changes, types] of SHAPES)
    test(`has ${types.join(' ')}`, async () => {
      const raw = await compose(aMessage(changes));
      expect(parts(raw)).toEqual([...types]);
      expect(await compose(aMessage(changes))).toEqual(raw);
      expect(raw.toString('latin1')).not.toMatch(/\P{ASCII}/u);
    });

  test('carries the calendar as it was, with the line ends of mail, for another parser', async () => {
    const raw = await compose(aMessage({ calendar: invitation, html: '<p>x</p>' }));
    const { attachments } = await simpleParser(raw);
    expect(attachments.map(({ contentType, content }) => [contentType, content.toString()])).toEqual([
      ['text/calendar', invitation.content.replaceAll('\n', '\r\n')],
    ]);
  });

  test('is one that Python reads as an invitation', async () => {
    const python = Bun.which('python3');
    if (python === null) return console.log('Not shown here, since python3 is not installed.');
    const raw = await compose(aMessage({ calendar: invitation, html: '<p>x</p>' }));
    const child = Bun.spawn(
      [
        python,
        '-c',
        `import sys, email, email.policy, json
message = email.message_from_bytes(sys.stdin.buffer.read(), policy=email.policy.SMTP)
parts = list(message.iter_parts())
part = parts[-1]
print(json.dumps([message.get_content_type(), [p.get_content_type() for p in parts],
  part.get_param('method'), part.get_content_charset(), part.get_content_disposition(), part.get_content(),
  [str(d) for p in message.walk() for d in p.defects]]))`,
      ],
      { stdin: raw, stdout: 'pipe' },
    );
    expect(await new Response(child.stdout).json()).toEqual([
      'multipart/alternative',
      ['text/plain', 'text/html', 'text/calendar'],
      'REQUEST',
      'utf-8',
      null,
      invitation.content.replaceAll('\n', '\r\n'),
      [],
    ]);
  });
});
