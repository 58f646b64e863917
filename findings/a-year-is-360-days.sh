#!/bin/sh
# PostgreSQL 18.6 (PGlite 0.5.16, @electric-sql/pglite, npm) on Node.
#
# Guess: two intervals that are equal have the same `extract(epoch from …)`, and twelve months are twelve times as long as one.
# Seen:  `interval '1 year' = interval '360 days'`, and DISTINCT keeps one of the two; as seconds they are 365.25 and 360 days. Eleven months
#        have 330 days of seconds and twelve have 365.25: a plan of twelve months that is charged by its seconds has a month of 35 days.
set -eu
cd "$(mktemp -d)"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund @electric-sql/pglite@0.5.16
cat > see.mjs <<'JS'
import { PGlite } from '@electric-sql/pglite';
const db = new PGlite();
const { rows } = await db.query(`
  select span, (extract(epoch from span::interval) / 86400)::float8 as days, span::interval = interval '360 days' as "isEqual",
    (timestamptz '2026-01-01Z' + span::interval)::date::text as later
  from unnest(array['11 months', '12 months', '1 year', '360 days']) span`);
for (const { span, days, isEqual, later } of rows)
  console.log(`${span}: ${days} days, ${isEqual ? '' : 'not '}equal to 360 days, from 2026-01-01 to ${later}`);
const { rows: [{ count }] } = await db.query(`select count(distinct i) from (values (interval '1 year'), (interval '360 days')) v(i)`);
console.log(`distinct: ${count}`);
await db.close();
JS
node --no-warnings see.mjs | tee seen
cat > expected <<'TEXT'
11 months: 330 days, not equal to 360 days, from 2026-01-01 to 2026-12-01
12 months: 365.25 days, equal to 360 days, from 2026-01-01 to 2027-01-01
1 year: 365.25 days, equal to 360 days, from 2026-01-01 to 2027-01-01
360 days: 360 days, equal to 360 days, from 2026-01-01 to 2026-12-27
distinct: 1
TEXT
diff expected seen
echo 'As expected.'
