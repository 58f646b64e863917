import { parseArgs } from 'node:util';
import { MailSink } from '../../src/ops/torture/mail-sink.ts';
import { eventually, momentOf } from '../support/eventually.ts';
import { CampaignWorld } from './campaign-world.ts';

// A campaign to a mail server is paused a hundred times: no message begins there more than a second after the
// answer.
//   bun tests/failure/campaign-pauses-long.ts [--pauses N] [--recipients N]

const WITHIN_MS = 1_000;
/** Freezing has a separate aim, which the bench measures. */
const FROZEN_WITHIN_MS = 300_000;
const { values } = parseArgs({
  options: {
    pauses: { type: 'string', default: '100' },
    recipients: { type: 'string', default: '100000' },
  },
});
const [pauses, recipients] = [Number(values.pauses), Number(values.recipients)];
const sink = await MailSink.open(7, 'faultless');
let isRight = true;
{
  await using world = await CampaignWorld.make({ instances: 2, sinkPort: sink.port });
  const id = await world.campaign(recipients);
  const path = `/v1/campaigns/${id}`;
  let [latest, done, most] = [0, 0, 0];
  await world.ask('POST', `${path}/send`, {});
  const statusIs = async () => (await world.ask('GET', path)).data.status as string;
  await eventually(
    'the audience is frozen',
    async () => ((await statusIs()) === 'preparing' ? undefined : true),
    { withinMs: FROZEN_WITHIN_MS },
  );
  console.log(`Frozen: ${await statusIs()}.`);
  for (; done < pauses; done++) {
    const before = sink.begun.length;
    await eventually('some have begun', () => sink.begun.length >= before + 20 || undefined, { everyMs: 5 });
    const paused = await world.ask('POST', `${path}/pause`, {});
    const answeredAt = performance.now();
    if (paused.status !== 200) break;
    await momentOf(Date.now() + WITHIN_MS + 500);
    const late = (sink.begun.at(-1) ?? 0) - answeredAt;
    latest = Math.max(latest, late);
    if (late > WITHIN_MS) isRight = false;
    most = Math.max(most, sink.begun.filter((at) => at > answeredAt).length);
    const resumed = await world.ask('POST', `${path}/send`, {});
    if (resumed.status !== 200) throw new Error(JSON.stringify(resumed));
  }
  console.log(
    `${done} pauses; the latest message began ${Math.round(latest)} ms after the answer, at most ${most} after one.`,
  );
  if (done < pauses) isRight = false;
}
await sink.close();
console.log(isRight ? 'No message began more than a second after the answer.' : 'WRONG.');
process.exit(isRight ? 0 : 1);
