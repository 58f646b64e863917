import { expect, test } from 'bun:test';
import { isDuplicate, isDuplicateIn, isRetriable } from '../../src/platform/db/sqlstate.ts';

const KEY = 'idempotency_keys_pkey';
/** An error as the driver gives it, within the one that Drizzle makes of it. */
const violation = (constraint: string, field: string, code = '23505'): Error =>
  new Error('Failed query', {
    cause: Object.assign(new Error('duplicate key'), { code, [field]: constraint }),
  });

test.each(['constraint_name', 'constraint'])('a duplicate is known by its constraint in %s', (field) => {
  expect(isDuplicate(violation(KEY, field), KEY)).toBe(true);
  expect(isDuplicate(violation('domains_by_name', field), KEY)).toBe(false);
  expect(isDuplicate(violation('domains_by_name', field))).toBe(true);
  expect(isDuplicate(violation(KEY, field, '23503'), KEY)).toBe(false);
});

test('a duplicate on a shard is known, whose constraint ends in the number of the shard', () => {
  for (const shard of ['102008', '9', '18446744073709551615'])
    expect(isDuplicate(violation(`${KEY}_${shard}`, 'constraint_name'), KEY)).toBe(true);
  expect(isDuplicateIn(violation('email_turns_pkey_102040', 'constraint_name'), 'email_turns')).toBe(true);
});

test('a name that only begins alike is another constraint', () => {
  for (const other of [
    `${KEY}_`,
    `${KEY}1`,
    `${KEY}_by_day`,
    `${KEY}_102008_1`,
    `old_${KEY}`,
    `${KEY}_1\n`,
    '',
  ])
    expect(isDuplicate(violation(other, 'constraint_name'), KEY)).toBe(false);
});

test.each(['23505', 'XX000'])('what a node refused is known by its message, with the code %s', (code) => {
  const told = (name: string) =>
    Object.assign(new Error(`duplicate key value violates unique constraint "${name}"`), { code });
  expect(isDuplicate(told('idempotency_keys_pkey_102058'), 'idempotency_keys_pkey')).toBe(true);
  expect(isDuplicate(told('email_turns_20261124_pkey_102106'), 'idempotency_keys_pkey')).toBe(false);
  expect(isDuplicateIn(told('email_turns_20261124_pkey_102106'), 'email_turns')).toBe(true);
});

test('another error without a code is no duplicate', () => {
  const told = Object.assign(new Error('could not find the shard'), { code: 'XX000' });
  expect(isDuplicate(told)).toBe(false);
});

test.each(['23514', 'XX000'])('a row that a partition overtook is tried again, with the code %s', (code) => {
  const told = (says: string) => Object.assign(new Error(says), { code });
  expect(isRetriable(told('new row for relation "email_turns_default" violates partition constraint'))).toBe(
    true,
  );
  const named = Object.assign(told('new row for relation "days" violates check constraint "small"'), {
    constraint_name: 'small',
  });
  expect(isRetriable(named)).toBe(false);
});
