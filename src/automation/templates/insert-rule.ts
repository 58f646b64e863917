import type { InsertRule } from '../../http/module.ts';

/**
 * An email that was made of a template as it was remembered is accepted only if the template is still the
 * same: after the answer to a change, emails get the new version on every instance, without a look at the
 * template before each email.
 */
export const templateInsertRule: InsertRule = {
  of: 'email',
  columns: 'template_revision integer',
  conditions: [
    {
      name: 'template_unchanged',
      judged: 'template_revision is not null',
      sql: (input) => `select i.ord from ${input} i cross join lateral (
    select from templates t where t.id = i.template_id and t.revision = i.template_revision
  ) t where i.template_revision is not null`,
    },
  ],
  writes: [],
};
