import postgres from 'postgres';
import { createClient } from '../support/client.ts';
import { LIVE_KEY } from '../support/service.ts';
import { load, type PreparedRequest, prepareGet } from './load.ts';
import { fill, liveThrough } from './reads-fill.ts';
import { printSizes } from './sizes.ts';
import type { Row } from './table.ts';
import type { Section } from './workbench.ts';

const CONNECTIONS = 16;
const DAYS = 30;
/** Emails that are asked for one by one, spread over everything that is there. */
const ASKED_FOR = 2_000;
/** Octets of a cursor that bind it to its list and filters (src/http/lists/pagination.ts). */
const BINDING = 6;

/** Reading with millions of emails in the database: lists, details, events, the log. */
export const reads: Section = {
  name: 'reads',
  async run(bench) {
    const { reads: emails, seconds } = bench.scale;
    const url = await bench.database('bench_reads');
    await using service = await bench.service(url);
    const sql = postgres(url, { max: 1 });
    const [workspace] = await sql<{ id: string }[]>`select id from workspaces`;
    const workspaceId = workspace?.id ?? '';
    await liveThrough(service.url, sql);
    bench.say(`Writing ${emails.toLocaleString('en')} emails …`);
    await fill({ url, emails, days: DAYS, workspaceId }, (text) => bench.say(text));
    bench.remark(
      await printSizes(sql, `The tables that are read from, ${emails.toLocaleString('en')} emails`),
    );

    const get = (path: string | (() => string)): PreparedRequest => prepareGet(service.port, path, LIVE_KEY);
    const client = createClient(service.url, LIVE_KEY);
    const asked = await sql<{ id: string; position: string; event: string }[]>`
      select email_id as id, position::text as position, recorded->0->>'id' as event
      from email_turns tablesample system (${Math.min(100, (40 * 100 * ASKED_FOR) / emails)})
      where workspace_id = ${workspaceId} and livemode and position is not null limit ${ASKED_FOR}`;
    const [latest] = await sql<{ position: string; event: string }[]>`
      select t.position::text as position, max(e->>'id' collate "C") as event
      from email_turns t cross join lateral json_array_elements(t.recorded) e
      where t.workspace_id = ${workspaceId} and t.livemode and t.position = (
        select max(position) from email_turns where workspace_id = ${workspaceId} and livemode)
      group by t.position`;
    await sql.end();
    if (asked.length < 100) throw new Error(`Only ${asked.length} emails were found to ask for.`);
    const any = () => asked[Math.floor(Math.random() * asked.length)] as (typeof asked)[number];

    /** A path with another cursor each time. */
    const deep = async (path: string, position: () => string): Promise<() => string> => {
      const { body } = await client.get(path);
      const { nextCursor } = body.pagination;
      if (typeof nextCursor !== 'string') throw new Error(`${path} has no second page.`);
      const binding = Buffer.from(nextCursor, 'base64url').subarray(0, BINDING);
      const cursor = () => Buffer.concat([binding, Buffer.from(position())]).toString('base64url');
      return () => `${path}&after=${cursor()}`;
    };
    const list = '/v1/emails?limit=50';
    const log = '/v1/events?limit=50';
    const head = await deep(log, () => `${latest?.position} ${latest?.event}`);
    const asks: readonly (readonly [string, string | (() => string)])[] = [
      ['list, first page', list],
      ['list, a deep page by cursor', await deep(list, () => any().id)],
      ['list, status=delivered', `${list}&status=delivered`],
      ['list, status=failed', `${list}&status=failed`],
      ['list, status=failed, a deep page', await deep(`${list}&status=failed`, () => any().id)],
      ['list, status=sending (none)', `${list}&status=sending`],
      ['list, to=… (none)', `${list}&to=nobody@example.com`],
      ['list, subject=… (none)', `${list}&subject=nothing`],
      ['list, status=failed, subject=… (none)', `${list}&status=failed&subject=nothing`],
      ['list, status=sent, a deep page', await deep(`${list}&status=sent`, () => any().id)],
      ['list, from=… (all)', `${list}&from=hello@acme.example`],
      ['detail', () => `/v1/emails/${any().id}`],
      ['events of an email', () => `/v1/emails/${any().id}/events`],
      ['event log, from anywhere', await deep(log, () => `${any().position} ${any().event}`)],
      ['event log, nothing new', head],
    ];
    const rows: Row[] = [];
    for (const [what, path] of asks) {
      bench.say(`Reading: ${what} …`);
      const trial = await load(get(path), CONNECTIONS, 4 * CONNECTIONS);
      const count = Math.max(4 * CONNECTIONS, Math.round(trial.perSecond * seconds));
      const spent = bench.meterCpu(service);
      const result = await load(get(path), CONNECTIONS, count);
      const { 200: good = 0, ...bad } = result.statuses;
      if (good !== count)
        bench.remark(
          `Reading, ${what}: of ${count} requests ${good} were answered with 200, ${JSON.stringify(bad)}.`,
        );
      rows.push({
        what: `(r) ${what}`,
        ...result,
        perSecond: (result.perSecond * good) / count,
        cpu: spent(count),
      });
    }
    await service.stop();
    await bench.drop('bench_reads');
    return rows;
  },
};
