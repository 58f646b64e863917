// Sends many emails while each of two relays dies and returns, each time in another way. Two thousand take a
// quarter of a minute:
//   bun tests/failure/transport-failover-long.ts [emails]
import { failOver } from './transport-failover.ts';

/**
 * In a round of fewer, what both relays had put off could be most of it, and the one that is left would have
 * nothing to take over.
 */
const FEWEST = 1_000;
const EMAILS = Number(process.argv[2] ?? 10_000);
if (!(EMAILS >= FEWEST)) throw new Error(`Ask for at least ${FEWEST} emails.`);
const judgement = await failOver(EMAILS);
const { lost, twice, other, sent, inDoubt } = judgement;
console.log(JSON.stringify({ emails: EMAILS, ...judgement }));
const isRight = lost.length + twice.length + other.length === 0 && sent + inDoubt === EMAILS;
console.log(isRight ? 'Nothing was lost, and nothing was given to both.' : 'WRONG: see above.');
process.exit(isRight ? 0 : 1);
