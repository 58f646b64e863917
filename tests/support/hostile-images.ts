import { crc32, deflateSync } from 'node:zlib';
import { gifOf } from './pictures.ts';

const chunk = (type: string, data: Buffer): Buffer => {
  const head = Buffer.alloc(4);
  head.writeUInt32BE(data.length);
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc32(body));
  return Buffer.concat([head, body, sum]);
};

/** A PNG of these chunks behind its header. */
function pngOf(width: number, height: number, content: Buffer, ...more: readonly Buffer[]): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 2, 0, 0, 0], 8);
  return Buffer.concat([
    Buffer.from('89504e470d0a1a0a', 'hex'),
    chunk('IHDR', header),
    ...more,
    chunk('IDAT', content),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

const pixels = (width: number, height: number): Buffer => deflateSync(Buffer.alloc((width * 3 + 1) * height));
const SMALL = pngOf(2, 2, pixels(2, 2));
const SVG = '<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"><script>alert(1)</script></svg>';
const JPEG_HEAD = Buffer.from('ffd8ffe000104a46494600010100000100010000', 'hex');

/** Files that are no images, or images that want the time or memory of the service, or of who opens them. */
export const HOSTILE_IMAGES: Readonly<Record<string, Uint8Array>> = {
  'an SVG with a script': Buffer.from(SVG),
  'an SVG behind a byte order mark': Buffer.from(`\uFEFF<?xml version="1.0"?>${SVG}`),
  'an SVG of a billion laughs': Buffer.from(
    `<!DOCTYPE svg [<!ENTITY a "x">${Array.from({ length: 20 }, (_, n) => `<!ENTITY b${n} "${`&b${n - 1};`.repeat(10)}">`).join('')}]><svg>&b19;</svg>`,
  ),
  'html that begins as a GIF': Buffer.from('GIF89a/*<html><script>alert(1)</script>*/=1;'),
  'a GIF with a script behind it': Buffer.concat([
    gifOf({ width: 3, height: 3 }),
    Buffer.from('<script>alert(1)</script>'),
  ]),
  'a PNG with a ZIP behind it': Buffer.concat([
    SMALL,
    Buffer.from('504b0304140000000800', 'hex'),
    Buffer.alloc(2_000, 7),
  ]),
  'a JPEG without an end': Buffer.concat([JPEG_HEAD, Buffer.alloc(4_000_000, 0x41)]),
  'a PDF': Buffer.from('%PDF-1.7\n1 0 obj\n<< /OpenAction << /S /JavaScript >> >>'),
  'a PNG of 65,535 pixels': pngOf(65_535, 65_535, pixels(1, 1)),
  'a PNG of six thousand with pixels of one': pngOf(6_000, 6_000, pixels(1, 1)),
  'a PNG whose pixels go on for 500 MB': pngOf(2, 2, deflateSync(Buffer.alloc(500_000_000))),
  'a PNG with a million chunks': pngOf(
    2,
    2,
    pixels(2, 2),
    ...Array.from({ length: 350_000 }, () => chunk('tEXt', Buffer.alloc(0))),
  ),
  'a GIF of 65,535 pixels': gifOf({ width: 65_535, height: 65_535 }),
  'nothing but zeros': new Uint8Array(5_000_000),
};

const times = (count: number, text: string): string => text.repeat(count);

/** MJML that wants the service's time or memory, or to reach what is none of its author's. */
export const HOSTILE_MJML: Readonly<Record<string, string>> = {
  'an include of a file': '<mjml><mj-body><mj-include path="/etc/passwd" /></mj-body></mjml>',
  'an include among comments': `<mjml><mj-body>${times(2_000, '<!-- x -->')}<mj-include path="http://127.0.0.1/" /></mj-body></mjml>`,
  'elements within elements': `<mjml><mj-body>${times(20_000, '<mj-section>')}`,
  'ten thousand sections': `<mjml><mj-body>${times(3_000, '<mj-section><mj-column><mj-text>x</mj-text></mj-column></mj-section>')}</mj-body></mjml>`,
  'end tags alone': `<mjml><mj-body>${times(15_000, '</mj-section>')}<mj-include path="x" />`,
  'html within a text': `<mjml><mj-body><mj-section><mj-column><mj-text>${times(40_000, '<b>')}</mj-text></mj-column></mj-section></mj-body></mjml>`,
  'a loop in a place of MJML': `<mjml><mj-body>${times(4_000, '{% for i in (1..1000) %}')}</mj-body></mjml>`,
  'an element of a hundred thousand classes': `<mjml><mj-head><mj-attributes><mj-class name="a" ${times(400, 'color="red" ')} css-class="${times(2_000, 'x')}" /></mj-attributes></mj-head><mj-body><mj-section mj-class="${times(100_000, 'a ')}"><mj-column><mj-text>x</mj-text></mj-column></mj-section></mj-body></mjml>`,
  'defaults of every element': `<mjml><mj-head><mj-attributes><mj-all ${Array.from({ length: 20_000 }, (_, n) => `a${n}=""`).join(' ')} /></mj-attributes></mj-head><mj-body>${times(600, '<mj-section><mj-column><mj-text>x</mj-text></mj-column></mj-section>')}</mj-body></mjml>`,
  'a tag that is lost':
    '<mjml><mj-body><mj-section>{% if a %}<mj-column><mj-text>x</mj-text></mj-column>{% endif %}</mj-section></mj-body></mjml>',
};
