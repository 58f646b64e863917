#!/bin/sh
# PGlite 0.5.16 (@electric-sql/pglite, npm; PostgreSQL 18.6) on Node.
#
# Guess: `db.listen('jobDone', …)` hears `pg_notify('jobDone', …)`.
# Seen:  the name is put into LISTEN without quotes, so that PostgreSQL makes it `jobdone`: it hears `pg_notify('jobdone', …)`, and of
#        `pg_notify('jobDone', …)` nothing, without an error. `db.listen('"jobDone"', …)` hears it.
set -eu
cd "$(mktemp -d)"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund @electric-sql/pglite@0.5.16
cat > see.mjs <<'JS'
import { PGlite } from '@electric-sql/pglite';
const db = new PGlite();
for (const name of ['jobDone', '"jobDone"']) {
  const heard = [];
  const unlisten = await db.listen(name, (payload) => heard.push(payload));
  const { rows } = await db.query('select pg_listening_channels() as channel');
  for (const channel of ['jobDone', 'jobdone']) await db.query('select pg_notify($1, $1)', [channel]);
  await db.query('select 1');
  console.log(`${name} is ${rows[0].channel}, heard ${heard.join(' ') || 'nothing'}`);
  await unlisten();
}
await db.close();
JS
node --no-warnings see.mjs | tee seen
cat > expected <<'TEXT'
jobDone is jobdone, heard jobdone
"jobDone" is jobDone, heard jobDone
TEXT
diff expected seen
echo 'As expected.'
