import { parseArgs } from 'node:util';
import postgres from 'postgres';
import { openDatabase } from '../../src/platform/db/open.ts';
import { manyPeople } from '../support/campaign-people.ts';
import { createClient } from '../support/client.ts';
import { startCluster } from '../support/cluster.ts';
import { eventually } from '../support/eventually.ts';
import { LIVE_KEY, startService } from '../support/service.ts';
import { NEWSLETTER } from './campaigns.ts';
import { meterCpu, meterThreads, parentOf } from './cpu.ts';
import { median } from './median.ts';

// Measures the cost of one recipient of a campaign, by thread and by statement, of executables in turns:
//   bun tests/bench/campaign-cost.ts --executables /work/before,dist/posthorn [--recipients 6000] [--rounds 3] [--to capture|smtp] [--statements] [--languages 1,5]

const { values } = parseArgs({
  options: {
    executables: { type: 'string', default: '' },
    recipients: { type: 'string', default: '6000' },
    /** Recipients before the measured ones, for whom code is compiled. */
    warm: { type: 'string', default: '2000' },
    rounds: { type: 'string', default: '3' },
    to: { type: 'string', default: 'capture' },
    statements: { type: 'boolean', default: false },
    /** Campaigns by a template in so many languages, in turns; without it, content of the campaign itself. */
    languages: { type: 'string', default: '' },
  },
});
const [recipients, warm, rounds] = [values.recipients, values.warm, values.rounds].map(Number) as [
  number,
  number,
  number,
];
const SOURCE = '';
/** A look costs what some recipients do. */
const LOOKS = { withinMs: 600_000, everyMs: 500 };
const executables = values.executables === '' ? [SOURCE] : values.executables.split(',');
const counts = values.languages === '' ? [0] : values.languages.split(',').map(Number);

/** One of those that are measured in turns: an executable, and the number of languages of its campaign. */
interface Variant {
  readonly executable: string;
  readonly languages: number;
}
const variants: readonly Variant[] = executables.flatMap((executable) =>
  counts.map((languages) => ({ executable, languages })),
);
const named = ({ executable, languages }: Variant): string =>
  `${executable || 'source'}${languages === 0 ? '' : ` in ${languages} languages`}`;

const TAGS = ['en', 'de', 'fr', 'pt', 'ar', 'ja', 'pl', 'tr', 'nl', 'sv', 'it', 'es'];
/** The newsletter in a language: as long as in any other, so that only the languages differ. */
const NEWS_IN = (tag: string) => ({
  subject: `${tag}: ${NEWSLETTER.subject}`,
  html: NEWSLETTER.html.replaceAll('Some forty', `${tag} is forty`),
});

/**
 * The content of the campaign: the newsletter, or a template of it in so many languages, whose people are
 * spread over them.
 */
async function contentIn(
  languages: number,
  post: ReturnType<typeof createClient>['post'],
  sql: postgres.Sql,
): Promise<object> {
  if (languages === 0) return NEWSLETTER;
  const [own = 'en', ...others] = TAGS.slice(0, languages);
  await sql`update contacts set properties = properties || jsonb_build_object('language',
    (${TAGS.slice(0, languages)}::text[])[1 + (substring(first_name from '[0-9]+')::integer % ${languages})])`;
  const translations = Object.fromEntries(others.map((tag) => [tag, NEWS_IN(tag)]));
  const template = { name: 'News', language: own, from: NEWSLETTER.from, ...NEWS_IN(own), translations };
  const { body, status } = await post('/v1/templates', template);
  if (status !== 201) throw new Error(JSON.stringify(body));
  return { templateId: body.data.id };
}

interface Cost {
  readonly service: number;
  readonly postgres: number;
  readonly perSecond: number;
  readonly threads: Readonly<Record<string, number>>;
  readonly statements: readonly { readonly query: string; readonly calls: number; readonly us: number }[];
}

const STATEMENTS = `select regexp_replace(query, '\\s+', ' ', 'g') as query, calls::float8 as calls, total_exec_time * 1000 as us
from pg_stat_statements where dbid = (select oid from pg_database where datname = current_database()) order by total_exec_time desc limit 24`;

const cluster = await startCluster({
  settings: values.statements ? { shared_preload_libraries: 'pg_stat_statements' } : {},
});
const sink =
  values.to === 'smtp'
    ? Bun.spawn([process.execPath, new URL('transport-sink.ts', import.meta.url).pathname], {
        stdout: 'pipe',
      })
    : null;
const port = sink ? Number(new TextDecoder().decode((await sink.stdout.getReader().read()).value).trim()) : 0;

async function costOf({ executable, languages }: Variant, name: string): Promise<Cost> {
  const admin = postgres(cluster.url, { max: 1, onnotice: () => {} });
  await admin.unsafe(`drop database if exists ${name} with (force)`);
  await admin.unsafe(`create database ${name}`);
  const [backend] = await admin<{ pid: number }[]>`select pg_backend_pid() as pid`;
  const server = parentOf(backend?.pid ?? 0);
  const target = new URL(cluster.url);
  target.pathname = `/${name}`;
  const url = target.href;
  const env = {
    DATABASE_URL: url,
    DEFAULT_PLAN: 'unlimited',
    LOG_LEVEL: 'warn',
    RATE_LIMIT_PER_KEY: '0',
    RATE_LIMIT_PER_IP: '0',
    SECRET_KEY: 'a bench has no secrets, but needs a key',
    SMTP_URL: `smtp://127.0.0.1:${port || 25}?tls=none`,
    EHLO_NAME: 'bench.example',
  };
  const command = executable === SOURCE ? {} : { command: executable.split(' ') };
  const start = (transport: string) => startService({ env: { ...env, TRANSPORT: transport }, ...command });
  const sql = postgres(url, { max: 1, onnotice: () => {} });
  try {
    {
      // Only the capture transport verifies a domain without DNS.
      await using first = await start('capture');
      await createClient(first.url, LIVE_KEY).post('/v1/domains', { name: 'sender.example' });
      await first.stop();
    }
    await using service = await start(values.to);
    const { get, post } = createClient(service.url, LIVE_KEY);
    const database = await openDatabase({ url, dataDir: '' });
    const [workspace] = await sql<{ id: string }[]>`select id from workspaces`;
    const audienceId = await manyPeople(database, workspace?.id ?? '', recipients + warm);
    await database.close();
    const content = await contentIn(languages, post, sql);
    await sql.unsafe('vacuum analyze contacts, audience_members');
    if (values.statements) await sql.unsafe('create extension if not exists pg_stat_statements');
    const { id } = (await post('/v1/campaigns', { name: 'News', audienceId, ...content })).body.data;
    await post(`/v1/campaigns/${id}/send`, {});
    const DONE = "select count(*)::integer as n from email_turns where state in ('sent', 'delivered')";
    const done = async () => (await sql.unsafe<{ n: number }[]>(DONE))[0]?.n ?? 0;
    await eventually('code is compiled', async () => ((await done()) >= warm ? true : undefined), LOOKS);
    const from = await done();
    const meter = meterCpu([service.pid], server);
    const byThread = meterThreads(service.pid);
    if (values.statements) await sql.unsafe('select pg_stat_statements_reset()');
    const begun = performance.now();
    const isOver = async () => (await get(`/v1/campaigns/${id}`)).body.data.status === 'sent';
    await eventually('the end', async () => ((await isOver()) ? true : undefined), LOOKS);
    const seconds = (performance.now() - begun) / 1_000;
    const items = (await done()) - from;
    const cpu = meter(items);
    const threads = byThread(items);
    await service.stop();
    return {
      ...cpu,
      perSecond: items / seconds,
      threads,
      statements: values.statements
        ? (await sql.unsafe<{ query: string; calls: number; us: number }[]>(STATEMENTS)).map((one) => ({
            query: one.query,
            calls: one.calls / items,
            us: one.us / items,
          }))
        : [],
    };
  } finally {
    await sql.end();
    await admin.unsafe(`drop database if exists ${name} with (force)`);
    await admin.end();
  }
}

try {
  const costs = new Map<Variant, Cost[]>(variants.map((one) => [one, []]));
  for (let round = 0; round < rounds; round++)
    for (let n = 0; n < variants.length; n++) {
      const variant = variants[(n + round) % variants.length] as Variant;
      const cost = await costOf(variant, `bench_cost_${round}_${n}`);
      costs.get(variant)?.push(cost);
      console.log(
        `round ${round + 1} ${named(variant)}: service ${cost.service.toFixed(0)} us, PostgreSQL ${cost.postgres.toFixed(0)} us, ${cost.perSecond.toFixed(0)} a second`,
      );
    }
  for (const [variant, all] of costs) {
    const of = (figure: (cost: Cost) => number) => median(all.map(figure)).toFixed(0);
    console.log(
      `\n${named(variant)}: service ${of((one) => one.service)} us, PostgreSQL ${of((one) => one.postgres)} us`,
    );
    const names = new Set(all.flatMap(({ threads }) => Object.keys(threads)));
    const rows = [...names].map((name) => [name, Number(of(({ threads }) => threads[name] ?? 0))] as const);
    for (const [name, us] of rows.toSorted((a, b) => b[1] - a[1]))
      if (us > 0) console.log(`  ${String(us).padStart(5)} ${name}`);
    for (const { query, calls, us } of all.at(-1)?.statements ?? [])
      console.log(
        `  ${us.toFixed(1).padStart(6)} us ${calls.toFixed(3).padStart(6)} calls  ${query.slice(0, 150)}`,
      );
  }
} finally {
  sink?.kill();
  await cluster.stop();
}
