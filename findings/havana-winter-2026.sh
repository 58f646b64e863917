#!/bin/sh
# moment-timezone 0.6.6 with the IANA data 2026f, and 0.6.0 with 2025b (npm), Node.
#
# Guess: Cuba either keeps its two changes a year, or has given them up for good, as other countries did.
# Seen:  by the data of 2026f Havana does not go back to -05:00 in the autumn of 2026, and does so again in that of 2027: one change
#        is left out. A table from before says 07:00 for 12:00 UTC in December 2026, and is an hour wrong all winter.
set -eu
cd "$(mktemp -d)"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund new@npm:moment-timezone@0.6.6 old@npm:moment-timezone@0.6.0
cat > see.cjs <<'JS'
for (const name of ['old', 'new']) {
  const moment = require(name);
  const at = (day) => moment.tz(`${day}T12:00:00Z`, 'America/Havana').format('YYYY-MM HH:mm Z');
  console.log(name, moment.tz.dataVersion, ['2025-12-15', '2026-07-15', '2026-12-15', '2027-12-15'].map(at).join(' | '));
}
JS
node see.cjs | tee seen
cat > expected <<'TXT'
old 2025b 2025-12 07:00 -05:00 | 2026-07 08:00 -04:00 | 2026-12 07:00 -05:00 | 2027-12 07:00 -05:00
new 2026f 2025-12 07:00 -05:00 | 2026-07 08:00 -04:00 | 2026-12 08:00 -04:00 | 2027-12 07:00 -05:00
TXT
diff expected seen
echo 'As expected.'
