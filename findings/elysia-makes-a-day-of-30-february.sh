#!/bin/sh
# elysia 1.4.30 and @sinclair/typebox 0.34.52 (npm) on Node.
#
# Guess: `t.Date()` refuses 2026-02-30 and 2026-04-31 as it refuses a 13th month, and `Value.Convert` of TypeBox leaves a text that is no
#        whole number for the check to refuse.
# Seen:  the 30th of February is 2 March for the handler, with or without a time. `Value.Convert` makes 1 of "1.5" for an integer, 0 of "0x10"
#        for a number, and two seconds after 1970 of "2026" for a Date; all of them pass the check.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund elysia@1.4.30 @sinclair/typebox@0.34.52
cat > see.mjs <<'JS'
import { Type } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import { Elysia, t } from 'elysia';
const app = new Elysia().post('/', ({ body }) => body.at.toISOString(), { body: t.Object({ at: t.Date() }) });
for (const at of ['2026-02-28', '2026-02-30', '2026-04-31', '2026-02-30T10:00:00Z', '2026-13-01']) {
  const answer = await app.handle(new Request('http://app.example/', {
    method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ at }),
  }));
  console.log(`${at}: ${answer.status} ${answer.status === 200 ? await answer.text() : ''}`.trim());
}
for (const [name, text] of [['Integer', '1.5'], ['Number', '0x10'], ['Date', '2026']]) {
  const made = Value.Convert(Type[name](), text);
  const verdict = Value.Check(Type[name](), made) ? 'valid' : 'not valid';
  console.log(`${name} of "${text}": ${made instanceof Date ? made.toISOString() : made}, ${verdict}`);
}
JS
node --no-warnings see.mjs | tee seen
cat > expected <<'TEXT'
2026-02-28: 200 2026-02-28T00:00:00.000Z
2026-02-30: 200 2026-03-02T00:00:00.000Z
2026-04-31: 200 2026-05-01T00:00:00.000Z
2026-02-30T10:00:00Z: 200 2026-03-02T10:00:00.000Z
2026-13-01: 422
Integer of "1.5": 1, valid
Number of "0x10": 0, valid
Date of "2026": 1970-01-01T00:00:02.026Z, valid
TEXT
diff expected seen
echo 'As expected.'
