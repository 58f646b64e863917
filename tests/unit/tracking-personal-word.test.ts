import { expect, test } from 'bun:test';
import { textFromHtml } from '../../src/mail/content/text-part.ts';
import { createSigner } from '../../src/platform/crypto/signer.ts';
import { personaliser } from '../../src/sending/tracking/commands.ts';
import { PersonalWords } from '../../src/sending/tracking/personal-word.ts';

// Html that differs in one word is read once. Each copy is compared with that of a personaliser which has
// read nothing before.

const signer = createSigner('only-for-tests');

const maker = () => {
  const made = { signer, publicUrl: 'https://mail.example', read: 0 };
  const counting = (html: string): string => {
    made.read++;
    return textFromHtml(html);
  };
  return { made, personalise: personaliser({ ...made, textFromHtml: counting }) };
};
const tracked = (recipient: number) => ({
  destination: { emailId: `em_${String(recipient).padStart(24, '0')}`, recipient: 0 },
  workspaceId: 'ws_1',
  address: `p${recipient}@receiver.example`,
  host: null,
  opens: true,
  clicks: true,
  leaveHost: 'bounces.sender.example',
  list: { campaignId: 'cmp_1', audienceId: 'aud_1' },
});

const NAMES = [
  'Ada',
  'Adam',
  'Eve',
  'Person12',
  'Person13',
  'a',
  'shop',
  'https',
  'Ada',
  'Zoë',
  'O’Neil',
  '日本',
  'Ada Lovelace',
  ' ',
  '',
  '<b>',
  '</p>',
  '&amp;',
  'amp',
  '12',
  '"',
  '-->',
  'Eve.',
  'X'.repeat(65),
  'Grace Hopper',
  'Anna-Maria',
  'a  b',
  'Ada -',
  'Иван',
  '𝒜da',
  'נועה',
  'Bob',
];
const LINKS =
  '<p><a href="https://shop.example/a?b=1&amp;c=2">Shop</a> <a href="{{unsubscribeUrl}}">Out</a></p>';
const SHAPES: readonly ((name: string) => string)[] = [
  (n) => `<h1>Hi ${n}</h1>${LINKS}`,
  (n) => `<p>${n}, hello</p>${LINKS}`,
  (n) => `<html><head><title>For ${n} </title></head><body>${LINKS}</body></html>`,
  (n) => `<p>Hi ${n} and ${n} </p>${LINKS}`,
  (n) => `${LINKS}<p>Bye ${n}</p>`,
  (n) => `${n} </p>${LINKS}`,
  (n) => `${LINKS} ${n}`,
  (n) => `<p><a href="https://shop.example/x">For ${n} </a></p>`,
  (n) => `<p><a href="Ada">${n}</a> <a href="&#65;dam">${n}</a></p>${LINKS}`,
  (n) => `<p><a href="https://shop.example/ ${n} ">here</a></p>${LINKS}`,
  (n) => `<p><a href="https://shop.example/?q= ${n}">https://shop.example/?q= ${n}</a></p>`,
  (n) => `<p><a title="1 > ${n} " href="https://shop.example/">here</a></p>${LINKS}`,
  (n) => `<p><img src="a.png" alt="1 > ${n} "></p>${LINKS}`,
  (n) => `<p><img src="a.png" alt= ${n} ></p>${LINKS}`,
  (n) => `<p ${n} >Hi</p>${LINKS}`,
  (n) => `<p hidden title="> ${n} ">Hi</p>${LINKS}`,
  (n) => `<style>p { display: ${n} } .x > ${n} { display: none }</style>${LINKS}`,
  (n) => `<script>if (1 > ${n} ) x()</script>${LINKS}`,
  (n) => `<!-- > ${n} -->${LINKS}`,
  (n) => `<!--[if mso]> ${n} <![endif]-->${LINKS}`,
  (n) => `<![CDATA[> ${n} ]]>${LINKS}`,
  (n) => `<textarea> ${n} </textarea>${LINKS}`,
  (n) => `<div style="display:none"> ${n} </div>${LINKS}`,
  (n) => `<p>&${n};</p>${LINKS}`,
  (n) => `<p>x${n}y ${n}</p>${LINKS}`,
  (n) => `<pre>\n ${n} \n</pre>${LINKS}`,
  (n) => `<ul><li>${n} </li><li>b</li></ul><table><tr><td>${n}</td></tr></table>${LINKS}`,
  (n) => `<p><a href="https://shop.example/x">https://shop.example/x</a>${n} </p>`,
  (n) => `<p><a href="https://shop.example/x">here</a> ${n} </p>`,
  (n) => `<a href="https://shop.example/x"></a> ${n} <a href="https://shop.example/y"></a>`,
  (n) => `${LINKS}<p>${n} </body><div hidden><p>${n}`,
];

test('copies that differ in a word are those that each would be by itself', () => {
  const different: unknown[] = [];
  for (const [at, shape] of SHAPES.entries()) {
    const { personalise } = maker();
    for (const [recipient, name] of [...NAMES, 'Ada', 'Grace'].entries()) {
      const parts = { html: shape(name), text: recipient % 7 === 3 ? `Hi ${name}` : null };
      const got = personalise(parts, tracked(recipient));
      const alone = maker().personalise(parts, tracked(recipient));
      if (JSON.stringify(got) !== JSON.stringify(alone)) different.push([at, name, got, alone]);
    }
  }
  expect(different).toEqual([]);
});

test('html that differs in a name is read three times for a thousand recipients', () => {
  const { made, personalise } = maker();
  for (let recipient = 0; recipient < 1_000; recipient++)
    personalise({ html: `<h1>Hi Person${recipient} </h1>${LINKS}`, text: null }, tracked(recipient));
  // The first one by itself, and the frame of the first two.
  expect(made.read).toBeLessThanOrEqual(3);
});

test('names of any script, and with a hyphen, share one reading', () => {
  const { made, personalise } = maker();
  for (const [recipient, name] of [
    'Ada',
    'Zoë',
    'Иван',
    '日本',
    'נועה',
    'Anna-Maria',
    'Ἀλέξανδρος',
  ].entries())
    personalise({ html: `<h1>Hi ${name} </h1>${LINKS}`, text: null }, tracked(recipient));
  expect(made.read).toBeLessThanOrEqual(3);
});

test('where no word is found, it is looked for again only after 64 others', () => {
  let read = 0;
  const words = new PersonalWords('https://exit.invalid', (html) => {
    read++;
    return textFromHtml(html);
  });
  for (let n = 0; n < 130; n++) expect(words.read(`<title>For Person${n} </title><p>Hi</p>`)).toBeNull();
  expect(read).toBe(2);
});
