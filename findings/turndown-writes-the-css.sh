#!/bin/sh
# turndown 7.2.4 (npm) on Node.
#
# Guess: the Markdown of an email's html has its text: not its style sheet and not its title, and the cells of a row beside one another.
# Seen:  the rules of `<style>` and the text of `<title>` are the first lines, each cell is a paragraph of its row alone, and the link around
#        a button's heading has line ends inside its brackets, which is no link in Markdown.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund turndown@7.2.4 commonmark@0.31.2
cat > see.cjs <<'JS'
const { HtmlRenderer, Parser } = require('commonmark');
const Turndown = require('turndown');
const turndown = new Turndown();
const show = (html) => console.log(JSON.stringify(turndown.turndown(html)));
show('<html><head><title>Receipt</title><style>p { color: red }</style></head><body><p>Hello Ann</p></body></html>');
show('<table><tr><td>Lamp</td><td>2</td><td>49.00</td></tr><tr><td>Table</td><td>1</td><td>120.00</td></tr></table>');
const button = turndown.turndown('<a href="https://shop.example/pay"><h2>Pay now</h2></a>');
console.log(JSON.stringify(button));
console.log(JSON.stringify(new HtmlRenderer().render(new Parser().parse(button))));
JS
node --no-warnings see.cjs | tee seen
cat > expected <<'TEXT'
"Receiptp { color: red }\n\nHello Ann"
"Lamp\n\n2\n\n49.00\n\nTable\n\n1\n\n120.00"
"[\n\nPay now\n-------\n\n](https://shop.example/pay)"
"<p>[</p>\n<h2>Pay now</h2>\n<p>](https://shop.example/pay)</p>\n"
TEXT
diff expected seen
echo 'As expected.'
