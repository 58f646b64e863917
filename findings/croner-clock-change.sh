#!/bin/sh
# croner 11.0.1 (npm) on Node.
#
# Guess: a daily pattern at a time that the change to summer time skips runs as much later as the clocks move: 02:30 becomes 03:30.
#        A time that comes twice in autumn runs once.
# Seen:  `30 2 * * *` in Berlin runs at 03:00 on 28 March 2027, the end of the gap; the minutes are lost. In autumn it runs once, but
#        `*/30 2 * * *` runs in both hours, so a pattern with a step and one without it follow different rules.
set -eu
cd "$(mktemp -d)"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund croner@11.0.1
cat > see.mjs <<'JS'
import { Cron } from 'croner';
const zone = 'Europe/Berlin';
const runs = (pattern, from, count) => {
  const job = new Cron(pattern, { timezone: zone, paused: true });
  const moments = [];
  for (let at = new Date(from); moments.length < count; ) moments.push((at = job.nextRun(at)).toISOString());
  return moments;
};
console.log('spring', ...runs('30 2 * * *', '2027-03-28T00:00:00Z', 1));
console.log('autumn', ...runs('30 2 * * *', '2026-10-24T22:00:00Z', 2));
console.log('autumn, a step', ...runs('*/30 2 * * *', '2026-10-24T23:45:00Z', 4));
JS
node see.mjs | tee seen
grep -qx 'spring 2027-03-28T01:00:00.000Z' seen
grep -qx 'autumn 2026-10-25T00:30:00.000Z 2026-10-26T01:30:00.000Z' seen
grep -qx 'autumn, a step 2026-10-25T00:00:00.000Z 2026-10-25T00:30:00.000Z 2026-10-25T01:00:00.000Z 2026-10-25T01:30:00.000Z' seen
echo 'As expected.'
