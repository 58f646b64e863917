import postgres from 'postgres';
import { openDatabase } from '../../src/platform/db/open.ts';
import { manyPeople } from '../support/campaign-people.ts';
import { createClient } from '../support/client.ts';
import { LIVE_KEY, TEST_KEY } from '../support/service.ts';
import { allAccepted, EMAIL, IN_A_WEEK } from './accepted.ts';
import { preparePost } from './load.ts';
import { forgetMost, memoryOf } from './memory.ts';
import { printSizes } from './sizes.ts';
import type { Row } from './table.ts';
import type { Section } from './workbench.ts';

/** Looks at the ledger that are counted, evenly on the way. */
const LOOKS = 1_500;
const ASK_MS = 20;

/** The content of the campaign: some 3 kB of a name, links and text, as in newsletters. */
export const NEWSLETTER = {
  from: 'News <news@sender.example>',
  subject: 'Hello {{ contact.firstName }}',
  html: `<h1>Hi {{ contact.firstName }}</h1><p><a href="https://shop.example/new">What is new</a></p>${'<p>Some forty characters of a newsletter.</p>\n'.repeat(50)}`,
};

interface Stats {
  readonly total: number;
  readonly sent: number;
  readonly remaining: number;
  readonly skipped: number;
  readonly failed: number;
}

/** Bytes of rows, indexes and what is stored beside them, for each recipient of a campaign. */
const BYTES = `select coalesce(parent.relname, c.relname) as name, sum(pg_total_relation_size(c.oid))::float8 as bytes
from pg_class c left join pg_inherits i on i.inhrelid = c.oid left join pg_class parent on parent.oid = i.inhparent
where c.relkind = 'r' and coalesce(parent.relname, c.relname) in
  ('campaign_recipients', 'campaign_tallies', 'emails', 'email_turns', 'captured', 'email_due')
group by 1 order by 2 desc`;

/** The tables that have a row for everybody from the beginning. */
const FROZEN = new Set(['campaign_recipients', 'campaign_tallies']);

/** Ends a campaign that has run for long enough. */
async function stopped(post: ReturnType<typeof createClient>['post'], path: string): Promise<void> {
  for (const what of ['pause', 'cancel']) {
    const answer = await post(`${path}/${what}`, {});
    if (answer.status !== 200) throw new Error(JSON.stringify(answer));
  }
}

/**
 * A campaign to everybody, kept by the capture transport, beside single emails that are accepted over HTTP in
 * the same run. After `givingMs` it is cancelled: rates, memory and looks are then of those who were given
 * out by then.
 */
export const campaigns: Section = {
  name: 'campaigns',
  async run(bench) {
    const { campaigns: count, emails, givingMs: patienceMs } = bench.scale;
    const url = await bench.database('bench_campaigns');
    await using service = await bench.service(url, {
      DEFAULT_PLAN: 'unlimited',
      ...JSON.parse(process.env.BENCH_ENV ?? '{}'),
    });
    const single = preparePost(service.port, '/v1/emails', TEST_KEY, { ...EMAIL, scheduledAt: IN_A_WEEK });
    bench.say('Accepting single emails …');
    await allAccepted(single, 64, 4_000);
    const accepting = bench.meterCpu(service);
    const accepted = await allAccepted(single, 64, emails);
    const acceptedCpu = accepting(emails);
    await using stack = new AsyncDisposableStack();
    const database = await openDatabase({ url, dataDir: '' });
    stack.defer(() => database.close());
    const sql = postgres(url, { max: 1, onnotice: () => {} });
    stack.defer(() => sql.end());
    const { get, post } = createClient(service.url, LIVE_KEY);
    const domain = await post('/v1/domains', { name: 'sender.example' });
    if (domain.body.data?.status !== 'verified') throw new Error(JSON.stringify(domain.body));
    const [workspace] = await sql<{ id: string }[]>`select id from workspaces`;
    bench.say(`Writing ${count.toLocaleString('en')} contacts …`);
    const audienceId = await manyPeople(database, workspace?.id ?? '', count);
    await sql.unsafe('vacuum analyze contacts, audience_members');
    const path = `/v1/campaigns/${(await post('/v1/campaigns', { name: 'News', audienceId, ...NEWSLETTER })).body.data.id}`;

    const idle = memoryOf(service.pid).now;
    forgetMost(service.pid);
    const freezing = bench.meterCpu(service);
    const begun = performance.now();
    const started = await post(`${path}/send`, {});
    if (started.status !== 200) throw new Error(JSON.stringify(started.body));
    bench.say('Freezing …');
    while ((await get(path)).body.data.status === 'preparing') await Bun.sleep(ASK_MS);
    const frozenMs = performance.now() - begun;
    const frozen = freezing(count);

    bench.say('Giving out …');
    const giving = bench.meterCpu(service);
    const sending = performance.now();
    let [looks, unbalanced, next] = [0, 0, 0];
    let stats: Stats;
    do {
      await Bun.sleep(ASK_MS);
      stats = (await get(`${path}/stats`)).body.data;
      // Evenly among the recipients, and no more seldom than in the time that there is.
      const late = (LOOKS * (performance.now() - sending)) / patienceMs;
      if (stats.sent < next && looks > late) continue;
      next = stats.sent + count / LOOKS;
      looks++;
      if (
        stats.total !== count ||
        stats.total !== stats.sent + stats.remaining + stats.skipped + stats.failed
      )
        unbalanced++;
    } while (stats.remaining > 0 && performance.now() - sending < patienceMs);
    const givenMs = performance.now() - sending;
    const isCut = stats.remaining > 0;
    if (isCut) await stopped(post, path);
    else while ((await get(path)).body.data.status !== 'sent') await Bun.sleep(ASK_MS);
    const endMs = performance.now() - sending;
    const peak = memoryOf(service.pid).most;
    const [kept] = await sql<{ n: number }[]>`select count(*)::int as n from captured`;
    const made = kept?.n ?? 0;
    const given = giving(Math.max(1, made));
    if (!isCut && (stats.sent !== count || made !== count))
      throw new Error(`Of ${count} recipients ${stats.sent} were given out, and ${made} emails kept.`);
    const sizes = await sql.unsafe<{ name: string; bytes: number }[]>(BYTES);
    const each = sizes
      .map(({ name, bytes }) => `${name} ${Math.round(bytes / (FROZEN.has(name) ? count : made))}`)
      .join(', ');
    const goal = isCut
      ? ` Cut off after ${patienceMs / 60_000} min with ${stats.sent.toLocaleString('en')} given out.`
      : '';
    bench.remark(
      `(k) ${looks} looks at the ledger on the way (aim 1,000), ${unbalanced} of which did not balance (aim 0). Memory idle ${idle} MB. Bytes a recipient (of all emails of the run): ${each}.${goal}`,
    );
    bench.remark(await printSizes(sql, `The tables after ${count.toLocaleString('en')} recipients`));
    await service.stop();
    const rows: readonly Row[] = [
      { what: '(k) single emails accepted over HTTP, 64 connections', ...accepted, cpu: acceptedCpu },
      { what: '(k) recipients frozen', perSecond: (count * 1_000) / frozenMs, cpu: frozen },
      { what: '(k) freezing (aim under 60,000 ms)', amount: { value: frozenMs, unit: 'ms' } },
      {
        what: '(k) recipients given out, each signed twice and kept by the capture transport',
        perSecond: (stats.sent * 1_000) / givenMs,
        over: { what: 'single emails accepted', perSecond: accepted.perSecond },
        aim: 1.5,
        cpu: given,
      },
      { what: '(k) emails kept by the end of the campaign', perSecond: (made * 1_000) / endMs },
      { what: '(k) memory, at most (aim under 400 MB)', amount: { value: peak, unit: 'MB' } },
    ];
    await bench.drop('bench_campaigns');
    return rows;
  },
};
