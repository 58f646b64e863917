/**
 * The storm in its long form: 10,000 events, 200 endpoints of which one is dead, first undisturbed and then
 * with 20 kills of the service. Takes about eight minutes.
 *
 * `bun tests/failure/webhook-storm.ts [emails a second]`
 */
import { runStorm } from './webhook-storm-run.ts';

const say = (text: string): void => void process.stderr.write(`${text}\n`);
const storm = {
  tenants: 10,
  endpoints: 20,
  emails: 5_000,
  emailsPerSecond: Number(process.argv[2] ?? 40),
  refusals: 2 as const,
  say,
};
const calm = await runStorm({ ...storm, kills: 0 });
console.log('Undisturbed:', calm);
const killed = await runStorm({ ...storm, kills: 20 });
console.log('With 20 kills:', killed);

const holds =
  [calm, killed].every(({ missing, stuck, earliestRetry }) => missing + stuck === 0 && earliestRetry >= 0) &&
  calm.p99 < 1_000;
console.log(holds ? 'Nothing was lost.' : 'It does not hold.');
process.exit(holds ? 0 : 1);
