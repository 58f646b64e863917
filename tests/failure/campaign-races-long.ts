import { parseArgs } from 'node:util';
import { raceCampaigns } from './campaign-races.ts';

// Every race a hundred times, on two instances:
//   bun tests/failure/campaign-races-long.ts [--rounds N]

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '100' } } });
const results = await raceCampaigns(Number(values.rounds), (line) => console.log(line));
const isRight = Object.values(results).every(({ forbidden }) => forbidden.length === 0);
console.log(isRight ? 'Each came to what the drawing allows.' : 'WRONG.');
process.exit(isRight ? 0 : 1);
