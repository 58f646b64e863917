import postgres from 'postgres';
import { CONTACT_COLUMNS, contactFile } from '../support/contact-file.ts';
import { eventually } from '../support/eventually.ts';
import { LIVE_KEY, type Service, TEST_KEY } from '../support/service.ts';
import { allAccepted, EMAIL, IN_A_WEEK } from './accepted.ts';
import { type PreparedRequest, preparePost } from './load.ts';
import { memoryOf } from './memory.ts';
import type { Row } from './table.ts';
import type { Section } from './workbench.ts';

/** The part of the contacts that get an event. */
const TOLD = 0.2;
const CONNECTIONS = 256;
/** The time in which a new process settles down. */
const REST_MS = 10_000;
const PATIENT = { withinMs: 900_000, everyMs: 50 };

const SIZES = `select c.relname as name, pg_relation_size(c.oid)::float8 as bytes from pg_class c
where c.relname = 'flow_runs' or c.oid in (select indexrelid from pg_index where indrelid = 'flow_runs'::regclass) order by 2 desc`;

const post = async (service: Service, path: string, body: object | Uint8Array): Promise<{ id: string }> => {
  const isFile = body instanceof Uint8Array;
  const answer = await fetch(`${service.url}${path}`, {
    method: 'POST',
    body: isFile ? (body as Uint8Array<ArrayBuffer>) : JSON.stringify(body),
    headers: {
      authorization: `Bearer ${LIVE_KEY}`,
      'content-type': isFile ? 'text/csv' : 'application/json',
    },
  });
  if (!answer.ok) throw new Error(`POST ${path}: ${await answer.text()}`);
  return ((await answer.json()) as { data: { id: string } }).data;
};

/** An active flow whose runs wait a week for an event, and then end. */
async function waitingFlow(service: Service, name: string): Promise<string> {
  const { id } = await post(service, '/v1/flows', {
    name,
    trigger: { type: 'contactCreated' },
    steps: [
      { key: 'wait', type: 'waitForEvent', config: { name, timeout: { amount: 1, unit: 'weeks' } } },
      { key: 'done', type: 'exit' },
    ],
    edges: [{ from: 'wait', to: 'done', when: 'event' }],
  });
  await post(service, `/v1/flows/${id}/activate`, {});
  return id;
}

/**
 * Runs that wait a week, half of them for one event and half for another, and an event for some of their
 * contacts.
 */
export const flows: Section = {
  name: 'flows',
  async run(bench) {
    const { runs, emails } = bench.scale;
    const url = await bench.database('bench_flows');
    const start = () => bench.service(url, { DEFAULT_PLAN: 'unlimited' });
    const sql = postgres(url, { max: 2, onnotice: () => {} });
    const count = async (text: string, ...values: string[]): Promise<number> =>
      Number((await sql.unsafe<{ n: string }[]>(text, values))[0]?.n);
    const rows: Row[] = [];

    let service = await start();
    try {
      await Bun.sleep(REST_MS);
      const idle = memoryOf(service.pid).now;
      const flow = await waitingFlow(service, 'go');
      await waitingFlow(service, 'other');
      // Every hundredth row of the file is refused, and every thousandth comes again.
      const file = contactFile(Math.ceil(runs / 2 / 0.989));
      bench.say(`Beginning some ${runs} runs by an import …`);
      const beginning = bench.meterCpu(service);
      const began = performance.now();
      await post(service, `/v1/contacts/import?triggerFlows=true&columns=${CONTACT_COLUMNS}`, file.content);
      const open = 2 * file.counts.created;
      await eventually(
        `${open} runs`,
        async () =>
          (await count(`select count(*) as n from flow_runs where status = 'waiting'`)) === open
            ? true
            : undefined,
        PATIENT,
      );
      const perSecond = open / ((performance.now() - began) / 1_000);
      rows.push({
        what: '(w) runs begun by an import, from its request on',
        perSecond,
        cpu: beginning(open),
      });
      const filled = memoryOf(service.pid);
      await service.stop();
      service = await start();
      await Bun.sleep(REST_MS);
      const waiting = memoryOf(service.pid).now;
      rows.push(
        { what: '(w) memory after a start, no runs', amount: { value: idle, unit: 'MB' } },
        { what: `(w) memory after a start, ${open} runs wait`, amount: { value: waiting, unit: 'MB' } },
        { what: '(w) memory while they began, at most', amount: { value: filled.most, unit: 'MB' } },
      );
      const sizes = await sql.unsafe<{ name: string; bytes: number }[]>(SIZES);
      bench.remark(
        `(w) Of ${open} runs that wait, in MB: ${sizes.map(({ name, bytes }) => `${name} ${(bytes / 1e6).toFixed(1)}`).join(', ')}.`,
      );

      bench.say(`Accepting ${emails} emails over ${CONNECTIONS} connections …`);
      const email = preparePost(service.port, '/v1/emails', TEST_KEY, { ...EMAIL, scheduledAt: IN_A_WEEK });
      await allAccepted(email, CONNECTIONS, Math.ceil(emails / 4));
      const accepted = await allAccepted(email, CONNECTIONS, emails);
      rows.push({ what: `(w) emails accepted in this run, ${CONNECTIONS} connections`, ...accepted });

      const told = Math.round(file.counts.created * TOLD);
      bench.say(`Telling ${told} contacts an event …`);
      const ids = await sql.unsafe<{ id: string }[]>(
        `select id from contacts order by md5(id) limit ${told}`,
      );
      let next = 0;
      const event: PreparedRequest = {
        port: service.port,
        bytes: () =>
          preparePost(service.port, `/v1/contacts/${ids[next++]?.id}/events`, LIVE_KEY, { name: 'go' })
            .bytes as Uint8Array,
      };
      const spent = bench.meterCpu(service);
      const from = performance.now();
      const answered = await allAccepted(event, CONNECTIONS, told);
      const woken = `select count(*) as n from flow_run_log where flow_id = $1 and outcome = 'event'`;
      await eventually(
        `${told} runs woken`,
        async () => ((await count(woken, flow)) >= told ? true : undefined),
        PATIENT,
      );
      const seconds = (performance.now() - from) / 1_000;
      const cpu = spent(told);
      await Bun.sleep(2_000);
      const right = await count(
        `select count(*) as n from flow_runs where ended_at is not null and flow_id = $1 and contact_id in
         (select id from contacts order by md5(id) limit ${told})`,
        flow,
      );
      const all = await count('select count(*) as n from flow_runs where ended_at is not null');
      if (right !== told || all !== told)
        throw new Error(`Of ${told} runs ${right} were woken, and ${all - right} others.`);
      rows.push(
        { what: '(w) events told over HTTP', ...answered },
        {
          what: '(w) runs woken by them, from the first request on',
          perSecond: told / seconds,
          over: { what: 'emails accepted', perSecond: accepted.perSecond },
          aim: 0.5,
          cpu,
        },
        {
          what: '(w) memory after that',
          amount: { value: memoryOf(service.pid).now, unit: 'MB' },
        },
      );
      return rows;
    } finally {
      await sql.end();
      await service[Symbol.asyncDispose]();
      await bench.drop('bench_flows');
    }
  },
};
