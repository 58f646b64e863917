import { parseArgs } from 'node:util';
import { killCampaign } from './campaign-kill.ts';

// A campaign of 200,000 on two instances to a mail server, killed thirty times and paused twenty times on the
// way, while PostgreSQL fails ten times. In the end it waits for the leases of attempts in doubt, twelve
// minutes:
//   bun tests/failure/campaign-kill-long.ts [--recipients N] [--kills N] [--stops N] [--pauses N] [--instances N] [--captured]

const count = (value: string) => ({ type: 'string', default: value }) as const;
const { values } = parseArgs({
  options: {
    recipients: count('200000'),
    kills: count('30'),
    stops: count('10'),
    pauses: count('20'),
    instances: count('2'),
    captured: { type: 'boolean', default: false },
  },
});
const recipients = Number(values.recipients);
const report = await killCampaign({
  recipients,
  instances: Number(values.instances),
  kills: Number(values.kills),
  stops: Number(values.stops),
  pauses: Number(values.pauses),
  sink: !values.captured,
  say: (line) => console.log(`${new Date().toISOString().slice(11, 19)} ${line}`),
});
console.log(JSON.stringify(report));
const { missed, twice, copies, absent, unbalanced, stats } = report;
const isRight = missed + twice + copies + absent + unbalanced === 0 && stats.sent === recipients;
console.log(isRight ? 'Everyone once, or marked in doubt; no one missing; every look balanced.' : 'WRONG.');
process.exit(isRight ? 0 : 1);
