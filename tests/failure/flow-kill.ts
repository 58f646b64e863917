import postgres from 'postgres';
import { openSession } from '../../src/engine/audit/session.ts';
import { auditLedger } from '../../src/ops/audit/audit.ts';
import { freePort } from '../../src/ops/torture/free-port.ts';
import { randomFrom } from '../../src/ops/torture/random.ts';
import { openDatabase } from '../../src/platform/db/open.ts';
import { CONTACT_COLUMNS, contactFile } from '../support/contact-file.ts';
import { eventually } from '../support/eventually.ts';
import { createTestDatabase } from '../support/postgres.ts';
import { LIVE_KEY, type Service, startService } from '../support/service.ts';

/** The disturbances of a flow's runs. */
export interface FlowKillPlan {
  /** Rows of the file whose import begins the runs. */
  readonly rows: number;
  readonly instances: number;
  readonly kills: number;
  /** The time after the start at which the step between the two mails ends. */
  readonly restMs: number;
  /** The time for which steps and attempts may be silent; the product's own when absent. */
  readonly leaseMs?: number;
  /** Between two looks at how far it is. */
  readonly everyMs: number;
  say(line: string): void;
}

/**
 * The results of the disturbed runs. All but the first two, and `hits`, have to be 0, and `unsent` once
 * leases have ended.
 */
export interface FlowKillReport {
  readonly contacts: number;
  readonly mails: number;
  /** Contacts without a run, and with several. */
  readonly withoutRun: number;
  readonly runsTooMany: number;
  /** Runs that have not come to their end, or have not done each step once. */
  readonly unfinished: number;
  readonly wrongLogs: number;
  /** Mails that a contact lacks, and has twice. */
  readonly missed: number;
  readonly twice: number;
  /** Mails that were accepted and are not sent; with the product's own leases those that are in doubt. */
  readonly unsent: number;
  /** Mails of which the captured inbox has more than one copy. */
  readonly copies: number;
  /** The findings of the audit. */
  readonly faults: readonly string[];
  /** Mails that had been accepted at each kill. */
  readonly hits: readonly number[];
}

const PATIENT_MS = 1_800_000;
const TOKEN = 'flow-kill-flow-kill';

const SENT = `select coalesce(sum(count), 0)::integer as n from flow_tallies where outcome = 'sent'`;

/**
 * True when every run has ended, and every mail is sent; those of a killed instance are in doubt for some
 * fifteen minutes more. Rows are counted last.
 */
const OVER = `select case
  when exists (select from contact_imports where state in ('queued', 'checking', 'processing')) then false
  when exists (select from flow_runs where ended_at is null) then false
  else (select count(*) from flow_runs) = (select count(*) from contacts)
end as over, not exists (select from email_due) as sent`;

/** True when every mail has begun to be sent: what waits in an instance has no turn yet. */
const BEGUN = `select not exists (
  select from emails b where not exists (select from email_turns t where t.email_id = b.id)
) and not exists (select from email_due where state = 'queued') as begun`;

const OUTCOME = `select (select count(*) from contacts)::integer as contacts, (select count(*) from emails)::integer as mails,
  (select count(*) from contacts c where not exists (select from flow_runs r where r.contact_id = c.id))::integer as "withoutRun",
  (select count(*) - count(distinct contact_id) from flow_runs)::integer as "runsTooMany",
  (select count(*) from flow_runs where status <> 'completed')::integer as unfinished,
  (select count(*) from flow_runs r where (
    select string_agg(l.step || ' ' || l.outcome, ', ' order by l.visit) from flow_run_log l where l.run_id = r.id
  ) is distinct from 'hello sent, rest waited, again sent')::integer as "wrongLogs",
  (select 2 * (select count(*) from contacts) - count(distinct (recipient_keys[1], subject)) from emails)::integer as missed,
  (select count(*) - count(distinct (recipient_keys[1], subject)) from emails)::integer as twice,
  (select count(*) from emails_now where state not in ('sent', 'delivered'))::integer as unsent,
  (select count(*) - count(distinct (email_id, recipient)) from captured)::integer as copies`;

/**
 * Imports a file into a flow of three steps, each new contact into a run, through instances that are killed
 * with -9 on the way. Steps that were under way at a kill are done again when their leases end.
 */
export async function killRuns(plan: FlowKillPlan): Promise<FlowKillReport> {
  await using made = await createTestDatabase();
  const random = randomFrom(11);
  const database = await openDatabase({ url: made.url, dataDir: '' });
  const ports = await Promise.all(Array.from({ length: plan.instances }, freePort));
  const start = (port: number): Promise<Service> =>
    startService({
      port,
      env: {
        DATABASE_URL: made.url,
        SECRET_KEY: 'only-for-tests-only-for-tests-only',
        DEFAULT_PLAN: 'unlimited',
        RATE_LIMIT_PER_IP: '0',
        RATE_LIMIT_PER_KEY: '0',
        LOG_LEVEL: 'warn',
        ...(plan.leaseMs !== undefined && {
          TORTURE: JSON.stringify({ token: TOKEN, leaseMs: plan.leaseMs, seed: 11 }),
        }),
      },
    });
  const services: Service[] = [];
  try {
    if (plan.leaseMs !== undefined)
      await database.script(`create table torture as select '${TOKEN}' as token`);
    for (const port of ports) services.push(await start(port));
    const url = `http://127.0.0.1:${ports[0]}`;
    await prepareFlow(url, plan.restMs);
    await beginImport(url, contactFile(plan.rows).content);
    const hits: number[] = [];
    for (let kill = 1; kill <= plan.kills; kill++) {
      const goal = Math.round((2 * plan.rows * kill) / (plan.kills + 1.5));
      const sent = await eventually(
        `${goal} mails`,
        async () => {
          const [row] = await database.query<{ n: number }>(SENT);
          return row && row.n >= goal ? row.n : undefined;
        },
        { withinMs: PATIENT_MS, everyMs: plan.everyMs },
      );
      const victim = random.pick([...services.keys()]);
      await services[victim]?.kill();
      hits.push(sent);
      plan.say(`Killed instance ${victim} at ${sent} mails.`);
      services[victim] = await start(ports[victim] as number);
    }
    await eventually(
      'the end of every run',
      async () => {
        const [row] = await database.query<{ over: boolean; sent: boolean }>(OVER);
        return row?.over && (row.sent || plan.leaseMs === undefined) ? true : undefined;
      },
      { withinMs: PATIENT_MS, everyMs: plan.everyMs },
    );
    plan.say('Every run has ended.');
    await eventually(
      'the beginning of every mail',
      async () => (await database.query<{ begun: boolean }>(BEGUN))[0]?.begun || undefined,
      { withinMs: PATIENT_MS, everyMs: 2_000 },
    );
    plan.say('Every mail has begun.');
    return { ...(await outcomeOf(made.url)), faults: await faultsIn(made.url), hits };
  } finally {
    await database.close();
    for (const service of services) await service[Symbol.asyncDispose]();
  }
}

/**
 * Counts over separate connections: of 100,000 runs that takes longer than a statement of the service may.
 */
async function outcomeOf(url: string): Promise<Omit<FlowKillReport, 'faults' | 'hits'>> {
  const sql = postgres(url, { max: 1, onnotice: () => {} });
  try {
    const [row] = await sql.unsafe<FlowKillReport[]>(OUTCOME);
    if (!row) throw new Error('Nothing was counted.');
    return { ...row };
  } finally {
    await sql.end();
  }
}

async function faultsIn(url: string): Promise<readonly string[]> {
  const session = await openSession({ url, dataDir: null });
  try {
    const { named } = await auditLedger(session, Date.now());
    return named.map(({ check, id, what }) => `${check}: ${id} ${what}`);
  } finally {
    await session.close();
  }
}

async function ask(url: string, path: string, body: object | Uint8Array): Promise<{ readonly id: string }> {
  const isFile = body instanceof Uint8Array;
  const answer = await fetch(`${url}${path}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${LIVE_KEY}`,
      'content-type': isFile ? 'text/csv' : 'application/json',
    },
    body: isFile ? (body as Uint8Array<ArrayBuffer>) : JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(`POST ${path}: ${await answer.text()}`);
  return ((await answer.json()) as { data: { id: string } }).data;
}

/** Two mails with a rest between them that is over at a moment: a later run goes on at once. */
async function prepareFlow(url: string, restMs: number): Promise<void> {
  await ask(url, '/v1/domains', { name: 'sender.example' });
  const templates = ['Hello', 'Again'].map((name) =>
    ask(url, '/v1/templates', {
      name,
      subject: name,
      html: '<p>Hi {{ contact.firstName }}</p>',
      from: 'news@sender.example',
    }),
  );
  const [hello, again] = await Promise.all(templates);
  const { id } = await ask(url, '/v1/flows', {
    name: 'Welcome',
    trigger: { type: 'contactCreated' },
    steps: [
      { key: 'hello', type: 'sendEmail', config: { templateId: hello?.id } },
      { key: 'rest', type: 'delayUntil', config: { at: new Date(Date.now() + restMs).toISOString() } },
      { key: 'again', type: 'sendEmail', config: { templateId: again?.id } },
    ],
    edges: [
      { from: 'hello', to: 'rest' },
      { from: 'rest', to: 'again' },
    ],
  });
  await ask(url, `/v1/flows/${id}/activate`, {});
}

async function beginImport(url: string, file: Uint8Array): Promise<void> {
  await ask(url, `/v1/contacts/import?triggerFlows=true&columns=${CONTACT_COLUMNS}`, file);
}
