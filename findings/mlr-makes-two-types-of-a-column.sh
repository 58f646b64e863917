#!/bin/sh
# miller 6.6.0-2+b3 (Debian 12, amd64), unpacked and not installed; JSON.parse of Node.
#
# Guess: `mlr --icsv --ojsonl cat` gives the cells of a column one type, and a cell in quotation marks is a text. What it writes is JSON.
# Seen:  each cell is judged by itself: of two postal codes "01234" is a text and "10115" a number, with quotation marks or without, so that
#        `zip.startsWith` fails for half of the people. Cells such as 0x1f, .5 and 5. are written as they are, and no JSON parser takes
#        the line. With `-S` all cells are texts.
set -eu
cd "$(mktemp -d)"
apt-get download -qq miller=6.6.0-2+b3 2>apt.log
dpkg -x miller_*.deb root
printf '%s\n' zip,code '"01234",a' '"10115",b' '"20095",0x1f' '"20095",.5' '"20095",5.' > people.csv
cat > see.mjs <<'JS'
import { readFileSync } from 'node:fs';
for (const line of readFileSync(0, 'utf8').trim().split('\n')) {
  try {
    const { zip, code } = JSON.parse(line);
    console.log(`${line}: zip is a ${typeof zip}, code a ${typeof code}`);
  } catch {
    console.log(`${line}: no JSON`);
  }
}
JS
for options in --icsv '--icsv -S'; do
  echo "mlr $options"
  root/usr/bin/mlr $options --ojsonl cat people.csv | node see.mjs
done | tee seen
cat > expected <<'TEXT'
mlr --icsv
{"zip": "01234", "code": "a"}: zip is a string, code a string
{"zip": 10115, "code": "b"}: zip is a number, code a string
{"zip": 20095, "code": 0x1f}: no JSON
{"zip": 20095, "code": .5}: no JSON
{"zip": 20095, "code": 5.}: no JSON
mlr --icsv -S
{"zip": "01234", "code": "a"}: zip is a string, code a string
{"zip": "10115", "code": "b"}: zip is a string, code a string
{"zip": "20095", "code": "0x1f"}: zip is a string, code a string
{"zip": "20095", "code": ".5"}: zip is a string, code a string
{"zip": "20095", "code": "5."}: zip is a string, code a string
TEXT
diff expected seen
echo 'As expected.'
