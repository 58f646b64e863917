#!/bin/sh
# calendar-link 2.11.5, ical.js 2.2.1 and node-ical 0.26.1 (npm) on Node.
#
# Guess: the calendar file of an event has a UID that no other event has (RFC 5545 3.8.4.7), and a day as `DTSTART;VALUE=DATE`.
# Seen:  the UID is a number below 100,000 by chance. Of 2,000 events some have one of the same, and a calendar keeps one event a UID. The
#        same event has another UID the next time, so that it is twice in the calendar of a person who presses twice. A day has no
#        VALUE=DATE: ical.js refuses to read it, node-ical reads a day.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund calendar-link@2.11.5 ical.js@2.2.1 node-ical@0.26.1
cat > see.mjs <<'JS'
import { ics } from 'calendar-link';
import ICAL from 'ical.js';
import nodeIcal from 'node-ical';
const fileOf = (event) => decodeURIComponent(ics(event).replace(/^data:[^,]*,/, ''));
const uid = (event) => /^UID:(.*?)\r?$/m.exec(fileOf(event))[1];
const uids = Array.from({ length: 2_000 }, (_, n) => uid({ title: `Call ${n}`, start: '2026-12-24', duration: [1, 'hour'] }));
console.log(`2,000 events: ${uids.every((each) => Number(each) < 100_000) ? 'all UIDs below 100,000' : 'other UIDs'}, some the same: ${new Set(uids).size < 2_000}`);
const day = fileOf({ title: 'Holiday', start: '2026-12-24', end: '2026-12-25', allDay: true });
console.log(/^DTSTART.*$/m.exec(day)[0].trim());
try {
  const event = new ICAL.Event(new ICAL.Component(ICAL.parse(day.trim())).getFirstSubcomponent('vevent'));
  console.log(`ical.js: ${event.startDate}`);
} catch (error) {
  console.log(`ical.js: ${error.message}`);
}
const read = Object.values(nodeIcal.parseICS(day)).find(({ type }) => type === 'VEVENT');
console.log(`node-ical: ${read.datetype}`);
JS
node --no-warnings see.mjs | tee seen
cat > expected <<'TEXT'
2,000 events: all UIDs below 100,000, some the same: true
DTSTART:20261224
ical.js: invalid date-time value: "2026-12-24T::"
node-ical: date
TEXT
diff expected seen
echo 'As expected.'
