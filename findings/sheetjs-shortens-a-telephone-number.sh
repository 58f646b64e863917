#!/bin/sh
# SheetJS 0.18.5 (xlsx) and ExcelJS 4.4.0 (npm) on Node.
#
# Guess: a cell with the number 491512345678, as Excel makes it of a telephone number, is 491512345678 in the CSV of the sheet.
# Seen:  `sheet_to_csv` of SheetJS writes numbers of twelve digits or more as its narrow cells would show them: 4.91512E+11. All German
#        mobile numbers become a few, and customers with longer numbers become one. So does `sheet_to_json` with `raw: false`, which
#        people use for the sake of dates; eleven digits stay. ExcelJS writes all digits of the same file.
set -eu
cd "$(mktemp -d)"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund xlsx@0.18.5 exceljs@4.4.0
cat > see.mjs <<'JS'
import ExcelJS from 'exceljs';
import XLSX from 'xlsx';
const book = new ExcelJS.Workbook();
book.addWorksheet('Contacts').addRows([
  ['email', 'phone', 'customer'],
  ['ann@home.example', 491512345678, 1000200030001],
  ['ben@home.example', 491512345999, 1000200030002],
  ['eve@home.example', 49301234567, 12],
]);
const octets = await book.xlsx.writeBuffer();
const sheet = XLSX.read(octets).Sheets.Contacts;
console.log(XLSX.utils.sheet_to_csv(sheet));
for (const { phone } of XLSX.utils.sheet_to_json(sheet, { raw: false })) console.log(phone);
const read = new ExcelJS.Workbook();
await read.xlsx.load(octets);
console.log(String(await read.csv.writeBuffer()));
JS
node --no-warnings see.mjs | grep . | tee seen
cat > expected <<'TEXT'
email,phone,customer
ann@home.example,4.91512E+11,1.0002E+12
ben@home.example,4.91512E+11,1.0002E+12
eve@home.example,49301234567,12
4.91512E+11
4.91512E+11
49301234567
email,phone,customer
ann@home.example,491512345678,1000200030001
ben@home.example,491512345999,1000200030002
eve@home.example,49301234567,12
TEXT
diff expected seen
echo 'As expected.'
