import type { Asset, Template } from '../../../../../client/operations.ts';

/** Messages are 600 pixels wide in most programs. */
const WIDEST = 600;

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');

type Picture = Pick<Asset, 'url' | 'width'>;

/** The markup that shows an image, in each format of templates. */
export const MARKUP: Readonly<Record<Template['format'], (image: Picture, alt: string) => string>> = {
  html: ({ url, width }, alt) =>
    `<img src="${url}" alt="${escaped(alt)}" width="${Math.min(width, WIDEST)}" style="max-width: 100%; height: auto">`,
  emailmd: ({ url }, alt) => `![${alt.replace(/[[\]\\\n]/g, ' ')}](${url})`,
  mjml: ({ url, width }, alt) =>
    `<mj-image src="${url}" alt="${escaped(alt)}" width="${Math.min(width, WIDEST)}px" />`,
};
