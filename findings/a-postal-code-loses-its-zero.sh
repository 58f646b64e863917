#!/bin/sh
# xlsx2csv 0.7.8 (Debian 12: xlsx2csv 1:0.7.8-1) on Python 3; exceljs 4.4.0 and xlsx 0.18.5 (npm) on Node.
#
# Guess: a postal code that Excel shows as 01234, by its own format for postal codes `00000`, is 01234 in the CSV, as Excel saves it.
# Seen:  xlsx2csv and exceljs write 1234; a telephone number in the format `000000000`, which shows 030123456, is 30123456. xlsx writes both
#        as they are shown. xlsx2csv writes the date in the same row in its format.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
apt-get download -qq xlsx2csv=1:0.7.8-1 2>apt.log
for package in *.deb; do dpkg -x "$package" root; done
npm init -y >/dev/null
npm install --silent --no-audit --no-fund exceljs@4.4.0 xlsx@0.18.5 2>npm.log
cat > see.cjs <<'JS'
const { Workbook } = require('exceljs');
const { readFile, utils } = require('xlsx');
const list = new Workbook();
const sheet = list.addWorksheet('Contacts');
const row = sheet.addRow(['Ann', 1234, 30123456, new Date('2026-11-30T00:00:00Z')]);
row.getCell(2).numFmt = '00000';
row.getCell(3).numFmt = '000000000';
row.getCell(4).numFmt = 'dd.mm.yyyy';
(async () => {
  await list.xlsx.writeFile('contacts.xlsx');
  console.log(`exceljs: ${await list.csv.writeBuffer({ dateFormat: 'DD.MM.YYYY' })}`);
  const { Sheets } = readFile('contacts.xlsx');
  console.log(`xlsx: ${utils.sheet_to_csv(Sheets.Contacts).trim()}`);
})();
JS
{ node --no-warnings see.cjs; printf 'xlsx2csv: '; python3 root/usr/bin/xlsx2csv contacts.xlsx; } | tee seen
cat > expected <<'TEXT'
exceljs: Ann,1234,30123456,30.11.2026
xlsx: Ann,01234,030123456,46356
xlsx2csv: Ann,1234,30123456,30.11.2026
TEXT
diff expected seen
echo 'As expected.'
