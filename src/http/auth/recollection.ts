import { Failure } from '../../platform/errors/failure.ts';
import { UnavailableError } from '../../platform/errors/unavailable.ts';

/**
 * The facts about a key and its workspace from an earlier request, used instead of a look-up. The commit of
 * the request compares them with the current rows; requests without a commit look the key up first
 * (`http/admission.ts`). So revoking or changing a key takes effect on the next request, and an email costs
 * one trip to the database instead of two.
 */
export class Recollection {
  /** The facts that a request depends on, in the form of `TERMS`. */
  readonly terms: string;
  #judgement: 'none' | 'confirmed' | 'refuted' = 'none';

  constructor(terms: string) {
    this.terms = terms;
  }

  /** A commit has found the facts unchanged. */
  confirm(): void {
    this.#judgement = 'confirmed';
  }

  /**
   * A commit may have found a change, or a look-up is needed before anything is written; nothing was written.
   */
  refute(): void {
    this.#judgement = 'refuted';
  }

  get isConfirmed(): boolean {
    return this.#judgement === 'confirmed';
  }

  /** True where an answer may depend on outdated facts. */
  get isRefuted(): boolean {
    return this.#judgement === 'refuted';
  }
}

/** The ways to find a caller who was remembered again. */
interface Readmission<Who, Answer> {
  /** Looks the caller up. */
  readmit(): Promise<Who | Failure>;
  /** The terms of a caller; undefined for one who is no key. */
  termsOf(who: Who): string | undefined;
  /** Does the work again for a caller who has changed. */
  again(who: Who): Answer | Promise<Answer>;
}

/**
 * The answer of `work` for a remembered caller. It is returned only once the caller is confirmed, by the
 * commit or by a look-up. If the caller has changed, the work is done again for the new one, because nothing
 * was written.
 */
export async function certainly<Who, Answer>(
  recollection: Recollection,
  work: () => Answer | Promise<Answer>,
  { readmit, termsOf, again }: Readmission<Who, Answer>,
): Promise<Answer | Failure> {
  let answered: Answer;
  try {
    answered = await work();
  } catch (thrown) {
    // When something may have been written, a refusal would claim that nothing was.
    if (recollection.isConfirmed || (thrown instanceof UnavailableError && thrown.applied !== 'no'))
      throw thrown;
    const found = await readmit().catch(() => null);
    if (found instanceof Failure) return found;
    throw thrown;
  }
  if (recollection.isConfirmed) return answered;
  const found = await readmit();
  if (found instanceof Failure) return found;
  const isSame = termsOf(found) === recollection.terms && !recollection.isRefuted;
  return isSame ? answered : again(found);
}

/** The active key `k` of a workspace `w` in use, as SQL, for statements that act on behalf of a key. */
export const ACTIVE_KEYS = `api_keys k join workspaces w on w.id = k.workspace_id and w.archived_at is null and k.state = 'active'`;

/**
 * SQL of the terms of a key among `ACTIVE_KEYS`: its id, a space, and all facts that a request reads of it
 * and its workspace. Its permissions are included, because a database that was restored, or has lost its last
 * commits, reuses revisions that other instances remember.
 */
export const TERMS = `k.id || ' ' || row(k.revision, k.context -> 'permissions', w.plan, w.default_from, w.default_reply_to)::text`;
