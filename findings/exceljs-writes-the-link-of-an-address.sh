#!/bin/sh
# exceljs 4.4.0 (npm) on Node.
#
# Guess: CSV of a sheet has the text of each cell: Excel makes a link of a typed address, and shows the address.
# Seen:  `csv.writeBuffer` writes the target of the link, `mailto:ann@home.example`, so that no reader of the list finds an address, and the
#        text "Our shop" is its URL. A cell in two styles is a JSON text. Formulas and their results are right.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund exceljs@4.4.0 2>npm.log
cat > see.cjs <<'JS'
const { Workbook } = require('exceljs');
const list = new Workbook();
const sheet = list.addWorksheet('Contacts');
sheet.addRow(['email', 'name', 'total']);
sheet.addRow([{ text: 'ann@home.example', hyperlink: 'mailto:ann@home.example' }, 'Ann Smith', { formula: '40+9', result: 49 }]);
sheet.addRow(['ben@home.example', { richText: [{ text: 'Ben ' }, { font: { bold: true }, text: 'Roe' }] }, 5]);
sheet.addRow([{ text: 'Our shop', hyperlink: 'https://shop.example/' }, '', 0]);
(async () => {
  const read = new Workbook();
  await read.xlsx.load(await list.xlsx.writeBuffer());
  console.log(`shown: ${read.worksheets[0].getColumn(1).values.slice(2).map((cell) => cell.text ?? cell).join(', ')}`);
  console.log(String(await read.csv.writeBuffer()));
})();
JS
node --no-warnings see.cjs | tee seen
cat > expected <<'TEXT'
shown: ann@home.example, ben@home.example, Our shop
email,name,total
mailto:ann@home.example,Ann Smith,49
ben@home.example,"{""richText"":[{""text"":""Ben ""},{""font"":{""bold"":true},""text"":""Roe""}]}",5
https://shop.example/,,0
TEXT
diff expected seen
echo 'As expected.'
