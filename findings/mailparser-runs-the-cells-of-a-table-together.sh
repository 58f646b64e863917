#!/bin/sh
# mailparser 3.14.2 and html-to-text 10.0.1 (npm) on Node.
#
# Guess: the text of a message that is html alone has a space, a tab or a line end between the cells of a table, as a browser copies them.
# Seen:  nothing is between them: two lamps at 49.00 are "Lamp249.00", and an order 12 of 3 pieces is "123". So it is in the text of
#        mailparser and that of html-to-text, which it uses, without options, and so with `<dl>`. Who reads codes, orders or sums from the
#        text reads other ones.
set -eu
cd "$(mktemp -d)"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund mailparser@3.14.2 html-to-text@10.0.1
cat > see.mjs <<'JS'
import { convert } from 'html-to-text';
import { simpleParser } from 'mailparser';
const htmls = [
  '<table><tr><th>Item</th><th>Pieces</th><th>EUR</th></tr><tr><td>Lamp</td><td>2</td><td>49.00</td></tr></table>',
  '<table><tr><td>Your code</td><td>4711</td></tr><tr><td>Order</td><td>12</td><td>3</td></tr></table>',
  '<dl><dt>Room</dt><dd>12</dd><dt>Floor</dt><dd>3</dd></dl>',
];
for (const html of htmls) {
  const { text } = await simpleParser(`MIME-Version: 1.0\r\nContent-Type: text/html\r\n\r\n${html}\r\n`);
  console.log(`mailparser ${JSON.stringify(text)}, html-to-text ${JSON.stringify(convert(html))}`);
}
JS
node --no-warnings see.mjs | tee seen
cat > expected <<'TEXT'
mailparser "ItemPiecesEURLamp249.00", html-to-text "ItemPiecesEURLamp249.00"
mailparser "Your code4711Order123", html-to-text "Your code4711Order123"
mailparser "Room12Floor3", html-to-text "Room12Floor3"
TEXT
diff expected seen
echo 'As expected.'
