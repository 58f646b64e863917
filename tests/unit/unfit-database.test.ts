import { expect, test } from 'bun:test';
import { type Fitness, problemOfFitness } from '../../src/platform/db/server-version.ts';

const FIT: Fitness = {
  encoding: 'UTF8',
  isInUse: false,
  database: 'posthorn',
  role: 'ada',
  schema: 'public',
  mayCreate: true,
};

test.each([
  ['fit', {}, null],
  ['in bytes without an encoding, before its first use', { encoding: 'SQL_ASCII' }, 'needs UTF8'],
  ['in bytes without an encoding, in use', { encoding: 'SQL_ASCII', isInUse: true }, null],
  ['in an encoding without most letters', { encoding: 'LATIN1', isInUse: true }, 'needs UTF8'],
  ['without a schema', { schema: null, mayCreate: false }, 'alter role ada reset search_path'],
  ['of another owner', { mayCreate: false }, 'grant usage, create on schema public to ada.'],
])('a database that is %s', (_, differs, remedy) => {
  const problem = problemOfFitness({ ...FIT, ...differs });
  if (remedy === null) expect(problem).toBeNull();
  else expect(problem).toContain(remedy);
});
