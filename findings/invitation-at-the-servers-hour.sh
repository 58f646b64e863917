#!/bin/sh
# ical-generator 10.2.0 (npm) with luxon 3.7.2, on Node.
#
# Guess: a calendar or an event with `timezone: 'Europe/Berlin'` and a start of 2026-07-01T08:00Z says 10:00 in Berlin, whatever the zone of
#        the server is.
# Seen:  a Date is written in the hours of the server's own zone, with Berlin beside it: 08:00 on a server in UTC, 04:00 on one in New York.
#        A moment of luxon is written as 10:00. A developer in Berlin sees it right with both.
set -eu
cd "$(mktemp -d)"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund ical-generator@10.2.0 luxon@3.7.2
cat > see.mjs <<'JS'
import calendar from 'ical-generator';
import { DateTime } from 'luxon';
const at = new Date('2026-07-01T08:00:00Z');
for (const [name, start] of [['Date', at], ['luxon', DateTime.fromJSDate(at)]]) {
  const written = calendar({ name: 'Calendar' });
  written.createEvent({ start, summary: 'Lunch', timezone: 'Europe/Berlin' });
  console.log(`${process.env.TZ}, ${name}: ${written.toString().split('\r\n').find((line) => line.startsWith('DTSTART'))}`);
}
JS
for zone in UTC America/New_York Europe/Berlin; do TZ=$zone node --no-warnings see.mjs; done | tee seen
cat > expected <<'TEXT'
UTC, Date: DTSTART;TZID=Europe/Berlin:20260701T080000
UTC, luxon: DTSTART;TZID=Europe/Berlin:20260701T100000
America/New_York, Date: DTSTART;TZID=Europe/Berlin:20260701T040000
America/New_York, luxon: DTSTART;TZID=Europe/Berlin:20260701T100000
Europe/Berlin, Date: DTSTART;TZID=Europe/Berlin:20260701T100000
Europe/Berlin, luxon: DTSTART;TZID=Europe/Berlin:20260701T100000
TEXT
diff expected seen
echo 'As expected.'
