import { parseArgs } from 'node:util';
import { killRuns } from './flow-kill.ts';

// An import of 100,000 contacts into a flow of three steps, through twenty kill -9 on two instances:
//   bun tests/failure/flow-kill-long.ts [--rows N] [--kills N] [--instances N] [--rest SECONDS] [--lease MS]

const { values } = parseArgs({
  options: {
    rows: { type: 'string', default: '100000' },
    kills: { type: 'string', default: '20' },
    instances: { type: 'string', default: '2' },
    rest: { type: 'string', default: '180' },
    lease: { type: 'string' },
  },
});
const { contacts, mails, hits, unsent, ...wrong } = await killRuns({
  rows: Number(values.rows),
  instances: Number(values.instances),
  kills: Number(values.kills),
  restMs: Number(values.rest) * 1_000,
  ...(values.lease !== undefined && { leaseMs: Number(values.lease) }),
  everyMs: 250,
  say: (line) => console.log(`${new Date().toISOString().slice(11, 19)} ${line}`),
});
console.log(JSON.stringify({ contacts, mails, hits, unsent, ...wrong }));
const { faults, ...counts } = wrong;
const isRight =
  Object.values(counts).every((count) => count === 0) && faults.length === 0 && mails === 2 * contacts;
console.log(isRight ? 'One run a contact, and each mail once.' : 'WRONG.');
process.exit(isRight ? 0 : 1);
