import { useMemo } from 'react';

interface MessageLink {
  /** Its place: a message may have the same link twice. */
  readonly key: number;
  readonly text: string;
  readonly to: string;
}

/** The links of a message, in order. A document without a window loads nothing. */
function linksIn(html: string): readonly MessageLink[] {
  const parsed = new DOMParser().parseFromString(html, 'text/html');
  return [...parsed.querySelectorAll('a[href], area[href]')].map((link, key) => ({
    key,
    text:
      link.textContent?.trim() || link.querySelector('img')?.alt || link.getAttribute('alt') || '(no text)',
    to: link.getAttribute('href') ?? '',
  }));
}

/** The links of a message: the text of each, and its address. */
export function MessageLinks({ html }: { readonly html: string }) {
  const links = useMemo(() => linksIn(html), [html]);
  if (links.length === 0) return <p className="text-dim">The message has no links.</p>;
  return (
    <ol className="grid gap-3">
      {links.map(({ key, text, to }) => (
        <li key={key} className="min-w-0">
          <p className="break-words">{text}</p>
          {/^(https?|mailto):/i.test(to) ? (
            <a href={to} target="_blank" rel="noreferrer" className="link font-mono text-caption break-all">
              {to}
            </a>
          ) : (
            <p className="font-mono text-caption break-all text-dim">{to}</p>
          )}
        </li>
      ))}
    </ol>
  );
}
