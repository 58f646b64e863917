import type { Body, RenderReact } from './call.ts';

/**
 * An email whose html is rendered from a React element where the client runs. Its text is too, unless `text`
 * is there.
 */
export type ReactEmail<Email> = Omit<Email, 'html' | 'markdown' | 'templateId' | 'variables'> & {
  /** The element: `<Receipt order={order} />`. */
  readonly react: object;
};

type SendBody = Body<'POST /emails'>;

/**
 * The email as the service takes it. @throws TypeError without a renderer, and everything that a component
 * throws
 */
export async function renderEmail<Email extends Pick<SendBody, 'text'>>(
  email: Email | ReactEmail<Email>,
  render: RenderReact | undefined,
): Promise<Email> {
  if (!('react' in email)) return email;
  if (!render)
    throw new TypeError(
      "`react` needs a renderer: new Posthorn({ …, render }), with `import { render } from '@react-email/components'`.",
    );
  const { react, ...others } = email;
  const html = await render(react as never);
  const text = others.text ?? (await render(react as never, { plainText: true }));
  return { ...others, html, text } as unknown as Email;
}
