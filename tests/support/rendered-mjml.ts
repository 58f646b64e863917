import { expect } from 'bun:test';
import { MarkdownProblem } from '../../src/mail/content/markdown-values.ts';
import { type RenderedMjml, renderMjml } from '../../src/mail/content/render-mjml.ts';

export const render = (mjml: string): Promise<RenderedMjml> =>
  renderMjml(mjml, crypto.randomUUID().replaceAll('-', ''));
export const problemOf = async (mjml: string): Promise<string> => {
  const reason = await render(mjml).catch((error: unknown) => error);
  expect(reason).toBeInstanceOf(MarkdownProblem);
  return (reason as MarkdownProblem).message;
};
export const page = (body: string, head = ''): string =>
  `<mjml lang="en">\n${head && `<mj-head>${head}</mj-head>\n`}<mj-body>\n${body}\n</mj-body>\n</mjml>`;
export const column = (content: string): string =>
  page(`<mj-section><mj-column>\n${content}\n</mj-column></mj-section>`);
