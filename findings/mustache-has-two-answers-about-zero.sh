#!/bin/sh
# mustache 4.2.0 (npm) on Node, ruby-mustache 1.1.1-2 and python3-pystache 0.6.0-1 (Debian 12, unpacked and not installed).
#
# Guess: one template with one set of data gives one text in the languages of Mustache, which share a specification with tests.
# Seen:  0 is false in JavaScript and Python, and true in Ruby: there a receipt without a discount says "You save 0". An empty text is
#        both in Ruby: the section and its opposite are written, "Note: .No note.". A value that is null is nothing for two of them, and
#        "None" for Python: "Hello None". JavaScript writes `&#x2F;` for each slash of a link, which a plain text shows as it is.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
command -v ruby >/dev/null || apt-get install -yqq ruby >/dev/null
apt-get download -qq ruby-mustache=1.1.1-2 python3-pystache=0.6.0-1 2>apt.log
for package in *.deb; do dpkg -x "$package" root; done
npm init -y >/dev/null
npm install --silent --no-audit --no-fund mustache@4.2.0
cat > template <<'TEXT'
Hello {{name}}. {{#saved}}You save {{saved}}.{{/saved}}{{^saved}}Full price.{{/saved}} {{#note}}Note: {{note}}.{{/note}}{{^note}}No note.{{/note}} {{link}}
TEXT
cat > see.mjs <<'JS'
import { readFileSync } from 'node:fs';
import mustache from 'mustache';
process.stdout.write(mustache.render(readFileSync('template', 'utf8'), { name: null, saved: 0, note: '', link: 'https://shop.example/' }));
JS
cat > see.rb <<'RB'
require 'mustache'
print Mustache.render(File.read('template'), name: nil, saved: 0, note: '', link: 'https://shop.example/')
RB
cat > see.py <<'PY'
import pystache
print(pystache.render(open('template').read(), dict(name=None, saved=0, note='', link='https://shop.example/')), end='')
PY
{
  printf 'JavaScript: ' && node --no-warnings see.mjs
  printf 'Ruby: ' && ruby -I "$(find "$PWD/root" -name mustache.rb -printf '%h\n' | head -1)" see.rb
  printf 'Python: ' && PYTHONPATH=root/usr/lib/python3/dist-packages python3 see.py
} | tee seen
cat > expected <<'TEXT'
JavaScript: Hello . Full price. No note. https:&#x2F;&#x2F;shop.example&#x2F;
Ruby: Hello . You save 0. Note: .No note. https://shop.example/
Python: Hello None. Full price. No note. https://shop.example/
TEXT
diff expected seen
echo 'As expected.'
