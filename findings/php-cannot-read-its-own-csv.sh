#!/bin/sh
# PHP 8.2 (Debian 12), the module csv of Python 3, and papaparse 5.7.1 (npm) on Node.
#
# Guess: `fgetcsv` reads what `fputcsv` wrote, as any other reader of CSV does.
# Seen:  a quotation mark behind a backslash is not doubled. A text that ends with a backslash (`C:\`) takes the rest of the file into its
#        cell when PHP reads it back, without an error; a text with `\"` and a comma is two cells for the other readers. With
#        `escape: ''`, all three read the same.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
command -v php >/dev/null || apt-get install -yqq php-cli >/dev/null
npm init -y >/dev/null
npm install --silent --no-audit --no-fund papaparse@5.7.1
cat > see.php <<'PHP'
<?php
$rows = [['Ann', 'C:\\'], ['Ben', 'says \\"yes\\", now'], ['Cleo', 'fine']];
foreach (['default' => '\\', 'none' => ''] as $name => $escape) {
    $file = fopen("$name.csv", 'w+');
    foreach ($rows as $row) fputcsv($file, $row, ',', '"', $escape);
    rewind($file);
    $read = [];
    while ($row = fgetcsv($file, null, ',', '"', $escape)) $read[] = $row;
    echo "PHP, $name: ", json_encode($read), $read === $rows ? ", the same\n" : "\n";
}
PHP
cat > see.py <<'PY'
import csv, json, sys
print('Python:', json.dumps(list(csv.reader(open(sys.argv[1], newline='')))))
PY
cat > see.cjs <<'JS'
const { data } = require('papaparse').parse(require('node:fs').readFileSync(process.argv[2], 'utf8').trim());
console.log(`papaparse: ${JSON.stringify(data)}`);
JS
{
  php see.php
  for name in default none; do echo "$name:"; python3 see.py "$name.csv"; node see.cjs "$name.csv"; done
} | tee seen
cat > expected <<'TEXT'
PHP, default: [["Ann","C:\\\"\nBen,says \\\"yes\\\""," now\""],["Cleo","fine"]]
PHP, none: [["Ann","C:\\"],["Ben","says \\\"yes\\\", now"],["Cleo","fine"]], the same
default:
Python: [["Ann", "C:\\"], ["Ben", "says \\yes\\\"", " now\""], ["Cleo", "fine"]]
papaparse: [["Ann","C:\\"],["Ben","says \\\"yes\\"," now\""],["Cleo","fine"]]
none:
Python: [["Ann", "C:\\"], ["Ben", "says \\\"yes\\\", now"], ["Cleo", "fine"]]
papaparse: [["Ann","C:\\"],["Ben","says \\\"yes\\\", now"],["Cleo","fine"]]
TEXT
diff expected seen
echo 'As expected.'
