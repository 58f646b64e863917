#!/bin/sh
# PGlite 0.5.17 (@electric-sql/pglite, npm; PostgreSQL 18.7) on Node.
#
# Guess: the text search of PostgreSQL knows addresses of email, so that each is one word: `ann@shop.example` finds the mail of that mailbox.
# Seen:  `+`, `=` and `'` end a word. The mail of ben+ann@shop.example, of a return path and of d'ann@shop.example is found by
#        `ann@shop.example`, another mailbox. With `/` and at an internationalised domain an address is no word: its parts are.
set -eu
cd "$(mktemp -d)"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund @electric-sql/pglite@0.5.17
cat > see.mjs <<'JS'
import { PGlite } from '@electric-sql/pglite';
const db = new PGlite();
for (const address of [
  'ann@shop.example', 'b_c.d-e@shop.example', 'ben+ann@shop.example', 'bounce=ann@shop.example', "d'ann@shop.example",
  'eve/ann@shop.example', 'ann@xn--bcher-kva.example',
]) {
  const { rows: [row] } = await db.query(
    `SELECT array_to_string(tsvector_to_array(to_tsvector('simple', $1)), ' ') AS words,
       to_tsvector('simple', $1) @@ plainto_tsquery('simple', 'ann@shop.example') AS found`,
    [address],
  );
  console.log(`${address}: ${row.words}${row.found ? ', found by ann@shop.example' : ''}`);
}
JS
node --no-warnings see.mjs | tee seen
cat > expected <<'TEXT'
ann@shop.example: ann@shop.example, found by ann@shop.example
b_c.d-e@shop.example: b_c.d-e@shop.example
ben+ann@shop.example: ann@shop.example ben, found by ann@shop.example
bounce=ann@shop.example: ann@shop.example bounce, found by ann@shop.example
d'ann@shop.example: ann@shop.example d, found by ann@shop.example
eve/ann@shop.example: eve/ann shop.example
ann@xn--bcher-kva.example: ann bcher-kva.example xn
TEXT
diff expected seen
echo 'As expected.'
