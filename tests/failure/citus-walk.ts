import type { TSchema } from '@sinclair/typebox';
import type { Route } from '../../src/http/request/route.ts';
import { documentedRoutes } from '../../src/modules.ts';
import { eventually } from '../support/eventually.ts';

/** The parts of a walk: instances over one database, and its observer. */
export interface WalkedService {
  /** Instances; requests take turns. */
  readonly urls: readonly string[];
  readonly live: string;
  readonly test: string;
  /** The target of webhooks. */
  readonly receiver: string;
  /** Called with each step before it is done. */
  begin(what: string): void;
}

/** The result of the walk. */
export interface Walk {
  readonly requests: number;
  /** Live emails that were acknowledged, campaigns' and flows' as well, by id. */
  readonly live: readonly string[];
  /** The problems. */
  readonly faults: readonly string[];
}

interface Reply {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: a walk looks at what is really there.
  readonly data: any;
}

const FROM = 'Walk <news@sender.example>';
const SINGLE = 20;
const RECIPIENTS = 30;
const DAY_MS = 86_400_000;
const CLOCK_STARTS = '2026-12-01T09:00:00.000Z';

/**
 * Walks the interface once: it makes one of everything, sends, waits for what was sent, and reads every list
 * with every filter.
 */
export async function walk(service: WalkedService): Promise<Walk> {
  const walker = new Walker(service);
  await walker.mail();
  await walker.marketing();
  await walker.clocks();
  await walker.webhooks();
  await walker.settled();
  await walker.reads();
  return walker.ended();
}

class Walker {
  #requests = 0;
  readonly #faults: string[] = [];
  readonly #live = new Set<string>();
  /** The last one that was made, by the prefix of its id. */
  readonly #made = new Map<string, string>();

  constructor(private readonly service: WalkedService) {}

  ended = (): Walk => ({ requests: this.#requests, live: [...this.#live], faults: this.#faults });

  /**
   * Single emails with keys that are asked for at every instance at once, a batch, and what is scheduled,
   * moved and cancelled.
   */
  async mail(): Promise<void> {
    const [domain] = await this.#ok('GET', '/v1/domains');
    this.#made.set('dom', domain.id);
    for (const key of ['test', 'live'] as const) {
      const to = (n: number): string => (key === 'test' ? 'delivered@simulator.test' : `${n}@example.com`);
      const email = (n: number) => ({
        from: FROM,
        to: to(n),
        subject: `Hello ${n}`,
        text: 'x',
        tags: [{ name: 'order', value: '1842' }],
      });
      for (let n = 0; n < SINGLE; n++) {
        const headers = { 'idempotency-key': `${key}-${n}` };
        const asked = await Promise.all(
          this.service.urls.map(() => this.#untilAnswered('/v1/emails', email(n), headers, key)),
        );
        const ids = new Set(asked.map(({ id }) => id));
        if (ids.size !== 1) this.#faults.push(`One key was answered with ${[...ids].join(', ')}.`);
        if (key === 'live') for (const id of ids) this.#live.add(id);
      }
      const batch = { emails: Array.from({ length: SINGLE }, (_, n) => email(100 + n)) };
      const told = await this.#ok('POST', '/v1/emails/batch', batch, key);
      if (key === 'live') for (const { id } of told) this.#live.add(id);
      const scheduledAt = new Date(Date.now() + DAY_MS).toISOString();
      const [moved, cancelled] = [
        await this.#ok('POST', '/v1/emails', { ...email(200), scheduledAt }, key),
        await this.#ok('POST', '/v1/emails', { ...email(201), scheduledAt }, key),
      ];
      const soon = new Date(Date.now() + 1_000).toISOString();
      await this.#ok('PATCH', `/v1/emails/${moved.id}`, { scheduledAt: soon }, key);
      await this.#ok('DELETE', `/v1/emails/${cancelled.id}`, undefined, key);
      if (key === 'live') this.#live.add(moved.id);
    }
  }

  /** A template, contacts, an audience, a campaign and a flow, to their ends. */
  async marketing(): Promise<void> {
    const template = await this.#ok('POST', '/v1/templates', {
      name: 'Walk',
      alias: 'walk',
      subject: 's',
      html: '<p>x</p>',
      from: FROM,
    });
    const audience = await this.#ok('POST', '/v1/audiences', { name: 'Walk' });
    const contactIds: string[] = [];
    for (let n = 0; n < RECIPIENTS; n++)
      contactIds.push(
        (await this.#ok('POST', '/v1/contacts', { email: `c${n}@example.com`, firstName: 'Ada' })).id,
      );
    await this.#ok('POST', `/v1/audiences/${audience.id}/contacts`, { contactIds });
    await this.#ok('POST', `/v1/contacts/${contactIds[0]}/events`, { name: 'order.placed' });
    const said = { from: FROM, subject: 'News', html: '<p>Hi {{ contact.firstName }}</p>' };
    const campaign = await this.#ok('POST', '/v1/campaigns', {
      name: 'Walk',
      audienceId: audience.id,
      ...said,
    });
    await this.#ok('POST', `/v1/campaigns/${campaign.id}/send`, {});
    await eventually('the campaign is sent', async () => {
      const { total, sent, remaining, skipped, failed } = await this.#ok(
        'GET',
        `/v1/campaigns/${campaign.id}/stats`,
      );
      if (total !== sent + remaining + skipped + failed) this.#faults.push('A campaign does not balance.');
      return (await this.#ok('GET', `/v1/campaigns/${campaign.id}`)).status === 'sent' || undefined;
    });
    const given = await this.#ok('GET', `/v1/campaigns/${campaign.id}/recipients?limit=100`);
    for (const { emailId } of given) this.#live.add(emailId);
    if (given.length !== RECIPIENTS)
      this.#faults.push(`A campaign to ${RECIPIENTS} reached ${given.length}.`);
    const steps = [{ key: 'hello', type: 'sendEmail', config: { templateId: template.id } }];
    const flow = await this.#ok('POST', '/v1/flows', { name: 'Walk', entry: 'hello', steps });
    await this.#ok('POST', `/v1/flows/${flow.id}/activate`);
    await this.#ok('POST', `/v1/flows/${flow.id}/runs`, { contactId: contactIds[1] });
    await eventually('the run has ended', async () => {
      const [run] = await this.#ok('GET', `/v1/flows/${flow.id}/runs`);
      if (run) this.#made.set('run', run.id);
      return run?.status === 'completed' || undefined;
    });
    const sent = (await this.#ok('GET', '/v1/emails?to=c1@example.com')).filter(
      (email: { readonly campaignId: string | null }) => email.campaignId === null,
    );
    if (sent.length !== 1) this.#faults.push(`A run sent ${sent.length} emails instead of one.`);
    for (const { id } of sent) this.#live.add(id);
    await this.#ok('POST', '/v1/suppressions', { address: 'gone@example.com' });
  }

  /** An email and a webhook by a test clock. */
  async clocks(): Promise<void> {
    const clock = await this.#ok('POST', '/v1/test-clocks', { startAt: CLOCK_STARTS }, 'test');
    const scheduledAt = new Date(Date.parse(CLOCK_STARTS) + 3_600_000).toISOString();
    const email = { from: FROM, to: 'delivered@simulator.test', subject: 'Clocked', text: 'x', scheduledAt };
    const { id } = await this.#ok('POST', '/v1/emails', email, 'test', { 'x-svc-test-clock': clock.id });
    await this.#ok(
      'POST',
      `/v1/test-clocks/${clock.id}/advance`,
      { by: { amount: 1, unit: 'days' } },
      'test',
    );
    const found = await this.#ok('GET', `/v1/emails/${id}`, undefined, 'test');
    if (found.status !== 'delivered') this.#faults.push(`After its clock an email is ${found.status}.`);
    await this.#ok('GET', `/v1/emails/${id}/explain`, undefined, 'test');
  }

  /** An endpoint, what was sent told to it again, one by one and in a range. */
  async webhooks(): Promise<void> {
    const webhook = await this.#ok('POST', '/v1/webhooks', {
      url: this.service.receiver,
      events: ['sent', 'delivered'],
    });
    await this.#ok('POST', `/v1/webhooks/${webhook.id}/test`);
    const path = `/v1/webhooks/${webhook.id}/deliveries`;
    const delivery = await eventually('the test is delivered', async () => {
      const [first] = await this.#ok('GET', path);
      return first?.status === 'success' ? first.id : undefined;
    });
    await this.#ok('POST', `${path}/${delivery}/redeliver`);
    const [from, to] = [-DAY_MS, DAY_MS].map((ms) => new Date(Date.now() + ms).toISOString());
    const { queued } = await this.#ok('POST', `/v1/webhooks/${webhook.id}/replay`, { from, to });
    if (queued === 0) this.#faults.push('A replay found nothing.');
    await this.#ok('POST', `/v1/webhooks/${webhook.id}/rotate-secret`);
  }

  /** Everything that was acknowledged has left. */
  async settled(): Promise<void> {
    for (const id of this.#live)
      await eventually(`${id} has left`, async () => {
        const { status } = await this.#ok('GET', `/v1/emails/${id}`);
        return ['sent', 'delivered'].includes(status) || undefined;
      }).catch(async () => {
        const { status, summary } = await this.#ok('GET', `/v1/emails/${id}/explain`);
        this.#faults.push(`${id} has not left: ${status}. ${summary}`);
      });
  }

  /** Every list and every detail, with each filter by itself. */
  async reads(): Promise<void> {
    for (const route of documentedRoutes().filter(isRead)) {
      const path = this.#pathOf(route);
      if (path === null) continue;
      for (const query of ['', ...queriesOf(route, this.#made)])
        for (const key of ['live', 'test'] as const)
          await this.#ask('GET', `${path}${query}`, undefined, key);
    }
  }

  /** The path with the ids of what was made; null where nothing of a kind was. */
  #pathOf({ path, params = {} }: Route): string | null {
    let isKnown = true;
    const found = path.replace(/:(\w+)/g, (_, name: string) => {
      const spec = params[name];
      const id = spec && 'prefix' in spec ? this.#made.get(spec.prefix) : undefined;
      if (id === undefined) isKnown = false;
      return id ?? '';
    });
    return isKnown ? found : null;
  }

  /** A key may be under way at the other instance: then it is asked for again. */
  async #untilAnswered(path: string, body: object, headers: Record<string, string>, key: 'live' | 'test') {
    return eventually(`an answer to ${path}`, async () => {
      const { status, data } = await this.#ask('POST', path, body, key, headers);
      return status < 300 ? data : undefined;
    });
  }

  async #ok(
    method: string,
    path: string,
    body?: object,
    key: 'live' | 'test' = 'live',
    headers = {},
  ): Promise<Reply['data']> {
    const { status, data } = await this.#ask(method, path, body, key, headers);
    if (status >= 300) throw new Error(`${method} ${path}: ${status} ${JSON.stringify(data)}`);
    return data;
  }

  async #ask(
    method: string,
    path: string,
    body: object | undefined,
    key: 'live' | 'test',
    headers: Record<string, string> = {},
  ): Promise<Reply> {
    const { urls } = this.service;
    this.service.begin(`${method} ${path.replace(/[a-z]+_[0-9a-z]{20,}/g, ':id').replace(/=.*/, '=')}`);
    const answer = await fetch(`${urls[this.#requests++ % urls.length]}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${this.service[key]}`,
        ...(body && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    if (answer.status >= 500) this.#faults.push(`${method} ${path}: ${answer.status} ${text.slice(0, 200)}`);
    const isJson = answer.headers.get('content-type')?.startsWith('application/json') === true;
    const told = isJson && text !== '' ? JSON.parse(text) : {};
    const data = told.data ?? told.error ?? null;
    if (typeof data?.id === 'string') this.#made.set(data.id.split('_')[0] as string, data.id);
    return { status: answer.status, data };
  }
}

const isRead = ({ method, path, waitsMs }: Route): boolean =>
  method === 'GET' && path.startsWith('/v1/') && waitsMs === undefined;

/** A query for each value of each filter; a filter without fixed values gets one of its form. */
function queriesOf({ query }: Route, made: ReadonlyMap<string, string>): readonly string[] {
  const properties: Readonly<Record<string, TSchema>> = query?.properties ?? {};
  return Object.entries(properties).flatMap(([name, schema]) =>
    valuesOf(name, schema, made).map((value) => `?${name}=${encodeURIComponent(value)}`),
  );
}

const GIVEN: Readonly<Record<string, string>> = {
  limit: '2',
  q: 'hello',
  subject: 'Hello',
  to: '3@example.com',
  recipient: '3@example.com',
  tag: 'order:1842',
  types: 'delivered',
};

function valuesOf(name: string, schema: TSchema, made: ReadonlyMap<string, string>): readonly string[] {
  const [, prefix] = /^\^([a-z]+)_/.exec(schema.pattern ?? '') ?? [];
  const id = made.get(prefix ?? '');
  if (id !== undefined) return [id];
  const variants: readonly TSchema[] = schema.anyOf ?? [schema];
  const constants = variants.flatMap((each) => (each.const === undefined ? (each.enum ?? []) : [each.const]));
  if (constants.length > 0) return constants.map(String);
  if (schema.type === 'boolean') return ['true', 'false'];
  const example = GIVEN[name] ?? schema.examples?.[0];
  return example === undefined ? [] : [String(example)];
}
