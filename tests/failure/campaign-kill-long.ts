import { parseArgs } from 'node:util';
import { killCampaign } from './campaign-kill.ts';

// A campaign of 200,000 on two instances, killed thirty times and paused twenty times on the way:
//   bun tests/failure/campaign-kill-long.ts [--recipients N] [--kills N] [--pauses N] [--instances N]

const { values } = parseArgs({
  options: {
    recipients: { type: 'string', default: '200000' },
    kills: { type: 'string', default: '30' },
    pauses: { type: 'string', default: '20' },
    instances: { type: 'string', default: '2' },
  },
});
const recipients = Number(values.recipients);
const report = await killCampaign({
  recipients,
  instances: Number(values.instances),
  kills: Number(values.kills),
  pauses: Number(values.pauses),
  say: (line) => console.log(line),
});
console.log(JSON.stringify(report));
const isRight =
  report.missed + report.twice + report.copies + report.unbalanced === 0 && report.stats.sent === recipients;
console.log(isRight ? 'Everybody once, and every look balanced.' : 'WRONG.');
process.exit(isRight ? 0 : 1);
