#!/bin/sh
# moment 2.30.1 and PGlite 0.5.17 (@electric-sql/pglite, npm; PostgreSQL 18.7) on Node.
#
# Guess: PostgreSQL reads the text of a moment, "Mon Nov 30 2026 10:00:00 GMT+0100", as 9:00 UTC, as JavaScript does, or refuses it.
# Seen:  a zone with a name before the sign is one of POSIX, west of Greenwich where it has a plus, and four digits are hours: the newsletter
#        of Berlin is planned for 4 December at 14:00 UTC, 101 hours late, without an error. In summer, with +0200, it is refused.
#        `GMT+01:00` and `GMT-05:00`, as `Intl` writes them, are read with the other sign, so that New York is ten hours early.
set -eu
cd "$(mktemp -d)"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund moment@2.30.1 @electric-sql/pglite@0.5.17
cat > see.mjs <<'JS'
import { PGlite } from '@electric-sql/pglite';
import moment from 'moment';
const db = new PGlite();
await db.exec("SET TIME ZONE 'UTC'");
const see = async (text) => {
  const read = await db
    .query('SELECT $1::text::timestamptz::text AS at', [text])
    .then(({ rows: [{ at }] }) => at, ({ message }) => message);
  console.log(`${text}: ${new Date(text).toISOString()}, PostgreSQL ${read}`);
};
await see(`${moment.utc('2026-11-30T09:00:00Z').utcOffset(60)}`);
await see(`${moment.utc('2026-06-30T08:00:00Z').utcOffset(120)}`);
const at = new Date('2026-11-30T15:00:00Z');
for (const timeZone of ['America/New_York', 'Europe/Berlin']) {
  const form = new Intl.DateTimeFormat('en-US', { timeZone, timeZoneName: 'longOffset' });
  const zone = form.formatToParts(at).find(({ type }) => type === 'timeZoneName').value;
  await see(`2026-11-30 10:00:00 ${zone}`);
}
JS
node --no-warnings see.mjs | tee seen
cat > expected <<'TEXT'
Mon Nov 30 2026 10:00:00 GMT+0100: 2026-11-30T09:00:00.000Z, PostgreSQL 2026-12-04 14:00:00+00
Tue Jun 30 2026 10:00:00 GMT+0200: 2026-06-30T08:00:00.000Z, PostgreSQL time zone "gmt+0200" not recognized
2026-11-30 10:00:00 GMT-05:00: 2026-11-30T15:00:00.000Z, PostgreSQL 2026-11-30 05:00:00+00
2026-11-30 10:00:00 GMT+01:00: 2026-11-30T09:00:00.000Z, PostgreSQL 2026-11-30 11:00:00+00
TEXT
diff expected seen
echo 'As expected.'
