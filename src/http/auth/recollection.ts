/**
 * What was read of a key and its workspace for an earlier request, in place of a look at the database. The commit that carries this
 * request out compares it with the rows as they are then; whatever else is answered, the key is looked up first (`http/admission.ts`). So a
 * key that was revoked or changed, by whomever, counts as it is, and an email costs one trip to the database instead of two.
 */
export class Recollection {
  /** Everything that a request goes by, in the words of `TERMS`. */
  readonly terms: string;
  #judgement: 'none' | 'confirmed' | 'refuted' = 'none';

  constructor(terms: string) {
    this.terms = terms;
  }

  /** A commit has found everything as it was. */
  confirm(): void {
    this.#judgement = 'confirmed';
  }

  /** A commit may have found something else, or there must be a look-up before anything is written; nothing was. */
  refute(): void {
    this.#judgement = 'refuted';
  }

  get isConfirmed(): boolean {
    return this.#judgement === 'confirmed';
  }

  /** True where an answer may follow from what is no longer so. */
  get isRefuted(): boolean {
    return this.#judgement === 'refuted';
  }
}

/** The active key `k` of a workspace `w` that is in use, as SQL: whoever is asked by a key must have it so. */
export const ACTIVE_KEYS = `api_keys k join workspaces w on w.id = k.workspace_id and w.archived_at is null and k.state = 'active'`;

/**
 * SQL of the terms of a key among `ACTIVE_KEYS`: its id, a space, and all that a request reads of it and its workspace. Its permissions
 * are among them, since a database that was restored, or has lost its last commits, counts revisions again that others remember.
 */
export const TERMS = `k.id || ' ' || row(k.revision, k.context -> 'permissions', w.plan, w.default_from, w.default_reply_to)::text`;
