#!/bin/sh
# xstate 5.33.3 (npm) on Node: a snapshot that is saved in a state with `after`, and an actor that starts from it.
#
# Guess: the restored actor waits for the delay again, from its start on, as an invoked promise is run again from its start on.
# Seen:  the promise is run again, and the delay never ends: the restored actor stays in its state. Who persists snapshots has to
#        store when each delay is over, and to send the event themselves.
set -eu
cd "$(mktemp -d)"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund xstate@5.33.3
cat > see.mjs <<'JS'
import { createActor, createMachine, fromPromise, waitFor } from 'xstate';
const restored = (machine) => {
  const first = createActor(machine).start();
  const snapshot = JSON.parse(JSON.stringify(first.getPersistedSnapshot()));
  first.stop();
  return createActor(machine, { snapshot }).start();
};
const waits = (on) => createMachine({ initial: 'waits', states: { waits: on, done: {} } });
const stateAfter = async (actor, ms) => {
  await waitFor(actor, ({ value }) => value === 'done', { timeout: ms }).catch(() => {});
  return actor.getSnapshot().value;
};
const delayed = waits({ after: { 50: 'done' } });
console.log(`a delay of 50 ms, two seconds after the start: ${await stateAfter(createActor(delayed).start(), 2_000)}`);
console.log(`the same, restored: ${await stateAfter(restored(delayed), 2_000)}`);
const promised = waits({ invoke: { src: fromPromise(async () => {}), onDone: 'done' } });
console.log(`a promise, restored: ${await stateAfter(restored(promised), 2_000)}`);
JS
node see.mjs | tee seen
grep -qx 'a delay of 50 ms, two seconds after the start: done' seen
grep -qx 'the same, restored: waits' seen
grep -qx 'a promise, restored: done' seen
echo 'As expected.'
