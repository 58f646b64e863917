#!/bin/sh
# node-ical 0.26.1 beside ical.js 2.2.1 (npm), on Node.
#
# Guess: an event on 31 January with FREQ=MONTHLY comes in the months that have a 31st, since RFC 5545 (3.3.10) ignores dates that are
#        none; a reader that takes the last day of a short month returns to the 31st in March.
# Seen:  ical.js skips the short months. node-ical has 28 February, and then the 28th of each month for good; with BYMONTHDAY=31 beside it,
#        it skips too. A yearly event of 29 February, which RFC 5545 has in leap years alone, is on 28 February every year in node-ical, and
#        on 1 March every year in ical.js.
set -eu
cd "$(mktemp -d)"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund node-ical@0.26.1 ical.js@2.2.1
cat > see.mjs <<'JS'
import ICAL from 'ical.js';
import nodeIcal from 'node-ical';
const cases = [['20260131', 'FREQ=MONTHLY'], ['20260131', 'FREQ=MONTHLY;BYMONTHDAY=31'], ['20280229', 'FREQ=YEARLY']];
for (const [day, rule] of cases) {
  const text = ['BEGIN:VCALENDAR', 'BEGIN:VEVENT', 'UID:1', `DTSTART:${day}T100000Z`, `RRULE:${rule};COUNT=4`, 'END:VEVENT', 'END:VCALENDAR', '']
    .join('\r\n');
  const days = [];
  const iterator = new ICAL.Event(new ICAL.Component(ICAL.parse(text)).getFirstSubcomponent('vevent')).iterator();
  for (let next = iterator.next(); next; next = iterator.next()) days.push(next.toString().slice(0, 10));
  console.log(`${rule}, ical.js: ${days.join(' ')}`);
  const { rrule } = Object.values(nodeIcal.sync.parseICS(text)).find(({ type }) => type === 'VEVENT');
  console.log(`${rule}, node-ical: ${rrule.all().map((at) => at.toISOString().slice(0, 10)).join(' ')}`);
}
JS
TZ=UTC node --no-warnings see.mjs | tee seen
cat > expected <<'TEXT'
FREQ=MONTHLY, ical.js: 2026-01-31 2026-03-31 2026-05-31 2026-07-31
FREQ=MONTHLY, node-ical: 2026-01-31 2026-02-28 2026-03-28 2026-04-28
FREQ=MONTHLY;BYMONTHDAY=31, ical.js: 2026-01-31 2026-03-31 2026-05-31 2026-07-31
FREQ=MONTHLY;BYMONTHDAY=31, node-ical: 2026-01-31 2026-03-31 2026-05-31 2026-07-31
FREQ=YEARLY, ical.js: 2028-02-29 2029-03-01 2030-03-01 2031-03-01
FREQ=YEARLY, node-ical: 2028-02-29 2029-02-28 2030-02-28 2031-02-28
TEXT
diff expected seen
echo 'As expected.'
