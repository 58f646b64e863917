import { ACTIVE_KEYS, TERMS } from '../../http/auth/recollection.ts';
import { environmentLimit } from '../../http/limits/environment-limit.ts';
import type { InsertRule } from '../../http/module.ts';

/**
 * An email of a remembered key is accepted only if the key and its workspace are still the same: a revocation
 * takes effect once it is answered, on every instance, without a look-up of the key before each email.
 */
export const keyInsertRule: InsertRule = {
  of: 'email',
  columns: 'caller_terms text',
  conditions: [
    {
      name: 'caller_unchanged',
      judged: 'caller_terms is not null',
      // A batch has many emails of few keys, so each key is looked up once. As a truth value, the list is
      // hashed; without that, PostgreSQL would join it in a loop over both.
      sql: (input) => `select ord from ${input} where caller_terms is not null and (caller_terms in (
    select ${TERMS} from ${ACTIVE_KEYS} where k.id = any (array(
      select distinct split_part(caller_terms, ' ', 1) from ${input} where caller_terms is not null
    ))
  )) is true`,
    },
  ],
  writes: [],
};

/** A key is made where fewer than `most_api_keys` of its environment are active. */
export const apiKeyLimit = environmentLimit({
  of: 'apiKey',
  name: 'api_key_places',
  most: 'most_api_keys',
  count: 'api_keys_active',
});
