import { colourOr, inkOn, USUAL_COLOUR } from '../../mail/message/ink.ts';
import { directionOf, type PageLanguage } from '../../platform/text/language.ts';

/** The content of an email of the service, from top to bottom. */
export interface Content {
  readonly language: PageLanguage;
  readonly subject: string;
  /** The preview text, which mail programs show beside the subject. */
  readonly preview: string;
  readonly title: string;
  readonly paragraphs: readonly string[];
  readonly button: { readonly label: string; readonly url: string };
  /** It introduces the address behind the button. */
  readonly orOpen: string;
  /** The reason why the reader gets the email, and what to do about an unexpected one. */
  readonly foot: string;
}

/** The look of the workspace, whose name is at the top. */
export interface Look {
  readonly name: string;
  readonly logoUrl: string | null;
  /** Such as `#0f766e`. */
  readonly colour: string | null;
}

const FONT = `font-family:-apple-system,BlinkMacSystemFont,'Segoe UI',Roboto,Helvetica,Arial,sans-serif`;

const escapeHtml = Bun.escapeHTML;

/**
 * The HTML part. Tables and inline styles, since Outlook knows little else; the style sheet serves programs
 * with a dark mode. A picture that is blocked leaves the name of the workspace.
 */
export function htmlOf(content: Content, look: Look): string {
  const { language, subject, preview, title, paragraphs, button, orOpen, foot } = content;
  const direction = directionOf(language);
  const start = direction === 'rtl' ? 'right' : 'left';
  const colour = colourOr(look.colour, USUAL_COLOUR);
  const name = escapeHtml(look.name);
  const head = look.logoUrl
    ? `<img src="${escapeHtml(look.logoUrl)}" alt="${name}" height="32" style="display:block;height:32px;width:auto;border:0">`
    : `<span class="ink" style="font-size:16px;font-weight:600;color:#18181b">${name}</span>`;
  const said = paragraphs
    .map(
      (text) =>
        `<p class="ink" style="margin:0 0 16px;font-size:16px;line-height:24px;color:#27272a">${escapeHtml(text)}</p>`,
    )
    .join('\n');
  const link = `<table role="presentation" cellpadding="0" cellspacing="0" style="margin:8px 0 24px"><tr><td bgcolor="${colour}" style="border-radius:8px;background:${colour}">
<a href="${escapeHtml(button.url)}" style="display:inline-block;padding:12px 24px;font-size:16px;font-weight:600;line-height:24px;color:${inkOn(colour)};text-decoration:none;border-radius:8px">${escapeHtml(button.label)}</a>
</td></tr></table>
<p class="faint" style="margin:0 0 16px;font-size:13px;line-height:20px;color:#71717a;word-break:break-all">${escapeHtml(orOpen)} <a class="faint" dir="ltr" href="${escapeHtml(button.url)}" style="color:#71717a">${escapeHtml(button.url)}</a></p>`;
  return `<!doctype html>
<html lang="${language}" dir="${direction}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="supported-color-schemes" content="light dark">
<title>${escapeHtml(subject)}</title>
<style>
:root { color-scheme: light dark; supported-color-schemes: light dark; }
@media (prefers-color-scheme: dark) {
  .page { background: #09090b !important; }
  .card { background: #18181b !important; border-color: #27272a !important; }
  .ink { color: #f4f4f5 !important; }
  .faint { color: #a1a1aa !important; }
}
@media (max-width: 520px) { .card { border-radius: 0 !important; } .inner { padding: 24px !important; } }
</style>
</head>
<body class="page" lang="${language}" dir="${direction}" style="margin:0;padding:0;background:#f4f4f5;${FONT}">
<div style="display:none;max-height:0;overflow:hidden">${escapeHtml(preview)}</div>
<table role="presentation" class="page" width="100%" cellpadding="0" cellspacing="0" dir="${direction}" style="background:#f4f4f5"><tr><td align="center" style="padding:32px 0">
<table role="presentation" class="card" width="100%" cellpadding="0" cellspacing="0" style="max-width:520px;background:#ffffff;border:1px solid #e4e4e7;border-radius:12px"><tr><td class="inner" style="padding:32px;text-align:${start}">
<div style="margin:0 0 24px">${head}</div>
<h1 class="ink" style="margin:0 0 16px;font-size:22px;line-height:28px;font-weight:600;color:#18181b">${escapeHtml(title)}</h1>
${said}
${link}
</td></tr></table>
<p class="faint" style="max-width:456px;margin:16px auto 0;padding:0 32px;font-size:13px;line-height:20px;color:#71717a">${escapeHtml(foot)}</p>
</td></tr></table>
</body>
</html>
`;
}

/** The text part: the same words. */
export const textOf = ({ title, paragraphs, button, foot }: Content): string =>
  [title, ...paragraphs, `${button.label}:\n${button.url}`, `--\n${foot}`].join('\n\n');
