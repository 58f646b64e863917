import { useEffect, useRef, useState } from 'react';

/** As wide as a usual telephone. */
const PHONE = 'max-w-[24.375rem]';

/**
 * HTML that is stored nowhere yet, in a document of its own in which no script runs. The application writes into it; its policy is
 * that of `/app/frame`.
 */
export function PreviewFrame(props: {
  readonly title: string;
  readonly html: string;
  readonly isPhone: boolean;
  readonly isDark: boolean;
}) {
  const frame = useRef<HTMLIFrameElement>(null);
  const [loads, setLoads] = useState(0);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a frame that was loaded again is empty again
  useEffect(() => {
    const shown = frame.current?.contentDocument;
    if (!shown || shown.URL === 'about:blank') return;
    shown.documentElement.innerHTML = props.html;
    const base = shown.createElement('base');
    base.target = '_blank';
    shown.head.prepend(base);
  }, [props.html, loads]);
  return (
    <div className={`grid justify-items-center ${props.isPhone ? 'bg-sunk p-4' : ''}`}>
      <iframe
        ref={frame}
        title={props.title}
        src="/app/frame"
        sandbox="allow-same-origin allow-popups allow-popups-to-escape-sandbox"
        onLoad={() => setLoads((before) => before + 1)}
        style={{ colorScheme: props.isDark ? 'dark' : 'light' }}
        className={`h-136 w-full ${props.isDark ? 'bg-black' : 'bg-white'} ${props.isPhone ? `${PHONE} rounded-xl border border-edge` : ''}`}
      />
    </div>
  );
}
