import { parseArgs } from 'node:util';
import { lifecycles } from '../../machines/catalogue.ts';
import { randomFrom } from '../../src/ops/torture/random.ts';
import { walk } from '../support/decider-walk.ts';
import { HAPPENINGS } from '../support/lifecycle-events.ts';
import { randomMachine } from '../support/random-machine.ts';

// Compares the compiled deciders with XState over as many events as wanted: `bun tests/machines/equality.ts
// --events 1000000`.

const { values } = parseArgs({ options: { events: { type: 'string' }, seed: { type: 'string' } } });
const events = Number(values.events ?? 1_000_000);
const seed = Number(values.seed ?? 1);
let told = 0;
let taken = 0;

const share = Math.ceil(events / (lifecycles.length + 1));
for (const { name, machine } of lifecycles) {
  const walked = walk(machine, HAPPENINGS[name as keyof typeof HAPPENINGS], randomFrom(seed), share);
  told += walked.told;
  taken += walked.taken;
}
const random = randomFrom(seed);
for (let made = 0; made < share; ) {
  const { machine, happenings } = randomMachine(random);
  const walked = walk(machine, happenings, random, 100);
  made += walked.told;
  told += walked.told;
  taken += walked.taken;
}
process.stdout.write(
  `${told} events, ${taken} of them taken: the tables decided as XState does, every time.\n`,
);
