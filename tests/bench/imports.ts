import { once } from 'node:events';
import { finished } from 'node:stream/promises';
import postgres from 'postgres';
import { CONTACT_COLUMNS, contactFile } from '../support/contact-file.ts';
import { LIVE_KEY, type Service, startService } from '../support/service.ts';
import { forgetMost, memoryOf } from './memory.ts';
import type { Row } from './table.ts';
import type { Section, Workbench } from './workbench.ts';

/** Characters that bring a million rows to 50 MB. */
const WIDTH = 1;

interface Imported {
  readonly counts: { readonly total: number; readonly created: number; readonly failed: number };
  readonly seconds: number;
  readonly storedMs: number;
  readonly peakMb: number;
}

/** Imports the file, from the request to the last row. */
async function importInto(service: Service, content: Uint8Array): Promise<Imported> {
  const headers = { authorization: `Bearer ${LIVE_KEY}` };
  const idle = memoryOf(service.pid).now;
  forgetMost(service.pid);
  const start = performance.now();
  const answer = await fetch(`${service.url}/v1/contacts/import?columns=${CONTACT_COLUMNS}`, {
    method: 'POST',
    body: content as Uint8Array<ArrayBuffer>,
    headers: { ...headers, 'content-type': 'text/csv' },
  });
  if (answer.status !== 202) throw new Error(await answer.text());
  const { data } = (await answer.json()) as { data: { id: string } };
  const storedMs = performance.now() - start;
  for (;;) {
    await Bun.sleep(250);
    const told = await fetch(`${service.url}/v1/contacts/imports/${data.id}`, { headers });
    const { status, counts } = (
      (await told.json()) as { data: { status: string; counts: Imported['counts'] } }
    ).data;
    if (status === 'queued' || status === 'processing') continue;
    if (status !== 'completed') throw new Error(`The import is ${status}.`);
    const seconds = (performance.now() - start) / 1_000;
    return { counts, seconds, storedMs, peakMb: memoryOf(service.pid).most - idle };
  }
}

/** COPY of as many rows into a bare table with the columns and indexes of contacts, a second. */
async function copyRate(url: string, rows: number): Promise<number> {
  const sql = postgres(url, { max: 1, onnotice: () => {} });
  await sql.unsafe('create table bare (like contacts including all)');
  const begun = performance.now();
  const stream =
    await sql`copy bare (workspace_id, livemode, id, email, email_key, first_name, first_name_key, properties, status,
    created_at, updated_at) from stdin`.writable();
  const now = new Date().toISOString();
  for (let at = 0; at < rows; ) {
    let lines = '';
    for (const end = Math.min(rows, at + 2_000); at < end; at++) {
      const number = String(at).padStart(7, '0');
      const email = `person${number}@contacts.example`;
      lines += `ws_01m7xj1rwzprnwr10308attx\tt\tcon_01m7xj1rwz${String(at).padStart(14, '0')}\t${email}\t${email}\tAnn${at % 911}\tann${at % 911}\t{"city": "Berlin${'x'.repeat(WIDTH)}", "age": ${at % 97}}\tsubscribed\t${now}\t${now}\n`;
    }
    if (!stream.write(lines)) await once(stream, 'drain');
  }
  stream.end();
  await finished(stream);
  const seconds = (performance.now() - begun) / 1_000;
  await sql.unsafe('drop table bare');
  await sql.end();
  return rows / seconds;
}

/** A file of contacts, against COPY of the same rows into a bare table with the same columns and indexes. */
export const imports: Section = {
  name: 'imports',
  async run(bench: Workbench) {
    const { imports: count, embeddedImports } = bench.scale;
    const file = contactFile(count, WIDTH);
    bench.say(`Importing ${count} rows, ${Math.round(file.content.length / 1e6)} MB …`);
    const url = await bench.database('bench_imports');
    await using service = await bench.service(url);
    const meter = bench.meterCpu(service);
    const done = await importInto(service, file.content);
    const cpu = meter(count);
    await service.stop();
    bench.say('Copying as many …');
    const bare = await copyRate(url, count);
    await bench.drop('bench_imports');
    const { executable } = bench.scale;
    bench.say(`Importing ${embeddedImports} rows into the embedded database …`);
    await using embedded = await startService(executable ? { command: [executable] } : {});
    const small = await importInto(embedded, contactFile(embeddedImports, WIDTH).content);
    await embedded.stop();
    bench.remark(
      `(i) ${done.counts.total} rows, ${Math.round(file.content.length / 1e6)} MB: stored in ${Math.round(done.storedMs)} ms, worked through in ${done.seconds.toFixed(1)} s; ${done.counts.created} contacts, ${done.counts.failed} rows refused. Embedded: ${small.counts.total} rows in ${small.seconds.toFixed(1)} s.`,
    );
    const rows: readonly Row[] = [
      { what: '(i) COPY into a bare table with the columns and indexes of contacts, rows', perSecond: bare },
      {
        what: '(i) rows of a CSV file imported on PostgreSQL',
        perSecond: count / done.seconds,
        over: { what: 'COPY', perSecond: bare },
        aim: 0.25,
        cpu,
      },
      { what: '(i) memory above idle meanwhile, at most', amount: { value: done.peakMb, unit: 'MB' } },
      {
        what: '(i) rows of a CSV file imported into the embedded database',
        perSecond: embeddedImports / small.seconds,
      },
      {
        what: '(i) memory above idle meanwhile, embedded, at most',
        amount: { value: small.peakMb, unit: 'MB' },
      },
    ];
    return rows;
  },
};
