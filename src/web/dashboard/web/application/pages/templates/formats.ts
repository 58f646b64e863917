import type { Template } from '../../../../../client/operations.ts';

/** A format of templates as the editor shows it. */
interface Format {
  readonly name: string;
  /** The member that holds the source. */
  readonly member: 'html' | 'markdown' | 'mjml';
  readonly language: 'html' | 'markdown';
  /** True where the author may write the text part. */
  readonly hasText: boolean;
}

export const FORMATS: Readonly<Record<Template['format'], Format>> = {
  html: { name: 'HTML', member: 'html', language: 'html', hasText: true },
  emailmd: { name: 'Markdown', member: 'markdown', language: 'markdown', hasText: false },
  mjml: { name: 'MJML', member: 'mjml', language: 'html', hasText: true },
};

/** The source of a template or of one of its versions. */
export const sourceOf = (
  template: Pick<Template, 'format' | (typeof FORMATS)[Template['format']]['member']>,
): string => template[FORMATS[template.format].member] ?? '';

export type Kind = Template['kind'];

export const KINDS: Readonly<Record<Kind, { readonly title: string; readonly about: string }>> = {
  template: { title: 'Template', about: 'An email, which your program or a campaign sends' },
  layout: { title: 'Layout', about: 'What is around the content of many templates' },
  partial: { title: 'Partial', about: 'A piece that templates and layouts take, such as a footer' },
};
