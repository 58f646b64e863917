#!/bin/sh
# node-ical 0.26.1, ical 0.8.0 and ical.js 2.2.1 (npm) on Node.
#
# Guess: the `summary` of an event is a text, and `SUMMARY;LANGUAGE=de:Termin`, as Outlook writes each of its invitations, is "Termin". The
#        category `Lamps\, big` is one.
# Seen:  with any parameter the summary, the place and the description are an object of `params` and `val`, so that a mail about the event
#        says "[object Object]". A comma in a category ends it, with the backslash left. ical.js has a text and one category.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund node-ical@0.26.1 ical@0.8.0 ical.js@2.2.1
cat > see.cjs <<'JS'
const ICAL = require('ical.js').default ?? require('ical.js');
const event = (summary) => ['BEGIN:VCALENDAR', 'VERSION:2.0', 'PRODID:-//shop.example//', 'BEGIN:VEVENT', 'UID:1', 'DTSTAMP:20261101T000000Z',
  'DTSTART:20261130T100000Z', summary, 'CATEGORIES:Lamps\\, big', 'END:VEVENT', 'END:VCALENDAR', ''].join('\r\n');
for (const summary of ['SUMMARY:Termin', 'SUMMARY;LANGUAGE=de:Termin']) {
  const text = event(summary);
  for (const name of ['node-ical', 'ical']) {
    const [read] = Object.values((require(name).sync ?? require(name)).parseICS(text)).filter(({ type }) => type === 'VEVENT');
    console.log(`${name} ${summary}: Your event ${read.summary} of ${JSON.stringify(read.categories)}`);
  }
  const other = new ICAL.Component(ICAL.parse(text)).getFirstSubcomponent('vevent');
  const categories = other.getFirstProperty('categories').getValues();
  console.log(`ical.js ${summary}: Your event ${other.getFirstPropertyValue('summary')} of ${JSON.stringify(categories)}`);
}
JS
node --no-warnings see.cjs 2>node.log | tee seen
cat > expected <<'TEXT'
node-ical SUMMARY:Termin: Your event Termin of ["Lamps\\","big"]
ical SUMMARY:Termin: Your event Termin of ["Lamps\\","big"]
ical.js SUMMARY:Termin: Your event Termin of ["Lamps, big"]
node-ical SUMMARY;LANGUAGE=de:Termin: Your event [object Object] of ["Lamps\\","big"]
ical SUMMARY;LANGUAGE=de:Termin: Your event [object Object] of ["Lamps\\","big"]
ical.js SUMMARY;LANGUAGE=de:Termin: Your event Termin of ["Lamps, big"]
TEXT
diff expected seen
echo 'As expected.'
