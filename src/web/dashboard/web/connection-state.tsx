import type { Connection } from './live.ts';

const CONNECTIONS: Record<Connection, { readonly text: string; readonly color: string }> = {
  connecting: { text: 'Connecting', color: 'waiting' },
  live: { text: 'Live', color: 'good' },
  lost: { text: 'Reconnecting', color: 'bad' },
  over: { text: 'Ended', color: 'bad' },
};

/** Shows the state of the live connection. */
export function ConnectionState({ connection }: { readonly connection: Connection }) {
  const { text, color } = CONNECTIONS[connection];
  return (
    <span
      role="status"
      data-color={color}
      className="state-text mr-1.5 flex items-center gap-1.5 text-[12px] font-medium"
    >
      <span className={`size-2 rounded-full bg-(--state) ${connection === 'live' ? '' : 'animate-pulse'}`} />
      <span className="hidden sm:inline">{text}</span>
    </span>
  );
}
