import { useSyncExternalStore } from 'react';
import type { ConnectionState } from '../../api/connection.ts';
import { useViewer } from '../../api/viewer.tsx';

const STATES: Record<ConnectionState, { readonly text: string; readonly color: string }> = {
  connecting: { text: 'Connecting', color: 'waiting' },
  live: { text: 'Live', color: 'good' },
  lost: { text: 'Reconnecting', color: 'bad' },
  over: { text: 'Ended', color: 'bad' },
};

/** Shows the state of the page's connection. */
export function ShownConnection() {
  const { connection } = useViewer();
  const state = useSyncExternalStore(connection.subscribe, () => connection.state);
  const { text, color } = STATES[state];
  return (
    <span
      role="status"
      data-color={color}
      className="state-text mr-1.5 flex items-center gap-1.5 text-[12px] font-medium"
    >
      <span className={`size-2 rounded-full bg-(--state) ${state === 'live' ? '' : 'animate-pulse'}`} />
      <span className={state === 'live' ? 'hidden sm:inline' : ''}>{text}</span>
    </span>
  );
}
