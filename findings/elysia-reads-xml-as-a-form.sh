#!/bin/sh
# elysia 1.4.30 (npm) on Node, by `app.handle`.
#
# Guess: a body of application/json is read whatever the letters of its type (RFC 9110, 8.3.1), and so is one of `+json`; a type that Elysia
#        does not know, such as application/xml, is left as a text or as nothing.
# Seen:  it looks at one letter of the type: application/xml and application/x-ndjson are read as a form, and their text becomes the names
#        of fields. `Application/JSON` and application/vnd.api+json are no body at all, without an error, and text/json is a text.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund elysia@1.4.30
cat > see.mjs <<'JS'
import { Elysia } from 'elysia';
const app = new Elysia().post('/', ({ body }) => ({ body: body ?? 'nothing' }));
for (const [type, body] of [['application/json', '{"a":1}'], ['Application/JSON', '{"a":1}'], ['application/vnd.api+json', '{"a":1}'],
  ['text/json', '{"a":1}'], ['application/xml', '<order id="1">2 lamps</order>'], ['application/x-ndjson', '{"a":1}\n{"a":2}\n']]) {
  const answer = await app.handle(new Request('http://app.example/', { method: 'POST', headers: { 'content-type': type }, body }));
  console.log(`${type}: ${answer.status} ${await answer.text()}`);
}
JS
node --no-warnings see.mjs | tee seen
cat > expected <<'TEXT'
application/json: 200 {"body":{"a":1}}
Application/JSON: 200 {"body":"nothing"}
application/vnd.api+json: 200 {"body":"nothing"}
text/json: 200 {"body":"{\"a\":1}"}
application/xml: 200 {"body":{"<order id":"\"1\">2 lamps</order>"}}
application/x-ndjson: 200 {"body":{"{\"a\":1}\n{\"a\":2}\n":""}}
TEXT
diff expected seen
echo 'As expected.'
