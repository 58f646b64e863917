#!/bin/sh
# drizzle-orm 0.45.4 with PGlite 0.5.16 (npm) on Node.
#
# Guess: a text in a `jsonb()` column comes back as the text that it was: '42' is '42', as the database has it (`jsonb_typeof`: string).
# Seen:  the driver parses the JSON, and the column parses a text once more: '42' becomes the number 42, 'true' true, 'null' null, '[1]' a
#        list, and a number of 20 digits another number. '007' and 'Ada' are no JSON, and stay. A text inside of an object stays too.
set -eu
cd "$(mktemp -d)"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund drizzle-orm@0.45.4 @electric-sql/pglite@0.5.16
cat > see.mjs <<'JS'
import { PGlite } from '@electric-sql/pglite';
import { jsonb, pgTable, serial } from 'drizzle-orm/pg-core';
import { drizzle } from 'drizzle-orm/pglite';
const engine = new PGlite();
await engine.exec('create table facts (id serial primary key, value jsonb)');
const facts = pgTable('facts', { id: serial('id').primaryKey(), value: jsonb('value') });
const orm = drizzle(engine);
for (const value of ['42', 'true', 'null', '[1]', '12345678901234567890', '007', 'Ada', { zip: '42' }])
  await orm.insert(facts).values({ value });
const { rows } = await engine.query('select value, jsonb_typeof(value) as type from facts order by id');
for (const [index, { value }] of (await orm.select().from(facts).orderBy(facts.id)).entries())
  console.log(`${rows[index].type} ${JSON.stringify(rows[index].value)} is read as ${JSON.stringify(value)}`);
await engine.close();
JS
node --no-warnings see.mjs | tee seen
cat > expected <<'TEXT'
string "42" is read as 42
string "true" is read as true
string "null" is read as null
string "[1]" is read as [1]
string "12345678901234567890" is read as 12345678901234567000
string "007" is read as "007"
string "Ada" is read as "Ada"
object {"zip":"42"} is read as {"zip":"42"}
TEXT
diff expected seen
echo 'As expected.'
