import type { InsertRule } from '../../http/module.ts';

const OF_CONFIRMATIONS = 'confirmation_id is not null';

/**
 * A mail that asks a person to confirm is accepted in the statement that takes the confirmation from the
 * waiting ones, or not at all: a second try, after a crash or on another instance, finds none waiting, and
 * writes nothing. One that comes twice in a statement is accepted once.
 */
export const confirmationInsertRule: InsertRule = {
  of: 'email',
  columns: 'confirmation_id text',
  conditions: [
    {
      name: 'confirmation_waiting',
      judged: OF_CONFIRMATIONS,
      sql: (input) => `select i.ord from (
    select distinct on (confirmation_id) ord, confirmation_id from ${input} where ${OF_CONFIRMATIONS} order by confirmation_id, ord
  ) i cross join lateral (select from confirmations w where w.id = i.confirmation_id for update) w`,
    },
  ],
  writes: [
    (admitted) =>
      `delete from confirmations w using ${admitted} a where a.${OF_CONFIRMATIONS} and w.id = a.confirmation_id`,
    (admitted) => `insert into contact_activity (contact_id, id, livemode, type, at, subject)
  select w.contact_id, w.id, w.livemode, 'asked', w.asked_at, w.audience_id from ${admitted} a
    join confirmations w on w.id = a.confirmation_id where a.${OF_CONFIRMATIONS}`,
  ],
};
