import type { StoredEncoding } from '../../../../platform/csv/encoding.ts';
import { UnavailableError } from '../../../../platform/errors/unavailable.ts';
import type { ImportPlan } from './plan.ts';

/**
 * A plan as it is stored with its import. Version 1 of the service knows two of its targets and would take
 * `unsubscribedAt` for a name, so that it would subscribe people who have left. It opens `stored` as an
 * encoding before it reads a row, and has no encoding of this name: the import waits for an instance that can
 * read it. All that it shows of an import it can read.
 */
export type StoredPlan = Omit<ImportPlan, 'stored'> & { readonly stored: string };

/**
 * The choices of a client and the form of its file, stored with the import beside the columns that SQL reads.
 */
export interface ImportSettings {
  readonly plan: StoredPlan;
  /** Bytes of the file as it is stored. */
  readonly bytes: number;
  readonly onConflict: 'upsert' | 'skip';
  readonly onError: 'continue' | 'abort';
  readonly dryRun: boolean;
}

const FORM = 'plan-2/';

export const storedPlan = (plan: ImportPlan): StoredPlan => ({ ...plan, stored: FORM + plan.stored });

const ENCODINGS: Readonly<Record<StoredEncoding, true>> = { 'utf-8': true, 'windows-1252': true };
const isEncoding = (text: string): text is StoredEncoding => Object.hasOwn(ENCODINGS, text);

/** A plan that this version or version 1 has stored. @throws UnavailableError for one of a newer version */
export function planOf(plan: StoredPlan): ImportPlan {
  const stored = plan.stored.startsWith(FORM) ? plan.stored.slice(FORM.length) : plan.stored;
  if (!isEncoding(stored))
    throw new UnavailableError(
      `A newer version of the service has stored a plan "${plan.stored}". Update this instance.`,
    );
  return { ...plan, stored };
}
