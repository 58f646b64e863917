#!/bin/sh
# libphonenumber-js 1.13.16 (npm) on Node.
#
# Guess: 4915112345678 with the country DE, as a sheet stores a German number without its plus, is read as +4915112345678, or is not valid.
# Seen:  it is +494915112345678, and valid: the code of the country stands there twice, as 4915 begins a German number too. The numbers of
#        France, Austria, Great Britain, Italy, the Netherlands and the United States are read right in the same form.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund libphonenumber-js@1.13.16
cat > see.cjs <<'JS'
const { parsePhoneNumber } = require('libphonenumber-js');
const max = require('libphonenumber-js/max');
for (const [text, country] of [['4915112345678', 'DE'], ['491711234567', 'DE'], ['33612345678', 'FR'], ['436641234567', 'AT'],
  ['447911123456', 'GB'], ['393471234567', 'IT'], ['31612345678', 'NL'], ['12125550100', 'US']]) {
  const number = parsePhoneNumber(text, country);
  console.log(`${country} ${text}: ${number.number} ${number.isValid()}, by all metadata ${max.parsePhoneNumber(text, country).isValid()}`);
}
JS
node --no-warnings see.cjs | tee seen
cat > expected <<'TEXT'
DE 4915112345678: +494915112345678 true, by all metadata true
DE 491711234567: +49491711234567 true, by all metadata true
FR 33612345678: +33612345678 true, by all metadata true
AT 436641234567: +436641234567 true, by all metadata true
GB 447911123456: +447911123456 true, by all metadata true
IT 393471234567: +393471234567 true, by all metadata true
NL 31612345678: +31612345678 true, by all metadata true
US 12125550100: +12125550100 true, by all metadata true
TEXT
diff expected seen
echo 'As expected.'
