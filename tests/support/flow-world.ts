import { afterAll, beforeAll, describe } from 'bun:test';
import { eventually } from './eventually.ts';
import { insisting } from './insistent.ts';
import { type LiveService, startLiveService } from './live-service.ts';

// biome-ignore lint/suspicious/noExplicitAny: a test asserts on what is really there.
type Any = any;

/** A service with a template, and what tests of flows do again and again. */
export interface FlowWorld {
  readonly service: LiveService;
  readonly templateId: string;
  /** The data of an answer. @throws when it is a refusal */
  ok(told: { status: number; body: Any }): Any;
  /** A name that nothing else has. */
  fresh(): string;
  aContact(more?: object): Promise<string>;
  /** An active flow. */
  aFlow(flow: object): Promise<string>;
  runsOf(flow: string): Promise<Any[]>;
  runOf(id: string): Promise<Any>;
  /** Follows the log at once, instead of within a second. */
  follow(): Promise<unknown> | undefined;
  until(what: string, id: string, is: (run: Any) => boolean): Promise<Any>;
  /** A step that sends the template. */
  send(more?: object): object;
}

async function openWorld(environment: Readonly<Record<string, string>>): Promise<FlowWorld> {
  const started = await startLiveService({ environment });
  const service = { ...started, live: insisting(started.live), test: insisting(started.test) };
  let made = 0;
  const fresh = () => `n${++made}`;
  const ok: FlowWorld['ok'] = (told) => {
    if (told.status >= 300) throw new Error(`${told.status} ${JSON.stringify(told.body)}`);
    return told.body?.data;
  };
  const template = await service.live.post('/v1/templates', {
    name: 'Hello',
    subject: 'Hello {{ contact.firstName }}',
    html: '<p>{{ contact.properties.plan }} {{ event.total }}</p>',
    from: 'Shop <shop@sender.example>',
  });
  const templateId = ok(template).id;
  const runOf: FlowWorld['runOf'] = async (id) => ok(await service.live.get(`/v1/flows/runs/${id}`));
  return {
    service,
    templateId,
    ok,
    fresh,
    runOf,
    aContact: async (more = {}) =>
      ok(
        await service.live.post('/v1/contacts', {
          email: `${fresh()}@example.com`,
          firstName: 'Ada',
          ...more,
        }),
      ).id,
    aFlow: async (flow) => {
      const { id } = ok(await service.live.post('/v1/flows', { name: fresh(), ...flow }));
      ok(await service.live.post(`/v1/flows/${id}/activate`));
      return id;
    },
    runsOf: async (id) => ok(await service.live.get(`/v1/flows/${id}/runs`)),
    follow: () => service.service.duties.find(({ name }) => name === 'flowFollower')?.run(),
    until: (what, id, is) =>
      eventually(what, async () => {
        const run = await runOf(id);
        return is(run) ? run : undefined;
      }),
    send: (more = {}) => ({ type: 'sendEmail', config: { templateId, ...more } }),
  };
}

/** The same tests on a service over each kind of database. Only the tests may read the world. */
export function inEachWorld(title: string, tests: (world: () => FlowWorld) => void): void {
  describe.each([
    ['PostgreSQL', { WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8' }],
    ['PGlite', { DATABASE_URL: '', WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8' }],
  ])(`${title} on %s`, (_, environment) => {
    let world: FlowWorld;
    beforeAll(async () => {
      world = await openWorld(environment);
    });
    afterAll(() => world.service[Symbol.asyncDispose]());
    tests(() => world);
  });
}
