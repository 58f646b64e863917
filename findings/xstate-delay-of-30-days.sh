#!/bin/sh
# xstate 5.33.3 (npm) on Node.
#
# Guess: a machine whose `after` waits 30 days takes the transition in 30 days, or refuses so long a delay.
# Seen:  the delay goes to setTimeout as it is. Above 2,147,483,647 ms (24.8 days) the timer fires after 1 ms, so the machine takes the
#        transition at once. 24 days wait as they should.
set -eu
cd "$(mktemp -d)"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund xstate@5.33.3
cat > see.mjs <<'JS'
import { createActor, createMachine } from 'xstate';
const DAY = 86_400_000;
const machine = (days) =>
  createMachine({ initial: 'waits', states: { waits: { after: { [days * DAY]: 'over' } }, over: {} } });
const actors = [24, 30].map((days) => [days, createActor(machine(days)).start()]);
await new Promise((resolve) => setTimeout(resolve, 500));
for (const [days, actor] of actors) {
  console.log(`${days} days, after half a second: ${actor.getSnapshot().value}`);
  actor.stop();
}
JS
node --no-warnings see.mjs | tee seen
grep -qx '24 days, after half a second: waits' seen
grep -qx '30 days, after half a second: over' seen
echo 'As expected.'
