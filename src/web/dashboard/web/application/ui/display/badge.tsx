import type { ReactNode } from 'react';
import { EVENT_LOOKS, type Tone } from './event-looks.ts';
import { capital, wordsOf } from './format.ts';

const TONES: Readonly<Record<string, Tone>> = {
  ...Object.fromEntries(Object.entries(EVENT_LOOKS).map(([type, { tone }]) => [type, tone])),
  ...Object.fromEntries(
    ['verified', 'active', 'enabled', 'connected', 'completed', 'subscribed', 'succeeded'].map((name) => [
      name,
      'good' as const,
    ]),
  ),
  ...Object.fromEntries(
    ['failed', 'failing', 'revoked', 'exhausted', 'suppressed', 'rejected', 'expired'].map((name) => [
      name,
      'bad' as const,
    ]),
  ),
  ...Object.fromEntries(
    ['scheduled', 'deferred', 'pending', 'paused', 'waiting', 'retrying'].map((name) => [
      name,
      'waiting' as const,
    ]),
  ),
  ...Object.fromEntries(
    ['queued', 'sending', 'processing', 'running', 'verifying', 'preparing'].map((name) => [
      name,
      'moving' as const,
    ]),
  ),
};

/** The tone of a state by its name; what is not known is quiet. */
export const toneOf = (status: string): Tone => TONES[status] ?? 'quiet';

/** A state: a dot and a word, never the colour alone. */
export const Badge = ({
  status,
  tone,
  children,
}: {
  readonly status: string;
  readonly tone?: Tone;
  readonly children?: ReactNode;
}) => (
  <span data-color={tone ?? toneOf(status)} className="badge">
    <span aria-hidden="true" className="size-1.5 rounded-full bg-(--state)" />
    {children ?? capital(wordsOf(status))}
  </span>
);
