import { once } from 'node:events';
import { openDatabase } from '../../src/platform/db/open.ts';
import { manyPeople } from '../support/campaign-people.ts';
import { createClient } from '../support/client.ts';
import { eventually } from '../support/eventually.ts';
import { LIVE_KEY } from '../support/service.ts';
import { median, percentile } from './median.ts';
import type { Row } from './table.ts';
import type { Section, Workbench } from './workbench.ts';

/**
 * Between two single emails, at times that no reply moves: six rounds of ten seconds are 2,400 of each kind.
 */
const EVERY_MS = 25;
/** Recipients of the campaign beside them, enough for all of them. */
const RECIPIENTS = 200_000;
const HTML = `<p>Hi {{ contact.firstName }}</p>${'<p>Some forty characters of a newsletter.</p>\n'.repeat(50)}`;

/** The running emails of a paused campaign: those that have left its queue are finished. */
const UNDER_WAY = `select id from emails_now where campaign_id = $1 and state = 'sending' limit 1`;

/** Wall clock with fractions, the same in all processes of one machine. */
const now = (): number => performance.timeOrigin + performance.now();

/**
 * Single emails, without a campaign and beside one that sends as fast as it can, in turns, every other round
 * the other way about.
 */
export const campaignLatency: Section = { name: 'campaign-latency', run: latencyBeside };

/** The time from POST to the sink. */
async function latencyBeside(bench: Workbench): Promise<readonly Row[]> {
  const sink = Bun.spawn(
    [process.execPath, new URL('transport-sink.ts', import.meta.url).pathname, '--tell', 'single-'],
    { stdout: 'pipe' },
  );
  const arrived = new Map<string, number>();
  const [port, ended] = await listen(sink.stdout, arrived);
  const url = await bench.database('bench_latency');
  const env = {
    SMTP_URL: `smtp://127.0.0.1:${port}?tls=none`,
    EHLO_NAME: 'bench.example',
    DEFAULT_PLAN: 'unlimited',
  };
  try {
    await using first = await bench.service(url, { ...env, TRANSPORT: 'capture' });
    await createClient(first.url, LIVE_KEY).post('/v1/domains', { name: 'sender.example' });
    await first.stop();
    await using service = await bench.service(url, { ...env, TRANSPORT: 'smtp' });
    const { get, post } = createClient(service.url, LIVE_KEY);
    const database = await openDatabase({ url, dataDir: '' });
    const [workspace] = await database.query<{ id: string }>('select id from workspaces');
    const audienceId = await manyPeople(database, workspace?.id ?? '', RECIPIENTS);
    let number = 0;
    const measured = async (answered: number[]): Promise<number[]> => {
      const sent = new Map<string, number>();
      const asked: Promise<unknown>[] = [];
      const count = Math.round((bench.scale.seconds * 1_000) / EVERY_MS);
      const begun = now();
      for (let n = 0; n < count; n++) {
        const wait = begun + n * EVERY_MS - now();
        if (wait > 0) await Bun.sleep(wait);
        const to = `single-${++number}@receiver.example`;
        sent.set(to, now());
        const email = { from: 'shop@sender.example', to, subject: 'Your new password', text: 'Here it is.' };
        const at = now();
        asked.push(
          post('/v1/emails', email).then(({ status, body }) => {
            if (status !== 202) throw new Error(JSON.stringify(body));
            answered.push(now() - at);
          }),
        );
      }
      await Promise.all(asked);
      const until = now() + 30_000;
      while ([...sent.keys()].some((to) => !arrived.has(to))) {
        if (now() > until) throw new Error('Single emails have not come to the sink within 30 s.');
        await Bun.sleep(20);
      }
      return [...sent].map(([to, at]) => (arrived.get(to) ?? 0) - at);
    };
    bench.say('Single emails: warming up …');
    await measured([]);
    const said = { from: 'news@sender.example', subject: 'News', html: HTML };
    const { id } = (await post('/v1/campaigns', { name: 'News', audienceId, ...said })).body.data;
    const [alone, beside]: [number[], number[]] = [[], []];
    const [answeredAlone, answeredBeside]: [number[], number[]] = [[], []];
    const besideOne = async (answered: number[]) => {
      const going = await post(`/v1/campaigns/${id}/send`, {});
      if (going.status !== 200) throw new Error(JSON.stringify(going.body));
      await eventually('the campaign sends', async () =>
        (await get(`/v1/campaigns/${id}`)).body.data.status === 'sending' ? true : undefined,
      );
      const times = await measured(answered);
      const held = await post(`/v1/campaigns/${id}/pause`, {});
      if (held.status !== 200) throw new Error('The campaign has ended before the measurement did.');
      await eventually('nothing of the campaign is under way', async () => {
        const [row] = await database.query(UNDER_WAY, [id]);
        return row ? undefined : true;
      });
      return times;
    };
    bench.say('Single emails beside a campaign: warming up …');
    await besideOne([]);
    const ratios: number[] = [];
    const { rounds } = bench.scale;
    for (let round = 1; round <= rounds; round++) {
      bench.say(`Single emails without a campaign and beside one, ${round} of ${rounds} …`);
      // A machine that becomes louder must not speak for either of them.
      const isTurned = round % 2 === 0;
      const first = isTurned ? await besideOne(answeredBeside) : await measured(answeredAlone);
      const second = isTurned ? await measured(answeredAlone) : await besideOne(answeredBeside);
      const [one, other] = isTurned ? [second, first] : [first, second];
      alone.push(...one);
      beside.push(...other);
      ratios.push(percentile(other, 0.99) / percentile(one, 0.99));
    }
    const [row] = await database.query<{ given: number }>(
      'select count(*)::integer as given from emails where campaign_id = $1',
      [id],
    );
    await database.close();
    bench.remark(
      `(k) The p99 beside a campaign to that without, of each round: ${ratios.map((one) => one.toFixed(2)).join(', ')}; median ${median(ratios).toFixed(2)}. The campaign gave out ${row?.given} emails in ${(rounds + 1) * bench.scale.seconds} s, of which the first ${bench.scale.seconds} were to warm up.`,
    );
    const told = (times: readonly number[]) =>
      `p50 ${percentile(times, 0.5).toFixed(0)} ms, p99 ${percentile(times, 0.99).toFixed(0)} ms`;
    bench.remark(
      `(k) Of that, from POST to its answer: ${told(answeredAlone)} without a campaign, ${told(answeredBeside)} beside one.`,
    );
    await service.stop();
    await bench.drop('bench_latency');
    return [rowOf('without a campaign', alone), rowOf('beside a running campaign', beside, alone)];
  } finally {
    sink.kill();
    await ended;
  }
}

function rowOf(what: string, latencies: readonly number[], base?: readonly number[]): Row {
  const p99 = percentile(latencies, 0.99);
  const times = base ? `, p99 ${(p99 / percentile(base, 0.99)).toFixed(2)} times that without (aim 1.5)` : '';
  return {
    what: `(k) POST to the SMTP sink, ${what}${times}`,
    amount: { value: percentile(latencies, 0.5), unit: 'ms' },
    p50: percentile(latencies, 0.5),
    p99,
  };
}

/** Reads the port, and from then on who has come when. */
async function listen(
  stream: ReadableStream<Uint8Array>,
  arrived: Map<string, number>,
): Promise<[string, Promise<void>]> {
  const lines = new EventTarget();
  let port = '';
  const read = async () => {
    let pending = '';
    const decoder = new TextDecoder();
    for await (const chunk of stream) {
      const parts = (pending + decoder.decode(chunk, { stream: true })).split('\n');
      pending = parts.pop() ?? '';
      for (const line of parts)
        if (port === '') {
          port = line;
          lines.dispatchEvent(new Event('port'));
        } else {
          const [to = '', at = ''] = line.split(' ');
          arrived.set(to, Number(at));
        }
    }
  };
  const reading = read();
  if (port === '') await once(lines, 'port');
  return [port, reading];
}
