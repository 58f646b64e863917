#!/bin/sh
# node-email-reply-parser 0.1.4, planer 1.2.0 and email-reply-parser 2.3.9 (npm) on Node.
#
# Guess: what a customer writes above a quoted message is left whole by each reader of replies: a list of two lamps and a table, and a
#        journey with the lines From, To and Date.
# Seen:  node-email-reply-parser takes a line with `-` and a letter or digit behind it for a signature, and hides all that follows. planer
#        takes the lines From, To and Date for the header of a quoted message and drops them and all that follows. email-reply-parser keeps
#        both.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund node-email-reply-parser@0.1.4 planer@1.2.0 email-reply-parser@2.3.9
cat > see.cjs <<'JS'
const parse = require('node-email-reply-parser');
const { extractFrom } = require('planer');
const Module = require('email-reply-parser');
const Parser = Module.default ?? Module;
const quoted = '\n\nOn Mon, 30 Nov 2026 at 10:00, Shop <hello@shop.example> wrote:\n> What may we send?\n';
const texts = [
  'Please send me:\n\n-2 lamps\n-1 table\n\nTo my new address, Main Street 5.',
  'We travel as follows.\n\nFrom: Berlin\nTo: Rome\nDate: Monday\n\nPlease book two seats.',
];
for (const text of texts) {
  console.log(`node-email-reply-parser: ${JSON.stringify(parse(text + quoted).getVisibleText().trim())}`);
  console.log(`planer: ${JSON.stringify(extractFrom(text + quoted, 'text/plain').trim())}`);
  console.log(`email-reply-parser: ${JSON.stringify(new Parser().read(text + quoted).getVisibleText().trim())}`);
}
JS
node --no-warnings see.cjs | tee seen
cat > expected <<'TEXT'
node-email-reply-parser: "Please send me:"
planer: "Please send me:\n\n-2 lamps\n-1 table\n\nTo my new address, Main Street 5."
email-reply-parser: "Please send me:\n\n-2 lamps\n-1 table\n\nTo my new address, Main Street 5."
node-email-reply-parser: "We travel as follows.\n\nFrom: Berlin\nTo: Rome\nDate: Monday\n\nPlease book two seats."
planer: "We travel as follows."
email-reply-parser: "We travel as follows.\n\nFrom: Berlin\nTo: Rome\nDate: Monday\n\nPlease book two seats."
TEXT
diff expected seen
echo 'As expected.'
