import { type ReactNode, useState } from 'react';
import { useMessageFrame } from '../../api/queries.ts';
import { usePainted } from '../charts/painted.ts';
import { Chips } from '../forms/chips.tsx';
import { Copyable } from './copyable.tsx';
import { MessageLinks } from './message-links.tsx';

const VIEWS = { html: 'Message', text: 'Text', links: 'Links', source: 'HTML source' } as const;
type View = keyof typeof VIEWS;
const PHONE = 'max-w-[23.4375rem]';

/** Pictures of other hosts, in elements or styles. */
const HAS_PICTURES = /(?:src\s*=\s*["']?|url\(\s*["']?|background\s*=\s*["']?)https?:/i;

const Box = (props: {
  readonly text: string;
  readonly title?: string;
  readonly isOn: boolean;
  readonly onChange: (isOn: boolean) => void;
}) => (
  <label title={props.title} className="flex min-h-8 items-center gap-2 text-dim">
    <input
      type="checkbox"
      className="size-4 accent-accent"
      checked={props.isOn}
      onChange={({ target }) => props.onChange(target.checked)}
    />
    {props.text}
  </label>
);

/**
 * A message in an isolated frame: no scripts, no forms, no images of other hosts. Its text, links and source
 * are beside it.
 */
export function Message(props: {
  readonly list: 'emails' | 'captured' | 'received';
  readonly id: string;
  readonly html: string | null;
  readonly text: string | null;
  /** The whole message as it travels, or what shows it. */
  readonly raw?: string | (() => ReactNode);
}) {
  const [hasPictures, setPictures] = useState(false);
  // A frame is a document apart, which takes as long to make as the page around it.
  const frame = usePainted(useMessageFrame(props.list, props.id, hasPictures));
  const [chosen, setChosen] = useState<View | 'raw'>(props.html === null ? 'text' : 'html');
  const view = usePainted(chosen) ?? chosen;
  const [isPhone, setPhone] = useState(false);
  const size = `h-136 w-full ${isPhone ? `${PHONE} rounded-lg shadow-card` : ''}`;
  const views: Partial<Record<View | 'raw', string>> = {
    ...(props.html === null ? { text: VIEWS.text } : VIEWS),
    ...(props.raw !== undefined && { raw: 'Raw' }),
  };
  return (
    <section aria-label="Content" className="card grid overflow-hidden">
      <div className="flex flex-wrap items-center gap-x-4 gap-y-2 border-b border-edge px-3 py-2">
        <Chips label="Show" options={views} value={chosen} onChange={setChosen} />
        {view === 'html' && (
          <div className="ml-auto flex flex-wrap gap-x-4">
            {HAS_PICTURES.test(props.html ?? '') && (
              <Box
                text="Show pictures"
                title="Loads pictures from other hosts, which learn that the message was opened. A tracked message counts an open."
                isOn={hasPictures}
                onChange={setPictures}
              />
            )}
            <Box text="Phone width" isOn={isPhone} onChange={setPhone} />
          </div>
        )}
      </div>
      {view === 'html' && (
        <div className={isPhone ? 'grid justify-items-center bg-sunk p-4' : ''}>
          {frame === null ? (
            <div className={`bg-white ${size}`} />
          ) : (
            <iframe
              title="Message"
              src={frame}
              sandbox="allow-popups allow-popups-to-escape-sandbox"
              className={`bg-white ${size}`}
            />
          )}
        </div>
      )}
      {view !== 'html' && (
        <div className="p-4">
          {view === 'links' ? (
            <MessageLinks html={props.html ?? ''} />
          ) : view === 'text' ? (
            <pre className="font-sans break-words whitespace-pre-wrap">
              {props.text ?? 'There is no text part.'}
            </pre>
          ) : view === 'raw' && typeof props.raw === 'function' ? (
            props.raw()
          ) : (
            <Copyable
              label={view === 'raw' ? 'Raw message' : 'HTML'}
              text={(view === 'raw' && typeof props.raw === 'string' ? props.raw : props.html) ?? ''}
            />
          )}
        </div>
      )}
    </section>
  );
}
