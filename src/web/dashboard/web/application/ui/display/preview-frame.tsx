import { useEffect, useRef, useState } from 'react';
import { withoutResourceHints } from '../../../../../../mail/message/resource-hints.ts';
import { inPieces } from './in-pieces.ts';
import { showing } from './showing.ts';

/** As wide as a usual telephone. */
const PHONE = 'max-w-[24.375rem]';

const SCHEME = /\(\s*prefers-color-scheme\s*:\s*(dark|light)\s*\)/gi;

/**
 * The message as a client in that scheme reads it, whatever the scheme of this computer: its own rules hold
 * or do not.
 */
const inScheme = (html: string, isDark: boolean): string =>
  html.replace(SCHEME, (_, scheme: string) =>
    (scheme.toLowerCase() === 'dark') === isDark ? '(min-width: 0)' : '(max-width: 0)',
  );

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
    // A document that is still on its way has no elements yet. onLoad tells its end.
    if (!shown || shown.URL === 'about:blank' || shown.readyState !== 'complete') return undefined;
    const html = withoutResourceHints(inScheme(props.html, props.isDark));
    let isWanted = true;
    void inPieces(showing(shown, html), { isWanted: () => isWanted });
    // The message that is shown by then is patched to the next one.
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
