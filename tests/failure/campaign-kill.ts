import { freePort } from '../../src/chaos/free-port.ts';
import { randomFrom } from '../../src/chaos/random.ts';
import { openDatabase } from '../../src/db/open.ts';
import { manyPeople } from '../support/campaign-people.ts';
import { eventually } from '../support/eventually.ts';
import { createTestDatabase } from '../support/postgres.ts';
import { LIVE_KEY, type Service, startService } from '../support/service.ts';

/** How a campaign is disturbed. */
export interface CampaignKillPlan {
  readonly recipients: number;
  readonly instances: number;
  readonly kills: number;
  /** Pauses, each followed by a resumption. */
  readonly pauses: number;
  say(line: string): void;
}

/** What a disturbed campaign has come to. */
export interface CampaignKillReport {
  readonly status: string;
  readonly stats: Ledger;
  /** Looks at the ledger on the way, and how many of them did not balance. */
  readonly looks: number;
  readonly unbalanced: number;
  /** How far it was at each disturbance. */
  readonly hits: readonly number[];
  /** Recipients without an email, and with more than one. */
  readonly missed: number;
  readonly twice: number;
  /** Recipients with more than one captured copy, of one email or of several. */
  readonly copies: number;
}

interface Ledger {
  readonly total: number;
  readonly sent: number;
  readonly remaining: number;
  readonly skipped: number;
  readonly failed: number;
}

const PATIENT = { withinMs: 1_800_000, everyMs: 20 };

const OUTCOME = `select (select count(distinct e.recipient_keys[1]) from emails e where e.campaign_id = $1)::integer as reached,
  (select count(*) from emails e where e.campaign_id = $1)::integer as emails,
  (select count(*) from (select 1 from captured group by recipient having count(*) > 1) f)::integer as copies`;

/**
 * Sends a campaign through several instances that are killed with -9, and pauses it on the way. Attempts that were
 * under way at a kill are in doubt until their leases end, as those of every live email.
 */
export async function killCampaign(plan: CampaignKillPlan): Promise<CampaignKillReport> {
  await using made = await createTestDatabase();
  const random = randomFrom(7);
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
      },
    });
  const services: Service[] = [];
  for (const port of ports) services.push(await start(port));
  const database = await openDatabase({ url: made.url, dataDir: '' });
  const url = (path: string) => `http://127.0.0.1:${random.pick(ports)}${path}`;
  const ask = async (method: string, path: string, body?: object) => {
    const answer = await fetch(url(path), {
      method,
      headers: { authorization: `Bearer ${LIVE_KEY}`, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    });
    // biome-ignore lint/suspicious/noExplicitAny: a test asserts on what is really there.
    return { status: answer.status, data: ((await answer.json()) as any).data };
  };
  let [looks, unbalanced] = [0, 0];
  const look = async (id: string): Promise<Ledger> => {
    const { data } = await ask('GET', `/v1/campaigns/${id}/stats`);
    looks++;
    if (data.total !== data.sent + data.remaining + data.skipped + data.failed) unbalanced++;
    return data;
  };
  try {
    await ask('POST', '/v1/domains', { name: 'sender.example' });
    const [workspace] = await database.query<{ id: string }>('select id from workspaces');
    const audienceId = await manyPeople(database, workspace?.id ?? '', plan.recipients);
    const said = { from: 'news@sender.example', subject: 'Hello', html: '<p>Hi {{ contact.firstName }}</p>' };
    const { id } = (await ask('POST', '/v1/campaigns', { name: 'Killed', audienceId, ...said })).data;
    const path = `/v1/campaigns/${id}`;
    const started = await ask('POST', `${path}/send`, {});
    if (started.status !== 200) throw new Error(JSON.stringify(started));
    const hits: number[] = [];
    const steps = plan.kills + plan.pauses;
    for (let step = 1; step <= steps; step++) {
      const goal = Math.round((plan.recipients * step) / (steps + 1));
      const now = await eventually(
        `${goal} given out`,
        async () => {
          const stats = await look(id);
          return stats.sent + stats.failed >= goal ? stats : undefined;
        },
        PATIENT,
      );
      hits.push(now.sent + now.failed);
      if (step % 2 === 0 || plan.pauses === 0 || hits.length > 2 * plan.pauses) {
        const victim = random.pick([...services.keys()]);
        await services[victim]?.kill();
        plan.say(`Killed instance ${victim} at ${now.sent}.`);
        services[victim] = await start(ports[victim] as number);
      } else {
        const paused = await ask('POST', `${path}/pause`, {});
        if (paused.status === 200) {
          const held = await look(id);
          plan.say(`Paused at ${held.sent}.`);
          const after = await ask('POST', `${path}/send`, {});
          if (after.status !== 200) throw new Error(JSON.stringify(after));
        }
      }
    }
    const campaign = await eventually(
      'the end',
      async () => {
        await look(id);
        const { data } = await ask('GET', path);
        return data.status === 'sent' ? data : undefined;
      },
      PATIENT,
    );
    const [outcome] = await database.query<Record<'reached' | 'emails' | 'copies', number>>(OUTCOME, [id], {
      deadlineMs: 120_000,
    });
    const stats = await look(id);
    const { reached = -1, emails = -1, copies = -1 } = outcome ?? {};
    const [missed, twice] = [plan.recipients - reached, emails - reached];
    return { status: campaign.status, stats, looks, unbalanced, hits, missed, twice, copies };
  } finally {
    await database.close();
    for (const service of services) await service[Symbol.asyncDispose]();
  }
}
