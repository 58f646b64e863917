#!/bin/sh
# @breejs/later 4.2.0, cron-parser 5.10.6 and croner 11.0.1 (npm) on Node. Bree 9 reads its cron expressions with later.
#
# Guess: Sunday is 0 and 7, so that a newsletter with `0 9 * * 7` goes out on Sundays, for every reader of cron expressions.
# Seen:  later takes 7 for Saturday: it counts from 1 and adds one to what it reads, up to seven. `5-7` is Friday and Saturday, and
#        `FRI-SUN` Saturday alone. Without an error, no job runs on a Sunday. `0` and `SUN` are right.
set -eu
cd "$(mktemp -d)"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund @breejs/later@4.2.0 cron-parser@5.10.6 croner@11.0.1
cat > see.mjs <<'JS'
import later from '@breejs/later';
import { CronExpressionParser } from 'cron-parser';
import { Cron } from 'croner';
const from = new Date('2026-11-30T12:00:00Z');
const days = (dates) => dates.map((date) => date.toUTCString().slice(0, 3)).join(' ');
for (const days_ of ['7', '5-7', 'FRI-SUN', '0', 'SUN']) {
  const text = `0 9 * * ${days_}`;
  const byLater = days(later.schedule(later.parse.cron(text)).next(3, from));
  const byCroner = days(new Cron(text, { timezone: 'UTC' }).nextRuns(3, from));
  let byParser = 'an error';
  try {
    const runs = CronExpressionParser.parse(text, { currentDate: from, tz: 'UTC' });
    byParser = days(Array.from({ length: 3 }, () => runs.next().toDate()));
  } catch {}
  console.log(`${text}: later ${byLater}, croner ${byCroner}, cron-parser ${byParser}`);
}
JS
node --no-warnings see.mjs | tee seen
cat > expected <<'TEXT'
0 9 * * 7: later Sat Sat Sat, croner Sun Sun Sun, cron-parser Sun Sun Sun
0 9 * * 5-7: later Fri Sat Fri, croner Fri Sat Sun, cron-parser Fri Sat Sun
0 9 * * FRI-SUN: later Sat Sat Sat, croner Fri Sat Sun, cron-parser an error
0 9 * * 0: later Sun Sun Sun, croner Sun Sun Sun, cron-parser Sun Sun Sun
0 9 * * SUN: later Sun Sun Sun, croner Sun Sun Sun, cron-parser Sun Sun Sun
TEXT
diff expected seen
echo 'As expected.'
