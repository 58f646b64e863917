import { describe, expect, test } from 'bun:test';
import type { Email } from 'postal-mime';
import { divideMessage } from '../../../src/mail/raw/header-editor.ts';
import { leavesOf } from '../../../src/mail/raw/mime-tree.ts';
import { parseMessage } from '../../../src/mail/raw/repair/parsable.ts';
import { repeatedField } from '../../../src/mail/raw/repeated-field.ts';
import { usualMail } from '../../../src/mail/raw/usual-mail.ts';
import { inWireForm } from '../../../src/mail/raw/wire-form.ts';

const LIMITS = { forceRfc822Attachments: true, maxNestingDepth: 50 };

/** The members that readers of a message use. */
const shown = ({ headers, subject, text, html, to, cc, replyTo, attachments }: Email) => ({
  headers,
  subject,
  text,
  html,
  to,
  cc,
  replyTo,
  attachments,
});

/** Both readings of a message; null where it is left to the parser. */
async function readings(message: string) {
  const octets = inWireForm(Buffer.from(message, 'latin1'));
  const { fields } = divideMessage(octets);
  // A message that has such a field twice is refused before its parts are read.
  const own = repeatedField(fields) === null ? usualMail(octets, fields, leavesOf(octets)) : null;
  if (own === null) return null;
  const parsed = await parseMessage(octets, LIMITS);
  return { own: shown(own), parsed: parsed && shown(parsed) };
}

/** A generator of numbers that gives the same ones each time (mulberry32). */
function numbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

const BOUNDARIES = ['b', '"b"', '"=_b(1)"', 'b--', '"a b"', ''];
const TYPES = [
  'text/plain',
  'text/html',
  'TEXT/PLAIN; charset=utf-8',
  'text/html; charset="utf-8"',
  'text/plain;charset=us-ascii',
  'text/plain; charset=iso-8859-1',
  'text/plain; charset=utf-7',
  'text/plain; format=flowed',
  'text/plain (a)',
  'text/calendar',
  'text/html; charset=utf-16',
  'text/plain; charset=utf-8; name=a.txt',
  'image/png',
  'plain',
  '',
];
const ENCODINGS = ['', '', '', '', '7bit', '8bit', 'quoted-printable', 'Quoted-Printable', 'base64', 'x-own'];
const BODIES = [
  'A line.\r\n',
  'No end',
  '',
  '\r\n',
  '\r\n\r\nx\r\n\r\n',
  'a b \r\nc\t\r\n',
  '.\r\n..\r\n',
  'Gr\xc3\xbc\xc3\x9fe\r\n',
  'Gr\xfc\xdfe',
  'a=3Db=C3=BC\r\n',
  'soft=\r\nbreak\r\n',
  'soft= \r\nbreak',
  'end=',
  '=3d=0D=0A=0D\r\nx',
  'a=0D=0Ab=0D=0A=\r\nc',
  'x=20\r\n',
  '--b\r\nnot a part\r\n',
  ' --b',
  '--bb\r\n',
  '\xef\xbb\xbfmark',
  'nul\0\x01\r\n',
  'QWJj\r\nRA==\r\n',
  '--\r\n-- \r\nname',
  '=',
  '= ',
];
const FIELDS = [
  'To: r@receiver.example',
  'To: "R, S" <r@receiver.example>,\r\n s@receiver.example',
  'Cc: team: a@x.example, b@x.example;',
  'Reply-To: =?utf-8?Q?Gr=C3=BC=C3=9Fe?= <g@x.example>',
  'Subject: =?utf-8?B?w7w=?=\r\n =?utf-8?B?w58=?=',
  'Subject:',
  'Subject:  a \t b ',
  'Subject: Gr\xc3\xbc\xc3\x9fe',
  'X-Own:folded\r\n\tvalue\r\n  more',
  'X-Own : blank',
  'no field',
  'X-\x01: y',
  'X-Own: a\x0bb',
  'To: <>',
  'Content-Disposition: attachment',
  'Content-Disposition: inline; filename=a.txt',
  'Content-Disposition: inline',
  'Content-Language: de',
];

function generated(any: (below: number) => number): string {
  const one = (list: readonly string[]): string => list[any(list.length)] ?? '';
  const some = (list: readonly string[], most: number): string[] =>
    Array.from({ length: any(most + 1) }, () => one(list));
  const fields = (type: string): string[] => {
    const encoding = one(ENCODINGS);
    return [
      ...(type === '' ? [] : [`Content-Type: ${type}`]),
      ...(encoding === '' ? [] : [`Content-Transfer-Encoding: ${encoding}`]),
    ];
  };
  const begin = ['From: a@sender.example', ...some(FIELDS, 2), ...(any(2) ? ['MIME-Version: 1.0'] : [])];
  const body = () => some(BODIES, 3).join('');
  if (any(3) === 0) return [...begin, ...fields(one(TYPES)), '', body()].join('\r\n');
  const boundary = one(BOUNDARIES);
  const kind = any(5) === 0 ? one(['mixed', 'related', 'alternative; type=x']) : 'alternative';
  const delimiter = `--${boundary.replaceAll('"', '')}`;
  const usual = [
    one(['text/plain', TYPES[2] ?? '']),
    ...(any(4) === 0 ? [] : [one(['text/html', TYPES[3] ?? ''])]),
  ];
  const types = any(4) === 0 ? some(TYPES, 3) : usual;
  const parts = types.flatMap((type) => [
    `${delimiter}${any(20) === 0 ? one([' ', '\t', '-', '\xa0', '--']) : ''}`,
    ...fields(type),
    ...(any(9) === 0 ? some(FIELDS, 2) : []),
    ...(any(20) === 0 ? [] : ['']),
    body(),
  ]);
  const end =
    any(12) === 0
      ? one(['', `${delimiter}--\r\nepilogue`, `${delimiter}--\r\n${delimiter}\r\n\r\nlate`])
      : `${delimiter}--`;
  const preamble = any(6) === 0 ? [one(BODIES)] : [];
  return [
    ...begin,
    `Content-Type: multipart/${kind}; boundary=${boundary}`,
    '',
    ...preamble,
    ...parts,
    end,
    '',
  ].join('\r\n');
}

describe('a message as most programs write it', () => {
  test('is read as the parser reads it, or left to the parser: 6,000 generated shapes', async () => {
    const any = numbers(37);
    let [own, parts] = [0, 0];
    for (let n = 0; n < 6_000; n++) {
      const message = generated(any);
      const both = await readings(message);
      if (both === null) continue;
      own++;
      if (message.includes('--b')) parts++;
      if (!Bun.deepEquals(both.own, both.parsed))
        expect({ message, ...both.own }).toEqual({ message, ...both.parsed } as never);
    }
    // Without them the comparison would prove nothing.
    expect(own).toBeGreaterThan(400);
    expect(parts).toBeGreaterThan(90);
  });

  const HEADER = 'From: a@sender.example\r\nTo: r@receiver.example\r\nSubject: =?utf-8?Q?=C3=BC?=\r\n';
  const part = (type: string, body: string, fields = '') =>
    `--b\r\nContent-Type: ${type}; charset=utf-8\r\n${fields}\r\n${body}\r\n`;
  const QUOTED = 'Content-Transfer-Encoding: quoted-printable\r\n';
  test.each([
    ['a text', `${HEADER}\r\nHello\r\n`],
    ['a text in UTF-8', `${HEADER}Content-Type: text/plain; charset=utf-8\r\n\r\nGr\xc3\xbc\xc3\x9fe\r\n`],
    [
      'html in quoted-printable',
      `${HEADER}Content-Type: text/html; charset="utf-8"\r\n${QUOTED}\r\n<p>=C3=BC a=\r\nb</p>\r\n`,
    ],
    [
      'a text and html',
      `${HEADER}Content-Type: multipart/alternative; boundary="b"\r\n\r\n${part('text/plain', 'Hi')}${part('text/html', '<p>=\r\n=3D</p>', QUOTED)}--b--\r\n`,
    ],
  ])('%s is read without the parser', async (_, message) => {
    const both = await readings(message);
    expect(both).not.toBeNull();
    expect(both?.own).toEqual(both?.parsed as never);
  });
});
