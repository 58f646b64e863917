import { randomFrom } from '../../src/ops/torture/random.ts';
import { eventually, momentOf } from '../support/eventually.ts';
import { CampaignWorld } from './campaign-world.ts';

/**
 * The results of one race, round by round: the number of each outcome, and those that the machine does not
 * allow.
 */
export interface Raced {
  readonly outcomes: Readonly<Record<string, number>>;
  readonly forbidden: readonly string[];
}

type World = Pick<CampaignWorld, 'ask' | 'campaign' | 'database'>;
/** One round: what it came to, and whether that may be. */
type Race = (world: World, wait: (mostMs: number) => Promise<void>) => Promise<readonly [string, boolean]>;

const QUOTA = 500_000;
const ENDS = ['sent', 'paused', 'cancelled', 'draft', 'failed'];

const at = (id: string, then = ''): string => `/v1/campaigns/${id}${then}`;
const send = ({ ask }: World, id: string, body: object = {}) => ask('POST', at(id, '/send'), body);

const rest = ({ ask }: World, id: string): Promise<{ status: string; reason: string | null }> =>
  eventually('it rests', async () => {
    const { data } = await ask('GET', at(id));
    return ENDS.includes(data.status) ? { status: data.status, reason: data.pausedReason } : undefined;
  });

/** True when the numbers balance, and no recipient has two emails. */
async function isBalanced({ ask, database }: World, id: string): Promise<boolean> {
  const { data } = await ask('GET', at(id, '/stats'));
  const [twice] = await database.query<{ n: number }>(
    `select count(*)::integer as n from (select 1 from emails where campaign_id = $1 group by recipient_keys[1] having count(*) > 1) f`,
    [id],
  );
  return data.total === data.sent + data.remaining + data.skipped + data.failed && twice?.n === 0;
}

/** Every race, by its name. */
export const RACES: Readonly<Record<string, Race>> = {
  'two sends': async (world) => {
    const id = await world.campaign(3);
    const both = await Promise.all([send(world, id), send(world, id)]);
    const statuses = both.map(({ status }) => status).toSorted();
    const end = await rest(world, id);
    const isRight = `${statuses}` === '200,409' && end.status === 'sent' && (await isBalanced(world, id));
    return [`${statuses} ${end.status}`, isRight];
  },
  'send against patch': async (world) => {
    const id = await world.campaign(1);
    const [sent, patched] = await Promise.all([
      send(world, id),
      world.ask('PATCH', at(id), { name: 'Patched' }),
    ]);
    const end = await rest(world, id);
    const { name } = (await world.ask('GET', at(id))).data;
    const isRight =
      sent.status === 200 &&
      end.status === 'sent' &&
      name === (patched.status === 200 ? 'Patched' : 'Disturbed');
    return [`${sent.status} ${patched.status} ${end.status}`, isRight && [200, 409].includes(patched.status)];
  },
  'pause against resume': async (world) => {
    // One a second: a slow machine comes to the race before the last one.
    const id = await world.campaign(300, { ratePerHour: 3_600 });
    await send(world, id);
    const isOff = async () => (await world.ask('GET', at(id))).data.status !== 'preparing' || undefined;
    await eventually('it sends', isOff, { everyMs: 5 });
    const [paused, resumed] = await Promise.all([world.ask('POST', at(id, '/pause'), {}), send(world, id)]);
    const { status } = (await world.ask('GET', at(id))).data;
    const outcome = `${paused.status} ${resumed.status} ${status}`;
    if (status === 'sending') await world.ask('POST', at(id, '/pause'), {});
    await world.ask('POST', at(id, '/cancel'), {});
    const isRight = ['200 409 paused', '200 200 sending'].includes(outcome);
    return [outcome, isRight && (await isBalanced(world, id))];
  },
  'cancel against the last recipient': async (world, wait) => {
    const id = await world.campaign(2);
    await send(world, id);
    await wait(300);
    const paused = await world.ask('POST', at(id, '/pause'), {});
    const cancelled = await world.ask('POST', at(id, '/cancel'), {});
    const end = await rest(world, id);
    const outcome = `${paused.status} ${cancelled.status} ${end.status}`;
    const isRight = ['200 200 cancelled', '409 409 sent'].includes(outcome);
    return [outcome, isRight && (await isBalanced(world, id))];
  },
  'unschedule against the due time': async (world, wait) => {
    const id = await world.campaign(2);
    const due = Date.now() + 1_200;
    await send(world, id, { scheduledAt: new Date(due).toISOString() });
    await momentOf(due - 60);
    await wait(120);
    const back = await world.ask('POST', at(id, '/unschedule'), {});
    const end = await rest(world, id);
    const { total } = (await world.ask('GET', at(id, '/stats'))).data;
    const outcome = `${back.status} ${end.status} ${total}`;
    return [outcome, ['200 draft 0', '409 sent 2'].includes(outcome) && (await isBalanced(world, id))];
  },
  'quota emptied by other mail': async (world) => {
    const id = await world.campaign(5);
    const used = async (): Promise<number> => (await world.ask('GET', '/v1/workspace')).data.usage.emailsSent;
    // A campaign that was cancelled before still gives back units while its emails are cancelled.
    await eventually('no email waits', async () => {
      const [waiting] = await world.database.query<{ n: number }>(
        `select count(*)::integer as n from emails_now where state in ('scheduled', 'queued', 'sending', 'deferred')`,
      );
      return waiting?.n === 0 || undefined;
    });
    await world.database.query(
      `insert into usage as u (workspace_id, livemode, period, used, wanted, granted, quota)
       select id, true, to_char(now() at time zone 'UTC', 'YYYY-MM'), $1, 0, 0, 0 from workspaces
       on conflict (workspace_id, livemode, period) do update set used = u.used + excluded.used`,
      [QUOTA - 5 - (await used())],
    );
    const single = { from: 'shop@sender.example', to: 'one@people.example', subject: 'One', text: 'One' };
    const [sent, ...others] = await Promise.all([
      send(world, id),
      ...Array.from({ length: 3 }, () => world.ask('POST', '/v1/emails', single)),
    ]);
    const taken = others.filter(({ status }) => status === 202).length;
    const end = await rest(world, id);
    const stats = (await world.ask('GET', at(id, '/stats'))).data;
    const all = await used();
    const outcome = `${sent?.status} ${taken} others, ${stats.sent} ${end.status} ${end.reason}`;
    const isRight =
      sent?.status === 429
        ? end.status === 'draft' && all === QUOTA - 5 + taken
        : all === QUOTA && stats.sent + taken === 5 && end.reason === 'quota_exceeded';
    return [outcome, isRight && (await isBalanced(world, id))];
  },
};

/** Runs every race that many times, on two instances; `say` hears of each. */
export async function raceCampaigns(
  rounds: number,
  say: (line: string) => void = () => {},
): Promise<Readonly<Record<string, Raced>>> {
  const random = randomFrom(3);
  const wait = (mostMs: number) => momentOf(Date.now() + random.next() * mostMs);
  await using world = await CampaignWorld.make({ instances: 2, env: { DEFAULT_PLAN: 'growth' } });
  const results: Record<string, Raced> = {};
  for (const [name, race] of Object.entries(RACES)) {
    const outcomes: Record<string, number> = {};
    const forbidden: string[] = [];
    for (let round = 0; round < rounds; round++) {
      const [outcome, isRight] = await race(world, wait);
      outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
      if (!isRight) forbidden.push(outcome);
    }
    results[name] = { outcomes, forbidden };
    say(`${name}: ${JSON.stringify(outcomes)}${forbidden.length > 0 ? ` FORBIDDEN ${forbidden}` : ''}`);
  }
  return results;
}
