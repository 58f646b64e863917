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

/** The active key `k` of a workspace `w` in use, as SQL, for statements that act on behalf of a key. */
export const ACTIVE_KEYS = `api_keys k join workspaces w on w.id = k.workspace_id and w.archived_at is null and k.state = 'active'`;

/**
 * SQL of the terms of a key among `ACTIVE_KEYS`: its id, a space, and all facts that a request reads of it
 * and its workspace. Its permissions are included, because a database that was restored, or has lost its last
 * commits, reuses revisions that other instances remember.
 */
export const TERMS = `k.id || ' ' || row(k.revision, k.context -> 'permissions', w.plan, w.default_from, w.default_reply_to)::text`;
