#!/bin/sh
# python3-icalendar 4.0.3-5 and Python 3.11.2 (3.11.2-6+deb12u9) of Debian 12, unpacked and not installed; node-ical 0.26.1 (npm) on Node.
#
# Guess: an event at 10:00 in `ZoneInfo("Europe/Berlin")` is written with `TZID=Europe/Berlin`, as one with the zone of pytz is.
# Seen:  the TZID is the abbreviation of the day: CET in winter, CEST in summer, and EST or EDT in New York. No reader knows CEST and EDT: the
#        reader of the same library has no zone, node-ical takes UTC. EST has no summer: a monthly event of January is an hour late in July.
#        CST is written for Chicago and for Shanghai.
set -eu
cd "$(mktemp -d)"
apt-get download -qq python3-icalendar=4.0.3-5 python3-dateutil python3-six python3-tz tzdata python3.11-minimal=3.11.2-6+deb12u9 \
  libpython3.11-minimal=3.11.2-6+deb12u9 libpython3.11-stdlib=3.11.2-6+deb12u9 2>apt.log
for package in *.deb; do dpkg -x "$package" root; done
npm init -y >/dev/null
npm install --silent --no-audit --no-fund node-ical@0.26.1
cat > write.py <<'PY'
from datetime import datetime
from zoneinfo import ZoneInfo
from icalendar import Calendar, Event
import pytz
calendar = Calendar()
calendar.add('version', '2.0')
calendar.add('prodid', '-//shop.example//')
zones = [('Europe/Berlin', 1), ('Europe/Berlin', 7), ('America/New_York', 1), ('America/New_York', 7), ('America/Chicago', 1), ('Asia/Shanghai', 1)]
for number, (zone, month) in enumerate(zones):
    event = Event()
    event.add('uid', f'{number}')
    event.add('dtstart', datetime(2026, month, 15, 10, tzinfo=ZoneInfo(zone)))
    event.add('rrule', {'freq': 'monthly', 'count': 7})
    if number < 4:
        calendar.add_component(event)
    read = Event.from_ical(event.to_ical())['dtstart']
    print(f'{number} {zone}: TZID={event["dtstart"].params["TZID"]}, read as {read.dt.isoformat()}')
with open('events.ics', 'wb') as file:
    file.write(calendar.to_ical())
event = Event()
event.add('dtstart', pytz.timezone('Europe/Berlin').localize(datetime(2026, 1, 15, 10)))
print(f'pytz Europe/Berlin: TZID={event["dtstart"].params["TZID"]}')
PY
cat > see.mjs <<'JS'
import ical from 'node-ical';
const events = ical.sync.parseFile('events.ics');
for (const number of [0, 1, 2, 3]) {
  const all = events[number].rrule.all();
  console.log(`${number} node-ical: ${all[0].toISOString()}${number === 2 ? `, in July ${all[6].toISOString()}` : ''}`);
}
JS
{
  PYTHONHOME=$PWD/root/usr PYTHONPATH=$PWD/root/usr/lib/python3/dist-packages PYTHONTZPATH=$PWD/root/usr/share/zoneinfo \
    root/usr/bin/python3.11 write.py
  node --no-warnings see.mjs 2>node.log
} | tee seen
cat > expected <<'TEXT'
0 Europe/Berlin: TZID=CET, read as 2026-01-15T10:00:00+01:00
1 Europe/Berlin: TZID=CEST, read as 2026-07-15T10:00:00
2 America/New_York: TZID=EST, read as 2026-01-15T10:00:00-05:00
3 America/New_York: TZID=EDT, read as 2026-07-15T10:00:00
4 America/Chicago: TZID=CST, read as 2026-01-15T10:00:00
5 Asia/Shanghai: TZID=CST, read as 2026-01-15T10:00:00
pytz Europe/Berlin: TZID=Europe/Berlin
0 node-ical: 2026-01-15T09:00:00.000Z
1 node-ical: 2026-07-15T10:00:00.000Z
2 node-ical: 2026-01-15T15:00:00.000Z, in July 2026-07-15T15:00:00.000Z
3 node-ical: 2026-07-15T10:00:00.000Z
TEXT
diff expected seen
echo 'As expected.'
