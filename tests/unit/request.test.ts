import { describe, expect, test } from 'bun:test';
import { accepted, checkShape, misshapen, places, refusal, SIMULATOR } from './a-send-request.ts';

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

describe('recipients of a send request', () => {
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

describe('the body of a send request', () => {
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

  test('has no blank parts: a blank text is made again from the html', () => {
    expect(accepted({ text: ' ', html: '<p>x</p>' })).toMatchObject({ text: null, html: '<p>x</p>' });
    expect(accepted({ html: ' ' })).toMatchObject({ text: 'Hello.', html: null });
  });

  test('has no markdown beyond what is rendered', () => {
    expect(misshapen({ markdown: 'x'.repeat(262_145) })).toEqual(['/body/markdown']);
  });
});

describe('the subject of a send request', () => {
  test.each(['Ünïcödé 📦', 'a\tb', 'x'.repeat(998), '📦'.repeat(998)])('may be %j', (subject) => {
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
    for (const character of ['x', '📦'])
      expect(misshapen({ subject: character.repeat(999) })).toEqual(['/body/subject']);
  });

  test('of a template may be overridden, not broken', () => {
    expect(accepted({ templateId: 'tpl_1', text: undefined as never, subject: 'Mine' }).subject).toBe('Mine');
    expect(places({ templateId: 'tpl_1', text: undefined, subject: 'a\nb' })).toEqual(['/body/subject']);
  });
});

describe('tags of a send request', () => {
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

describe('the shape of a send request', () => {
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

  test('wants recipients', () => {
    expect(checkShape({}, '/body')?.map(({ path }) => path)).toEqual(['/body/to']);
  });
});
