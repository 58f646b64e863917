import postgres from 'postgres';
import { MailSink } from '../../src/ops/torture/mail-sink.ts';
import { randomFrom } from '../../src/ops/torture/random.ts';
import { eventually } from '../support/eventually.ts';
import { CampaignWorld } from './campaign-world.ts';

/** The disturbances of a campaign. */
export interface CampaignKillPlan {
  readonly recipients: number;
  readonly instances: number;
  /** `kill -9` of an instance, which is started again. */
  readonly kills: number;
  /** Pauses, each followed by a resumption. */
  readonly pauses: number;
  /** Stops of PostgreSQL, as if the power had failed. */
  readonly stops: number;
  /**
   * Sends to a mail server instead of keeping the mail, and waits until the leases of attempts in doubt are
   * over.
   */
  readonly sink: boolean;
  say(line: string): void;
}

/** The result of a disturbed campaign. */
export interface CampaignKillReport {
  readonly status: string;
  readonly stats: Ledger;
  /** Looks at the ledger on the way, and how many of them did not balance. */
  readonly looks: number;
  readonly unbalanced: number;
  /** Its progress at each disturbance. */
  readonly hits: readonly number[];
  /** Recipients without an email, and with more than one. */
  readonly missed: number;
  readonly twice: number;
  /** Recipients with more than one copy whose email does not say that an attempt was in doubt. */
  readonly copies: number;
  /** Recipients whose message is at the mail server more than once, with an email that says so. */
  readonly inDoubt: number;
  /** Recipients of whom the mail server has nothing. */
  readonly absent: number;
}

interface Ledger {
  readonly total: number;
  readonly sent: number;
  readonly remaining: number;
  readonly skipped: number;
  readonly failed: number;
}

type Disturbance = 'kill' | 'pause' | 'stop';

/** A look at a campaign is one of many; a lease ends after twelve minutes. */
const LOOK_MS = 20;
const PATIENT_MS = 1_400_000;

const OUTCOME = `select (select count(distinct e.recipient_keys[1]) from emails e where e.campaign_id = $1)::integer as reached,
  (select count(*) from emails e where e.campaign_id = $1)::integer as emails`;
const CAPTURED = 'select recipient, count(*)::integer as copies from captured group by recipient';
/** Emails with an attempt whose outcome was lost, or not known. */
const DOUBTED = `select e.recipient_keys[1] as recipient from emails e where e.campaign_id = $1 and (
  exists (select from email_attempts a where a.email_id = e.id and a.outcome = 'unknown')
  or exists (select from email_journal j where j.actor_id = e.id and j.steps::text like '%"after.lease"%'))`;
const UNDER_WAY = `select count(*)::integer as n from email_due d join emails e on e.id = d.id where e.campaign_id = $1`;

/**
 * Sends a campaign through several instances that are killed with -9, while PostgreSQL fails and the campaign
 * is paused on the way. Attempts that were under way at a kill are in doubt until their leases end, as those
 * of every live email.
 */
export async function killCampaign(plan: CampaignKillPlan): Promise<CampaignKillReport> {
  const random = randomFrom(7);
  await using sink = plan.sink ? await openSink() : null;
  await using world = await CampaignWorld.make({ ...plan, ownServer: plan.stops > 0, sinkPort: sink?.port });
  const { ask } = world;
  let [looks, unbalanced] = [0, 0];
  const look = async (path: string): Promise<Ledger> => {
    const { data } = await ask('GET', `${path}/stats`);
    looks++;
    if (data.total !== data.sent + data.remaining + data.skipped + data.failed) unbalanced++;
    return data;
  };
  const until = <Seen>(
    what: string,
    see: () => Promise<Seen | undefined>,
    everyMs = LOOK_MS,
  ): Promise<Seen> => eventually(what, see, { withinMs: PATIENT_MS, everyMs });
  const id = await world.campaign(plan.recipients);
  const path = `/v1/campaigns/${id}`;
  const started = await ask('POST', `${path}/send`, {});
  if (started.status !== 200) throw new Error(JSON.stringify(started));
  const hits: number[] = [];
  const steps = disturbances(plan, random);
  for (const [place, step] of steps.entries()) {
    const goal = Math.round((plan.recipients * (place + 1)) / (steps.length + 1));
    const now = await until(`${goal} given out`, async () => {
      const stats = await look(path);
      return stats.sent + stats.failed >= goal ? stats : undefined;
    });
    hits.push(now.sent + now.failed);
    plan.say(`${step} at ${now.sent}`);
    if (step === 'kill') await world.kill(random.between(0, plan.instances - 1));
    else if (step === 'stop') await world.stopServer();
    else if ((await ask('POST', `${path}/pause`, {})).status === 200) {
      await look(path);
      // Of an answer that was lost the second try finds that the campaign sends already.
      const after = await ask('POST', `${path}/send`, {});
      if (after.status !== 200 && after.status !== 409) throw new Error(JSON.stringify(after));
    }
  }
  const status = await until('its end', async () => {
    await look(path);
    const { data } = await ask('GET', path);
    return data.status === 'sent' ? (data.status as string) : undefined;
  });
  if (plan.sink) {
    plan.say('The campaign is sent; what is in doubt waits for its lease …');
    await until(
      'nothing is under way',
      async () => (await rows<{ n: number }>(world.url, UNDER_WAY, [id]))[0]?.n === 0 || undefined,
      1_000,
    );
  }
  const [outcome] = await rows<Record<'reached' | 'emails', number>>(world.url, OUTCOME, [id]);
  const doubted = new Set(
    (await rows<{ recipient: string }>(world.url, DOUBTED, [id])).map(({ recipient }) => recipient),
  );
  const copiesOf = sink
    ? sink.copies()
    : new Map(
        (await rows<{ recipient: string; copies: number }>(world.url, CAPTURED, [])).map((row) => [
          row.recipient,
          row.copies,
        ]),
      );
  const several = [...copiesOf].flatMap(([recipient, copies]) => (copies > 1 ? [recipient] : []));
  const { reached = -1, emails = -1 } = outcome ?? {};
  return {
    status,
    stats: await look(path),
    looks,
    unbalanced,
    hits,
    missed: plan.recipients - reached,
    twice: emails - reached,
    copies: several.filter((recipient) => !doubted.has(recipient)).length,
    inDoubt: several.filter((recipient) => doubted.has(recipient)).length,
    absent: plan.sink ? plan.recipients - copiesOf.size : 0,
  };
}

/**
 * Asks over a separate connection: of 200,000 recipients that takes longer than a statement of the service
 * may.
 */
async function rows<Row extends object>(url: string, text: string, parameters: readonly string[]) {
  const sql = postgres(url, { max: 1, onnotice: () => {} });
  try {
    return await sql.unsafe<Row[]>(text, [...parameters]);
  } finally {
    await sql.end();
  }
}

async function openSink() {
  const sink = await MailSink.open(7, 'faultless');
  return {
    port: sink.port,
    copies(): Map<string, number> {
      const copies = new Map<string, number>();
      for (const [key, { copies: more }] of sink.taken) {
        const [, recipient = ''] = key.split(' ');
        copies.set(recipient, (copies.get(recipient) ?? 0) + more);
      }
      return copies;
    },
    [Symbol.asyncDispose]: () => sink.close(),
  };
}

/** All that is to happen, in an order of chance. */
function disturbances(
  { kills, pauses, stops }: CampaignKillPlan,
  random: ReturnType<typeof randomFrom>,
): readonly Disturbance[] {
  const many = (count: number, what: Disturbance) => Array.from({ length: count }, () => what);
  const all = [...many(kills, 'kill'), ...many(pauses, 'pause'), ...many(stops, 'stop')];
  return all
    .map((what) => ({ what, place: random.next() }))
    .sort((a, b) => a.place - b.place)
    .map(({ what }) => what);
}
