#!/bin/sh
# PostgreSQL 18.6 as PGlite 0.5.16 (npm) on Node.
#
# Guess: the text search finds a subject with "order-4711" by 4711, as it finds "x-ray" by ray.
# Seen:  digits behind a hyphen are a negative number: the words are `order` and `-4711`, which 4711 does not find, nor `order 4711`, nor the
#        phrase. The invoice 4711-0815 has -0815, the date 2026-11-30 has -11 and -30. A slash makes one path of all words beside it, and a
#        full stop without a space one host: lamp/table and sent.Thanks are found by neither word.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund @electric-sql/pglite@0.5.16
cat > see.mjs <<'JS'
import { PGlite } from '@electric-sql/pglite';
const db = new PGlite();
const { rows: [{ version }] } = await db.query('select version()');
console.log(version.split(' ').slice(0, 2).join(' '));
for (const [text, ...searches] of [
  ['x-ray', 'ray'], ['order 4711', '4711', 'order-4711'], ['order-4711', '4711', 'order 4711', '"order 4711"', 'order-4711'],
  ['4711-0815', '4711', '0815'], ['2026-11-30', '2026', '11'], ['lamp/table', 'lamp', 'table'], ['sent.Thanks', 'sent', 'thanks'],
]) {
  const told = [];
  for (const search of searches) {
    const { rows: [{ found }] } = await db.query(
      `select to_tsvector('simple', $1) @@ websearch_to_tsquery('simple', $2) as found`, [text, search]);
    told.push(`${search} ${found ? 'finds it' : 'does not'}`);
  }
  const { rows: [{ words }] } = await db.query(`select to_tsvector('simple', $1)::text as words`, [text]);
  console.log(`${text} is ${words}: ${told.join(', ')}`);
}
JS
node --no-warnings see.mjs | tee seen
cat > expected <<'TEXT'
PostgreSQL 18.6
x-ray is 'ray':3 'x':2 'x-ray':1: ray finds it
order 4711 is '4711':2 'order':1: 4711 finds it, order-4711 does not
order-4711 is '-4711':2 'order':1: 4711 does not, order 4711 does not, "order 4711" does not, order-4711 finds it
4711-0815 is '-0815':2 '4711':1: 4711 finds it, 0815 does not
2026-11-30 is '-11':2 '-30':3 '2026':1: 2026 finds it, 11 does not
lamp/table is 'lamp/table':1: lamp does not, table does not
sent.Thanks is 'sent.thanks':1: sent does not, thanks does not
TEXT
diff expected seen
echo 'As expected.'
