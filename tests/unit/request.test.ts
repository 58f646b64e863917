import { describe, expect, test } from 'bun:test';
import { Failure } from '../../src/http/failure.ts';
import { compileChecker } from '../../src/http/schema.ts';
import { SendBody } from '../../src/modules/emails/model.ts';
import { readSendRequest, type SendRequest } from '../../src/modules/emails/request.ts';

const NOW = Date.parse('2026-11-20T12:00:00Z');
const SIMULATOR = 'simulator.svc.test';

const checkShape = compileChecker(SendBody);

const plain = { from: 'Acme <hello@acme.example>', to: 'ada@example.com', subject: 'Hello', text: 'Hello.' };

const read = (body: Record<string, unknown>, at = '/body') =>
  readSendRequest(body as unknown as SendBody, { now: NOW, simulatorDomain: SIMULATOR, at });

/** What the service does: the shape first, then the rest. */
const accepted = (change: Record<string, unknown> = {}): SendRequest => {
  const body = { ...plain, ...change };
  expect(checkShape(body, '/body')).toBeNull();
  const request = read(body);
  if (request instanceof Failure) throw new Error(JSON.stringify(request));
  return request;
};

const refusal = (change: Record<string, unknown>, at?: string): Failure => {
  const body = { ...plain, ...change };
  const failure = read(JSON.parse(JSON.stringify(body)), at);
  if (!(failure instanceof Failure)) throw new Error('it was accepted');
  expect(failure.code).toBe('VALIDATION_ERROR');
  return failure;
};

const problems = (change: Record<string, unknown>): Record<string, string> =>
  Object.fromEntries(refusal(change).extra.details?.map(({ path, message }) => [path, message]) ?? []);

/** Refused at exactly these places. */
const places = (change: Record<string, unknown>) => Object.keys(problems(change));

const misshapen = (change: Record<string, unknown>) =>
  checkShape({ ...plain, ...change }, '/body')?.map(({ path }) => path) ?? [];

const base64 = (octets: number) => Buffer.alloc(octets, 1).toString('base64');

describe('a send request', () => {
  test('is normalised', () => {
    expect(accepted()).toMatchObject({
      from: { name: 'Acme', key: 'hello@acme.example', domain: 'acme.example' },
      to: [{ key: 'ada@example.com' }],
      cc: [],
      bcc: [],
      replyTo: [],
      subject: 'Hello',
      text: 'Hello.',
      html: null,
      markdown: null,
      template: null,
      headers: [],
      attachments: [],
      tags: [],
      scheduledAt: null,
      trackOpens: null,
      trackClicks: null,
    });
  });

  test('may use every member there is', () => {
    const request = accepted({
      to: ['a@example.com', 'B <b@example.com>'],
      cc: 'c@example.com',
      bcc: ['d@example.com'],
      replyTo: ['help@acme.example'],
      html: '<p>Hello</p>',
      headers: {
        'X-Entity-Ref-ID': '1842',
        'List-Unsubscribe': '<mailto:u@acme.example>',
        References: '<a@b>\t<c@d>',
      },
      attachments: [{ filename: 'résumé.pdf', content: 'AAECAw==', contentId: 'cv@acme' }],
      tags: [{ name: 'order', value: '1842' }],
      scheduledAt: '2026-11-20T13:00:00+00:30',
      trackOpens: false,
      trackClicks: true,
    });
    expect(request.to.map(({ key }) => key)).toEqual(['a@example.com', 'b@example.com']);
    expect(request.headers[2]).toEqual({ name: 'References', value: '<a@b>\t<c@d>' });
    expect(request.attachments).toEqual([
      {
        filename: 'résumé.pdf',
        contentType: 'application/pdf',
        contentId: 'cv@acme',
        content: 'AAECAw==',
        size: 4,
      },
    ]);
    expect(request.scheduledAt).toBe(Date.parse('2026-11-20T12:30:00Z'));
    expect([request.trackOpens, request.trackClicks]).toEqual([false, true]);
  });

  test('is refused with everything that is wrong with it, and none of what was sent', () => {
    const failure = refusal({
      from: 'secret-sender',
      to: ['ada@example.com', 'ADA@example.com', 'secret@localhost'],
      subject: 'secret\nsubject',
      text: undefined,
      html: '<p>secret</p>',
      markdown: '# secret',
      headers: { Bcc: 'secret@x.co', 'X-Secret': 'a\r\nb', 'bad:secret': 'x' },
      attachments: [
        { filename: 'secret/x', content: 'secret', contentType: 'secret', contentId: '<secret>' },
      ],
      scheduledAt: 'secret',
    });
    expect(failure.extra.details?.map(({ path }) => path)).toEqual([
      '/body/from',
      '/body/to/1',
      '/body/to/2',
      '/body/markdown',
      '/body/subject',
      '/body/headers/Bcc',
      '/body/headers/X-Secret',
      '/body/headers',
      '/body/attachments/0/filename',
      '/body/attachments/0/content',
      '/body/attachments/0/contentType',
      '/body/attachments/0/contentId',
      '/body/scheduledAt',
    ]);
    expect(
      JSON.stringify([failure.message, failure.extra.details?.map(({ message }) => message)]),
    ).not.toContain('secret');
  });

  test('tells of a hundred problems at most', () => {
    const to = Array.from({ length: 150 }, () => 'nobody');
    expect(refusal({ to }).extra.details).toHaveLength(100);
  });

  test('inside a batch is refused under its own pointer', () => {
    expect(refusal({ from: 'x' }, '/body/emails/7').extra.details?.[0]?.path).toBe('/body/emails/7/from');
  });
});

describe('recipients', () => {
  const people = (count: number, domain: string) =>
    Array.from({ length: count }, (_, i) => `u${i}@${domain}`);

  test('are fifty at most over to, cc and bcc', () => {
    expect(accepted({ to: people(48, 'a.example'), cc: 'c@a.example', bcc: 'd@a.example' }).to).toHaveLength(
      48,
    );
    expect(places({ to: people(40, 'a.example'), cc: people(11, 'b.example') })).toEqual(['/body/to']);
    expect(misshapen({ to: people(51, 'a.example') })).toEqual(['/body/to']);
    expect(misshapen({ to: [] })).toEqual(['/body/to']);
  });

  test.each([
    [{ to: ['a@b.co', 'A@B.co'] }, '/body/to/1'],
    [{ to: 'a@b.co', cc: 'Ada <a@b.co>' }, '/body/cc'],
    [{ to: 'a@b.co', bcc: ['c@b.co', 'a@b.co'] }, '/body/bcc/1'],
    [{ to: ['a@münchen.example', 'a@xn--mnchen-3ya.example'] }, '/body/to/1'],
  ])('are named once: %j', (change, path) => {
    expect(places(change)).toEqual([path]);
  });

  test('may write to themselves and get the answers', () => {
    expect(
      accepted({ from: 'ada@example.com', replyTo: ['ada@example.com', 'ada@example.com'] }).to,
    ).toHaveLength(1);
  });

  test('on the domain of the simulator are those it knows', () => {
    expect(accepted({ to: `Bounced+1@${SIMULATOR}` }).to).toHaveLength(1);
    expect(places({ to: ['a@b.co', `nobody@${SIMULATOR}`], bcc: `spam@${SIMULATOR}` })).toEqual([
      '/body/to/1',
      '/body/bcc',
    ]);
    expect(accepted({ from: `anyone@${SIMULATOR}` }).from.domain).toBe(SIMULATOR);
  });

  test.each(['c@d.co\r\nBcc: evil@x.co', 'Friends: a@b.co, c@d.co;', 'a@b.co, c@d.co', ''])(
    'are no %j',
    (to) => {
      expect(places({ to })).toEqual(['/body/to']);
      expect(places({ replyTo: [to] })).toEqual(['/body/replyTo/0']);
      expect(places({ from: to })).toEqual(['/body/from']);
    },
  );
});

describe('the body', () => {
  test.each([
    [{ text: 'x' }],
    [{ html: '<p>x</p>', text: undefined }],
    [{ html: '<p>x</p>', text: 'x' }],
    [{ markdown: '# x', text: undefined }],
    [{ markdown: '# x', text: 'x' }],
    [{ templateId: 'tpl_1', text: undefined, subject: undefined, variables: { a: 1 } }],
  ])('may be %j', (change) => {
    expect(accepted(change).size).toBeGreaterThan(0);
  });

  test.each([
    [{ text: undefined }, ['/body']],
    [{ text: ' \n' }, ['/body']],
    [{ text: undefined, html: '' }, ['/body']],
    [{ html: '<p>x</p>', markdown: '# x' }, ['/body/markdown']],
    [{ text: undefined, templateId: 'tpl_1', html: '<p>x</p>' }, ['/body/templateId']],
    [{ variables: { a: 1 } }, ['/body/variables']],
  ])('cannot be %j', (change, expected) => {
    expect(places(change)).toEqual(expected);
  });

  test.each(['', ' ', '\n\t\u00a0'])(
    'is no markdown when that is %j, and the message says so',
    (markdown) => {
      const failure = refusal({ markdown });
      expect(failure.message).toContain('markdown must not be empty');
      expect(failure.extra.details).toEqual([
        { path: '/body/markdown', message: 'The markdown must not be empty.' },
      ]);
    },
  );

  test('has no blank parts: a blank text is made anew from the html', () => {
    expect(accepted({ text: ' ', html: '<p>x</p>' })).toMatchObject({ text: null, html: '<p>x</p>' });
    expect(accepted({ html: ' ' })).toMatchObject({ text: 'Hello.', html: null });
  });

  test('has no markdown beyond what is rendered', () => {
    expect(misshapen({ markdown: 'x'.repeat(262_145) })).toEqual(['/body/markdown']);
  });
});

describe('the subject', () => {
  test.each(['Ünïcödé 📦', 'a\tb', 'x'.repeat(998)])('may be %j', (subject) => {
    expect(accepted({ subject }).subject).toBe(subject);
  });

  test.each([
    'a\nb',
    'a\rb',
    'a\0b',
    'a\r\nBcc: evil@x.co',
    'a\u2028b',
    'a\x1bb',
    'a\x85b',
    '',
    '  ',
    undefined,
  ])('cannot be %j', (subject) => {
    expect(places({ subject })).toEqual(['/body/subject']);
  });

  test('has 998 characters at most', () => {
    expect(misshapen({ subject: 'x'.repeat(999) })).toEqual(['/body/subject']);
  });

  test('of a template may be overridden, not broken', () => {
    expect(accepted({ templateId: 'tpl_1', text: undefined as never, subject: 'Mine' }).subject).toBe('Mine');
    expect(places({ templateId: 'tpl_1', text: undefined, subject: 'a\nb' })).toEqual(['/body/subject']);
  });
});

describe('headers', () => {
  test.each([
    'From',
    'TO',
    'cc',
    'Bcc',
    'Subject',
    'Reply-To',
    'date',
    'Message-ID',
    'MIME-Version',
    'Content-Type',
    'content-transfer-encoding',
    'DKIM-Signature',
    'Received',
    'Return-Path',
    'Sender',
    'X-Svc-Anything',
    'Resent-Bcc',
    'ARC-Seal',
    'X-SES-CONFIGURATION-SET',
    'Authentication-Results',
  ])('%s is not the client’s to set', (name) => {
    expect(places({ headers: { [name]: 'x' } })).toEqual([`/body/headers/${name}`]);
  });

  test.each(['', ' ', 'a b', 'a:b', 'a:', 'X-Ä', 'a\tb', 'a\r\nBcc', 'a\n', 'x'.repeat(77)])(
    'none is called %j',
    (name) => {
      expect(places({ headers: { [name]: 'x' } })).toEqual(['/body/headers']);
    },
  );

  test.each([
    'a\r\nBcc: evil@x.co',
    'a\n b',
    'a\rb',
    'a\0b',
    '',
    ' ',
    'x'.repeat(900),
    'x '.repeat(2_049),
    'a\x08b',
  ])('none is %j', (value) => {
    expect(places({ headers: { 'X-A': value } })).toEqual(['/body/headers/X-A']);
  });

  test('are given once, in any case, and a pointer escapes what it must', () => {
    expect(places({ headers: { 'X-A': '1', 'x-a': '2' } })).toEqual(['/body/headers/x-a']);
    expect(places({ headers: { 'X~/': '' } })).toEqual(['/body/headers/X~0~1']);
  });

  test('may have any other name, and a value that can be folded', () => {
    const headers = { 'x-1': 'ü', "!#$%&'*+.^_`|~": 'x', 'X-Long': `${'x'.repeat(899)} y` };
    expect(accepted({ headers }).headers).toHaveLength(3);
    expect(accepted({ headers: JSON.parse('{"__proto__": "x"}') }).headers).toEqual([
      { name: '__proto__', value: 'x' },
    ]);
  });

  test('are 25 at most, and their values are text', () => {
    expect(
      misshapen({ headers: Object.fromEntries(Array.from({ length: 26 }, (_, i) => [`X-${i}`, 'x'])) }),
    ).toEqual(['/body/headers']);
    expect(misshapen({ headers: { 'X-A': 1 } })).toEqual(['/body/headers/X-A']);
    expect(misshapen({ headers: { 'X\nA': 1 } })).not.toEqual([]);
  });
});

describe('attachments', () => {
  const one = (change: Record<string, unknown>) => ({
    attachments: [{ filename: 'a.txt', content: 'AAAA', ...change }],
  });

  test.each(['AA==', 'AAA=', 'AAAA', '+/+/', base64(10_000)])('hold base64: %#', (content) => {
    expect(accepted(one({ content })).attachments[0]?.size).toBe(Buffer.from(content, 'base64').length);
  });

  test.each([
    '',
    'A',
    'AA',
    'AAA',
    'AB==',
    'AAB=',
    'AAAA=',
    '====',
    'AA=A',
    'AA AA',
    'AAAA\n',
    'AA-_',
    'ÄAAA',
    'data:;base64,AAAA',
  ])('hold no %j', (content) => {
    expect(places(one({ content }))).toEqual(['/body/attachments/0/content']);
  });

  test.each(['report.pdf', 'Rechnung März.pdf', '.env', 'a..b', '👩‍👧.png', 'x'.repeat(255), 'a"b\'c;d.txt'])(
    'may be called %j',
    (filename) => {
      expect(accepted(one({ filename })).attachments[0]?.filename).toBe(filename);
    },
  );

  test.each([
    '',
    ' ',
    '.',
    '..',
    '../a',
    'a/b',
    'a\\b',
    'a\r\nb',
    'a\0',
    ' a',
    'a ',
    'annex\u202egpj.exe',
    'a\u200b.txt',
    'a\ud800',
    'x'.repeat(256),
    'é'.repeat(128),
  ])('are not called %j', (filename) => {
    const failure = read({ ...plain, ...one({ filename }) }) as Failure;
    expect(failure.extra.details?.map(({ path }) => path)).toEqual(['/body/attachments/0/filename']);
  });

  test.each([
    ['a.pdf', 'application/pdf'],
    ['a.TXT', 'text/plain'],
    ['a.b.csv', 'text/csv'],
    ['a.ics', 'text/calendar'],
    ['a', 'application/octet-stream'],
    ['a.unheard-of', 'application/octet-stream'],
    ['.env', 'application/octet-stream'],
  ])('%s is by itself %s', (filename, contentType) => {
    expect(accepted(one({ filename })).attachments[0]?.contentType).toBe(contentType);
  });

  test.each([
    'text/plain',
    'text/plain; charset=utf-8',
    'text/calendar;method="REQUEST"',
    'application/vnd.a-b+json',
  ])('may be %s', (contentType) => {
    expect(accepted(one({ contentType })).attachments[0]?.contentType).toBe(contentType);
  });

  test.each([
    '',
    'text',
    'text/',
    '/plain',
    'text/plain\r\nX: y',
    'text/plain;',
    'text/pl ain',
    'text/plain; a="b',
    'text/plain; a=b\n',
    'a/b/c',
  ])('are not %j', (contentType) => {
    expect(places(one({ contentType }))).toEqual(['/body/attachments/0/contentType']);
  });

  test('have content ids of their own', () => {
    const ids = (...given: string[]) => ({
      attachments: given.map((contentId) => ({ filename: 'a.png', content: 'AAAA', contentId })),
    });
    expect(accepted(ids('logo', 'logo@acme.example', 'a.b')).attachments).toHaveLength(3);
    expect(places(ids('logo', 'logo'))).toEqual(['/body/attachments/1/contentId']);
    for (const id of ['', '<logo>', 'a b', 'a@b@c', 'a\nb', 'x'.repeat(129), '.a', 'a@']) {
      expect(places(ids(id))).toEqual(['/body/attachments/0/contentId']);
    }
  });

  test('are twenty at most', () => {
    expect(
      misshapen({ attachments: Array.from({ length: 21 }, () => ({ filename: 'a', content: 'AAAA' })) }),
    ).toEqual(['/body/attachments']);
  });

  test('fit into a message of 25 MiB', () => {
    const file = (megabytes: number) => one({ content: base64(megabytes * 1024 * 1024) });
    expect(accepted(file(18)).size).toBeLessThan(26_214_400);
    expect(places(file(20))).toEqual(['/body']);
    expect(places({ html: 'é'.repeat(11_000_000) })).toEqual(['/body']);
  });
});

describe('tags', () => {
  const tagged = (name: string, value: string) => ({ tags: [{ name, value }] });

  test.each(['order', 'A-z_9', 'x'.repeat(256)])('may be %j', (text) => {
    expect(accepted(tagged(text, text)).tags).toEqual([{ name: text, value: text }]);
  });

  test.each(['', 'a b', 'ä', 'a:b', 'a\n', 'a\r\nb', 'a\0', 'x'.repeat(257)])('cannot be %j', (text) => {
    expect(misshapen(tagged(text, 'x'))).toEqual(['/body/tags/0/name']);
    expect(misshapen(tagged('x', text))).toEqual(['/body/tags/0/value']);
  });

  test('are ten at most', () => {
    expect(misshapen({ tags: Array.from({ length: 11 }, () => ({ name: 'a', value: 'b' })) })).toEqual([
      '/body/tags',
    ]);
  });
});

describe('the time to send', () => {
  const at = (scheduledAt: string) => accepted({ scheduledAt }).scheduledAt;
  const utc = (text: string) => Date.parse(text);

  test.each([
    ['2026-11-20T12:00:01Z', '2026-11-20T12:00:01Z'],
    ['2026-11-20T12:30Z', '2026-11-20T12:30:00Z'],
    ['2026-11-20T14:30:00+02:00', '2026-11-20T12:30:00Z'],
    ['2026-11-20T07:00:00-05:30', '2026-11-20T12:30:00Z'],
    ['2026-11-21T00:00:00.123456789+00:00', '2026-11-21T00:00:00.123Z'],
    ['2026-11-21T00:00:00.5Z', '2026-11-21T00:00:00.500Z'],
    ['2026-12-20T12:00:00Z', '2026-12-20T12:00:00Z'],
  ])('%s is %s', (given, moment) => {
    expect(at(given)).toBe(utc(moment));
  });

  test.each(['2026-11-20T12:00:00Z', '2026-11-20T11:59:00Z', '2026-11-20T11:59:59.999Z'])(
    '%s counts as now',
    (given) => {
      expect(at(given)).toBeNull();
    },
  );

  test.each([
    ['2026-11-20T11:58:59.999Z', 'past'],
    ['1999-12-31T23:59:59Z', 'past'],
    ['0000-01-01T00:00:00Z', 'past'],
    ['2026-12-20T12:00:00.001Z', '30 days'],
    ['9999-12-31T23:59:59Z', '30 days'],
    ['2026-02-30T00:00:00Z', 'ISO 8601'],
    ['2027-02-29T00:00:00Z', 'ISO 8601'],
    ['2026-11-31T00:00:00Z', 'ISO 8601'],
    ['2026-13-01T00:00:00Z', 'ISO 8601'],
    ['2026-00-10T00:00:00Z', 'ISO 8601'],
    ['2026-11-00T00:00:00Z', 'ISO 8601'],
    ['2026-11-21T24:00:00Z', 'ISO 8601'],
    ['2026-11-21T23:60:00Z', 'ISO 8601'],
    ['2026-12-31T23:59:60Z', 'ISO 8601'],
    ['2026-11-21T00:00:00', 'ISO 8601'],
    ['2026-11-21', 'ISO 8601'],
    ['2026-11-21 00:00:00Z', 'ISO 8601'],
    ['2026-11-21T00:00:00z', 'ISO 8601'],
    ['2026-11-21T00:00:00+24:00', 'ISO 8601'],
    ['2026-11-21T00:00:00+0200', 'ISO 8601'],
    ['2026-11-21T00:00:00.Z', 'ISO 8601'],
    ['2026-11-21T00:00:00Z\n', 'ISO 8601'],
    [' 2026-11-21T00:00:00Z', 'ISO 8601'],
    ['+002026-11-21T00:00:00Z', 'ISO 8601'],
    ['1795219200', 'ISO 8601'],
    ['tomorrow', 'ISO 8601'],
    ['', 'ISO 8601'],
  ])('%j is refused', (scheduledAt, reason) => {
    expect(problems({ scheduledAt })['/body/scheduledAt']).toContain(reason);
  });
});

describe('the shape', () => {
  test.each([
    [{ scheduleAt: '2026-11-21T00:00:00Z' }, '/body/scheduleAt'],
    [{ to: 5 }, '/body/to'],
    [{ to: ['a@b.co', null] }, '/body/to/1'],
    [{ from: ['a@b.co'] }, '/body/from'],
    [{ text: null }, '/body/text'],
    [{ trackOpens: 'yes' }, '/body/trackOpens'],
    [{ tags: [{ name: 'a', value: 'b', more: 'c' }] }, '/body/tags/0/more'],
    [{ attachments: [{ filename: 'a', content: 'AAAA', path: '/etc/passwd' }] }, '/body/attachments/0/path'],
  ])('%j is refused', (change, path) => {
    expect(misshapen(change)).toEqual([path]);
  });

  test('wants a sender and recipients', () => {
    expect(checkShape({}, '/body')?.map(({ path }) => path)).toEqual(['/body/from', '/body/to']);
  });
});
