import { Badge } from '../../ui/display/badge.tsx';
import type { Tone } from '../../ui/display/event-looks.ts';

/** A status tells by its first figure whose turn it is: no one's, the client's or that of the service. */
const toneOf = (status: number): Tone => (status < 400 ? 'good' : status < 500 ? 'waiting' : 'bad');

/** The HTTP status of a request. */
export const Outcome = ({ status }: { readonly status: number }) => (
  <Badge status={String(status)} tone={toneOf(status)}>
    {status}
  </Badge>
);

/** The names of API keys, as the pages of requests show them. */
export const keyNameOf = (
  keys: readonly { readonly id: string; readonly name: string }[] | undefined,
  id: string,
): string => keys?.find((key) => key.id === id)?.name ?? id;
