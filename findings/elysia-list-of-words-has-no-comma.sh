#!/bin/sh
# elysia 1.4.30 (npm) on Node, by `app.handle`.
#
# Guess: `t.Array(t.String())` of a query takes `names=Doe%2C%20Jane` as one name, since its comma is encoded; a comma that is not encoded may
#        part two.
# Seen:  both are two words, "Doe" and " Jane", also where the parameter comes twice: no client can send a comma in a list. Without a schema,
#        or with `t.String()`, the comma stays. And `n=1&n=2` is 2, the last one, for a parameter that is no list.
set -eu
cd "$(mktemp -d)"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund elysia@1.4.30
cat > see.mjs <<'JS'
import { Elysia, t } from 'elysia';
const app = new Elysia()
  .get('/list', ({ query }) => query, { query: t.Object({ names: t.Array(t.String()) }) })
  .get('/text', ({ query }) => query, { query: t.Object({ names: t.String() }) })
  .get('/free', ({ query }) => query);
for (const path of ['/list?names=Doe%2C%20Jane', '/list?names=Doe%2C%20Jane&names=Ada', '/text?names=Doe%2C%20Jane', '/free?names=1&names=2'])
  console.log(`${path} ${await (await app.handle(new Request(`http://app.example${path}`))).text()}`);
JS
node --no-warnings see.mjs | tee seen
cat > expected <<'TEXT'
/list?names=Doe%2C%20Jane {"names":["Doe"," Jane"]}
/list?names=Doe%2C%20Jane&names=Ada {"names":["Doe"," Jane","Ada"]}
/text?names=Doe%2C%20Jane {"names":"Doe, Jane"}
/free?names=1&names=2 {"names":"2"}
TEXT
diff expected seen
echo 'As expected.'
