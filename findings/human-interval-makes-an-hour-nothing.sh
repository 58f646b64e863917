#!/bin/sh
# human-interval 2.0.1 (npm), which Agenda reads its intervals with, on Node.
#
# Guess: "an hour" is 3,600,000 milliseconds, as "one hour" is, or NaN, as each text is that it cannot read.
# Seen:  "an hour", "a day", "half an hour" and "every day" are 0: a reminder "in an hour" is due at once. "1h" and "1 Day" are NaN.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund human-interval@2.0.1
cat > see.cjs <<'JS'
const humanInterval = require('human-interval');
for (const text of ['one hour', 'an hour', 'a day', 'half an hour', 'every day', '1 day', '1 Day', '1h', 'tomorrow']) {
  console.log(`${text}: ${humanInterval(text)}`);
}
JS
node --no-warnings see.cjs | tee seen
cat > expected <<'TEXT'
one hour: 3600000
an hour: 0
a day: 0
half an hour: 0
every day: 0
1 day: 86400000
1 Day: NaN
1h: NaN
tomorrow: NaN
TEXT
diff expected seen
echo 'As expected.'
