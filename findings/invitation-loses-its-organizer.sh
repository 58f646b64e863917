#!/bin/sh
# ical-generator 10.2.0 and ics 3.12.0 (writers), ical.js 2.2.1 and node-ical 0.26.1 (readers), from npm, on Node.
#
# Guess: a name with quotation marks, such as Doe, Jane "JD", in the ORGANIZER of an invitation comes back as it was.
# Seen:  both writers put a backslash before the mark. RFC 5545 3.2 has no such escape, and RFC 6868 writes ^'. So ical.js reads
#        the name up to the backslash, and node-ical has no organizer at all: an answer to the invitation has no address to go to.
#        ical.js writes RFC 6868 and reads it; node-ical shows it as it stands.
set -eu
cd "$(mktemp -d)"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund ical-generator@10.2.0 ics@3.12.0 ical.js@2.2.1 node-ical@0.26.1
cat > see.mjs <<'JS'
import ICAL from 'ical.js';
import generated from 'ical-generator';
import * as ics from 'ics';
import nodeIcal from 'node-ical';
const organizer = { name: 'Doe, Jane "JD"', email: 'jane@example.com' };
const calendar = generated({ name: 'Calendar' });
calendar.createEvent({ start: new Date(0), end: new Date(3_600_000), summary: 'Lunch', organizer });
const event = { start: [2026, 7, 1, 10, 0], startInputType: 'utc', duration: { hours: 1 }, title: 'Lunch', organizer };
const own = ICAL.Component.fromString(['BEGIN:VCALENDAR', 'BEGIN:VEVENT', 'UID:1', 'END:VEVENT', 'END:VCALENDAR'].join('\r\n'));
const property = new ICAL.Property('organizer');
property.setParameter('cn', organizer.name);
property.setValue(`mailto:${organizer.email}`);
own.getFirstSubcomponent('vevent').addProperty(property);
const files = { 'ical-generator': calendar.toString(), ics: ics.createEvent(event).value, 'ical.js': own.toString() };
for (const [writer, text] of Object.entries(files)) {
  console.log(`${writer} writes ${text.split(/\r?\n/).find((line) => line.startsWith('ORGANIZER'))}`);
  const read = new ICAL.Component(ICAL.parse(text)).getFirstSubcomponent('vevent').getFirstProperty('organizer');
  const other = Object.values(nodeIcal.sync.parseICS(text)).find(({ type }) => type === 'VEVENT');
  console.log(`${writer} read by ical.js: ${read.getParameter('cn')}`);
  console.log(`${writer} read by node-ical: ${other.organizer ? other.organizer.params.CN : 'no organizer'}`);
}
JS
node --no-warnings see.mjs | tee seen
for writer in ical-generator ics; do
  grep -qF "$writer writes ORGANIZER;CN=\"Doe, Jane \\\"JD\\\"\":" seen
  grep -qxF "$writer read by ical.js: Doe, Jane \\" seen
  grep -qxF "$writer read by node-ical: no organizer" seen
done
grep -qF "ical.js writes ORGANIZER;CN=\"Doe, Jane ^'JD^'\":" seen
grep -qxF 'ical.js read by ical.js: Doe, Jane "JD"' seen
grep -qxF "ical.js read by node-ical: Doe, Jane ^'JD^'" seen
echo 'As expected.'
