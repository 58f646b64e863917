#!/bin/sh
# parse-full-name 1.2.7 and humanparser 2.7.0 (npm) on Node; nameparser 1.1.2 (python3-nameparser 1.1.2-1 of Debian 12, unpacked and not
# installed) for comparison.
#
# Guess: two words are a first name and a last name, and a title is one at the beginning or behind a comma.
# Seen:  parse-full-name takes the last word Judge for a title and makes the first name the last one: "Ann Judge" is greeted as Judge Ann,
#        though "Dean Martin" is right. humanparser takes the surname Ma, of millions in China, for a degree, so that Jack Ma has no last
#        name. nameparser reads all of them right.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
apt-get download -qq python3-nameparser=1.1.2-1 2>apt.log
for package in *.deb; do dpkg -x "$package" root; done
npm init -y >/dev/null
npm install --silent --no-audit --no-fund parse-full-name@1.2.7 humanparser@2.7.0
cat > names <<'TEXT'
Jane Doe
Ann Judge
Dean Martin
Jack Ma
TEXT
cat > see.mjs <<'JS'
import { readFileSync } from 'node:fs';
import humanparser from 'humanparser';
import { parseFullName } from 'parse-full-name';
const told = (...parts) => parts.map((part) => part || '-').join(' / ');
for (const name of readFileSync('names', 'utf8').trim().split('\n')) {
  const one = parseFullName(name);
  const other = humanparser.parseName(name);
  console.log(`${name}: ${told(one.title, one.first, one.last, one.suffix)}; ${told(other.salutation, other.firstName, other.lastName, other.suffix)}`);
}
JS
cat > see.py <<'PY'
from nameparser import HumanName
for line in open('names'):
    name = HumanName(line.strip())
    print(f'{line.strip()}: ' + ' / '.join(part or '-' for part in [name.title, name.first, name.last, name.suffix]))
PY
{
  echo 'parse-full-name; humanparser:'
  node --no-warnings see.mjs
  echo 'nameparser:'
  PYTHONPATH=root/usr/lib/python3/dist-packages python3 see.py
} | tee seen
cat > expected <<'TEXT'
parse-full-name; humanparser:
Jane Doe: - / Jane / Doe / -; - / Jane / Doe / -
Ann Judge: Judge / - / Ann / -; - / Ann / Judge / -
Dean Martin: - / Dean / Martin / -; - / Dean / Martin / -
Jack Ma: - / Jack / Ma / -; - / Jack / - / Ma
nameparser:
Jane Doe: - / Jane / Doe / -
Ann Judge: - / Ann / Judge / -
Dean Martin: - / Dean / Martin / -
Jack Ma: - / Jack / Ma / -
TEXT
diff expected seen
echo 'As expected.'
