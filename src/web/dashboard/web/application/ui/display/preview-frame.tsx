import { useEffect, useRef, useState } from 'react';
import { withoutResourceHints } from '../../../../../../mail/message/resource-hints.ts';
import { inPieces } from './in-pieces.ts';
import { patch } from './patch.ts';

/** As wide as a usual telephone. */
const PHONE = 'max-w-[24.375rem]';

const SCHEME = /\(\s*prefers-color-scheme\s*:\s*(dark|light)\s*\)/gi;

/** The message as a client in that scheme reads it, whatever the scheme of this computer: its own rules hold or do not. */
const inScheme = (html: string, isDark: boolean): string =>
  html.replace(SCHEME, (_, scheme: string) =>
    (scheme.toLowerCase() === 'dark') === isDark ? '(min-width: 0)' : '(max-width: 0)',
  );

/** Characters that are parsed in one step: about a millisecond. */
const PARSED_AT_ONCE = 8_192;

/** Shows a message in a document, in small steps. */
function* showing(shown: Document, html: string): Generator<undefined> {
  // A document without a window loads nothing, and has the policy of the frame: that of the application has no inline styles.
  const next = shown.implementation.createHTMLDocument('');
  for (let at = 0; at === 0 || at < html.length; at += PARSED_AT_ONCE) {
    next.write(html.slice(at, at + PARSED_AT_ONCE));
    yield;
  }
  next.close();
  // The frame runs no script. Here they are not even elements of its document.
  for (const script of next.querySelectorAll('script')) script.remove();
  const base = next.createElement('base');
  base.target = '_blank';
  next.head.prepend(base);
  yield* patch(shown.documentElement, next.documentElement);
}

/**
 * Unstored HTML in a separate document without scripts. The application writes into it; its policy is that of
 * `/app/frame`.
 */
export function PreviewFrame(props: {
  readonly title: string;
  readonly html: string;
  readonly isPhone: boolean;
  readonly isDark: boolean;
  /** True: half as high, in a dialog. */
  readonly isLow?: boolean;
}) {
  const frame = useRef<HTMLIFrameElement>(null);
  const [loads, setLoads] = useState(0);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a frame that was loaded again is empty again
  useEffect(() => {
    const shown = frame.current?.contentDocument;
    if (!shown || shown.URL === 'about:blank') return undefined;
    const html = withoutResourceHints(inScheme(props.html, props.isDark));
    let isWanted = true;
    void inPieces(showing(shown, html), { isWanted: () => isWanted });
    // What is shown by then is patched to the next message.
    return () => {
      isWanted = false;
    };
  }, [props.html, props.isDark, loads]);
  const isInverted = props.isDark && !/prefers-color-scheme\s*:\s*dark/i.test(props.html);
  return (
    <div className={`grid justify-items-center ${props.isPhone ? 'bg-sunk p-4' : ''}`}>
      <iframe
        ref={frame}
        title={props.title}
        src="/app/frame"
        sandbox="allow-same-origin allow-popups allow-popups-to-escape-sandbox"
        onLoad={() => setLoads((before) => before + 1)}
        style={isInverted ? { filter: 'invert(1) hue-rotate(180deg)' } : {}}
        className={`${props.isLow ? 'h-[min(22rem,50dvh)]' : 'h-136'} w-full bg-white ${props.isPhone ? `${PHONE} rounded-xl border border-edge` : ''}`}
      />
      {isInverted && (
        <p className="px-4 py-1.5 text-caption text-dim">
          The message has no dark styles. It is shown with inverted colours, as some mail programs do.
        </p>
      )}
    </div>
  );
}
