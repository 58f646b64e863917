#!/bin/sh
# ical 0.8.0 and ical-expander 3.2.0 (npm), readers of calendars, on Node.
#
# Guess: an event at 10:00 with TZID=Europe/Berlin is at 09:00 UTC in November for both, wherever they run.
# Seen:  ical takes the zone of the machine: the event is at 10:00 UTC on a server in UTC, and at another time on each other one. The
#        name of the zone stands beside it in `tz`. ical-expander reads it right on both.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund ical@0.8.0 ical-expander@3.2.0
cat > see.cjs <<'JS'
const ical = require('ical');
const Module = require('ical-expander');
const IcalExpander = Module.default ?? Module;
const ics = ['BEGIN:VCALENDAR', 'VERSION:2.0', 'PRODID:-//shop.example//', 'BEGIN:VEVENT', 'UID:1', 'DTSTAMP:20261101T000000Z',
  'DTSTART;TZID=Europe/Berlin:20261130T100000', 'DTEND;TZID=Europe/Berlin:20261130T110000', 'END:VEVENT', 'END:VCALENDAR', ''].join('\r\n');
const { start } = ical.parseICS(ics)['1'];
const [event] = new IcalExpander({ ics }).between(new Date('2026-11-01'), new Date('2026-12-31')).events;
console.log(`TZ=${process.env.TZ}: ical ${start.toISOString()} (${start.tz}), ical-expander ${event.startDate.toJSDate().toISOString()}`);
JS
for zone in UTC America/New_York; do TZ=$zone node --no-warnings see.cjs; done | tee seen
cat > expected <<'TEXT'
TZ=UTC: ical 2026-11-30T10:00:00.000Z (Europe/Berlin), ical-expander 2026-11-30T09:00:00.000Z
TZ=America/New_York: ical 2026-11-30T15:00:00.000Z (Europe/Berlin), ical-expander 2026-11-30T09:00:00.000Z
TEXT
diff expected seen
echo 'As expected.'
