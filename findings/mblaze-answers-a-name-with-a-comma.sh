#!/bin/sh
# mblaze 1.1 (Debian 12: mblaze 1.1-1, unpacked and not installed); Python 3 and postal-mime 4.0.0 (npm) on Node read the answer.
#
# Guess: `mrep` answers a message of "Müller, Jürgen", whose name is one encoded word, to that name and address.
# Seen:  mblaze decodes the name before it looks for commas: `maddr` names the sender Jürgen, and the answer goes to
#        `Müller, Jürgen <…>` without quotation marks, whose comma is in the message that leaves, between two words. Python reads one
#        recipient there, postal-mime two, and the first has no address. The name without accents, in quotation marks, is right.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
apt-get download -qq mblaze=1.1-1 2>apt.log
for package in *.deb; do dpkg -x "$package" root; done
npm init -y >/dev/null
npm install --silent --no-audit --no-fund postal-mime@4.0.0
export PATH="$PWD/root/usr/bin:$PATH" MBLAZE="$PWD/mblaze" EDITOR=true VISUAL=true LC_ALL=C.UTF-8
mkdir mblaze
touch mblaze/seq
message() {
  printf 'From: %s <juergen@shop.example>\nTo: ann@home.example\nSubject: Hello\nMessage-ID: <1@shop.example>\nDate: Mon, 30 Nov 2026 12:00:00 +0000\n\nHello.\n' "$2" > "$1"
}
message encoded '=?UTF-8?Q?M=C3=BCller=2C_J=C3=BCrgen?='
message quoted '"Muller, Jurgen"'
cat > see.py <<'PY'
import email
from email.policy import default
message = email.message_from_binary_file(open('sent', 'rb'), policy=default)
print('Python: ' + '; '.join(f'{each.display_name or "-"} <{each.addr_spec}>' for each in message['to'].addresses))
PY
cat > see.mjs <<'JS'
import { readFileSync } from 'node:fs';
import PostalMime from 'postal-mime';
const { to } = await PostalMime.parse(readFileSync('sent'));
console.log(`postal-mime: ${to.map(({ name, address }) => `${name} <${address}>`).join('; ')}`);
JS
for each in encoded quoted; do
  echo "$each: $(maddr -h from "./$each")"
  echo c | mrep "$PWD/$each" >log 2>&1 || true
  grep '^To:' snd.0
  mmime < snd.0 > sent && grep '^To:' sent
  PYTHONIOENCODING=utf-8 python3 see.py
  node --no-warnings see.mjs
  rm snd.0*
done | tee seen
cat > expected <<'TEXT'
encoded: Jürgen <juergen@shop.example>
To: Müller, Jürgen <juergen@shop.example>
To: =?UTF-8?Q?M=C3=BCller,?= =?UTF-8?Q?_J=C3=BCrgen?= <juergen@shop.example>
Python: Müller,  Jürgen <juergen@shop.example>
postal-mime: =?UTF-8?Q?M=C3=BCller <>; ?=  Jürgen <juergen@shop.example>
quoted: "Muller, Jurgen" <juergen@shop.example>
To: "Muller, Jurgen" <juergen@shop.example>
To: "Muller, Jurgen" <juergen@shop.example>
Python: Muller, Jurgen <juergen@shop.example>
postal-mime: Muller, Jurgen <juergen@shop.example>
TEXT
diff expected seen
echo 'As expected.'
