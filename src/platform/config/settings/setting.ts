import type { Static, TSchema } from '@sinclair/typebox';
import type { Kind } from './setting-kinds.ts';

/** One environment variable: its purpose, its form, and its default. */
export interface Setting<Value = unknown> {
  /** The purpose in one line, for `posthorn serve --help` and docs/configuration.md. */
  readonly about: string;
  readonly kind: Kind;
  /** The default as it would be written; null when there is none. */
  readonly fallback: string | null;
  /** The default as the table shows it: the fallback, or the meaning of an absent value. */
  readonly otherwise: string;
  /** True for a value that is never printed, neither in a problem nor in a log. */
  readonly secret: boolean;
  /** Carries the type of the value; the member itself is never set. */
  readonly of?: Value;
}

/** A setting with a default. */
export const withDefault = <Value extends TSchema>(
  kind: Kind<Value>,
  fallback: string,
  about: string,
): Setting<Static<Value>> => ({ about, kind, fallback, otherwise: fallback, secret: false });

/** A setting whose absence means what `otherwise` says. */
export const optional = <Value extends TSchema>(
  kind: Kind<Value>,
  otherwise: string,
  about: string,
): Setting<Static<Value> | null> => ({ about, kind, fallback: null, otherwise, secret: false });

/** A setting whose value is never printed. */
export const secret = <Value extends TSchema>(
  kind: Kind<Value>,
  otherwise: string,
  about: string,
): Setting<Static<Value> | null> => ({ ...optional(kind, otherwise, about), secret: true });
