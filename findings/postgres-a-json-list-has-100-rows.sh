#!/bin/sh
# PostgreSQL 18.6 in PGlite 0.5.16 (npm), on Node. Batches of a dozen rows often come as one JSON parameter or as arrays.
#
# Guess: whether a correlated EXISTS on a primary key is answered by lookups or by reading the whole table depends on the number of
#        rows in the list, and not on the form in which the list comes.
# Seen:  a list in json_to_recordset always counts as 100 rows, one in unnest as many as it has. Twelve rows against a table of
#        20,000: by JSON the EXISTS reads all 20,000 rows into a hash, by arrays it makes 12 lookups. At 60,000 both look up.
set -eu
cd "$(mktemp -d)"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund @electric-sql/pglite@0.5.16
cat > see.mjs <<'JS'
import { PGlite } from '@electric-sql/pglite';
const db = new PGlite();
const ids = Array.from({ length: 12 }, (_, n) => n + 1);
const lists = {
  json: `json_to_recordset('${JSON.stringify(ids.map((id) => ({ id })))}') as r(id int)`,
  arrays: `unnest(array[${ids}]) as r(id)`,
};
for (const size of [20_000, 60_000]) {
  await db.exec(`drop table if exists people; create table people (id int primary key);
    insert into people select generate_series(1, ${size}); analyze people`);
  for (const [form, list] of Object.entries(lists)) {
    const { rows } = await db.query(`explain (format json) select id, exists (select from people p where p.id = r.id) from ${list}`);
    const { Plan: plan } = rows[0]['QUERY PLAN'][0];
    console.log(`${size} ${form}: counts as ${plan['Plan Rows']}, ${plan.Plans[0]['Node Type']}`);
  }
}
JS
node see.mjs | tee seen
cat > expected <<'TEXT'
20000 json: counts as 100, Seq Scan
20000 arrays: counts as 12, Index Only Scan
60000 json: counts as 100, Index Only Scan
60000 arrays: counts as 12, Index Only Scan
TEXT
diff expected seen
echo 'As expected.'
