import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import {
  MOST_EVENTS_A_SECOND,
  recordCustomEvent,
} from '../../src/audience/contacts/activity/custom-events.ts';
import { EventRecorder } from '../../src/audience/contacts/activity/event-recorder.ts';
import { Failure } from '../../src/platform/errors/failure.ts';
import { LocalCounter } from '../../src/platform/time/window-counter.ts';
import { BOTH_DATABASES, type RealService, startRealService } from './real-service.ts';

describe.each(BOTH_DATABASES)('custom events on %s', (_, environment) => {
  let service: RealService;
  let live: string;

  beforeAll(async () => {
    service = await startRealService(environment);
    live = await service.keyWith('live', ['*']);
  });
  afterAll(() => service[Symbol.asyncDispose]());

  const send = (method: string, path: string, body?: unknown, headers = {}) =>
    service.ask({ method, path, key: live, headers, ...(body !== undefined && { body }) });
  const get = (path: string) => send('GET', `/v1/contacts${path}`);
  const added = async (body: object) => {
    const told = await send('POST', '/v1/contacts', body);
    if (told.status !== 201) throw new Error(told.text);
    return told.body.data;
  };

  test('of one contact an instance takes twenty events in a second, and as many of each other one', async () => {
    const contacts = [
      await added({ email: 'often@example.com' }),
      await added({ email: 'seldom@example.com' }),
    ];
    const { database } = service.service;
    const [workspace] = await database.query<{ id: string }>('select id from workspaces');
    let at = 0;
    const commands = {
      database,
      eventRecorder: new EventRecorder(database),
      eventCounter: new LocalCounter(1_000, () => at),
    };
    const tell = (contact: string) =>
      recordCustomEvent(
        commands as never,
        {
          caller: { workspaceId: workspace?.id, livemode: true },
          params: { contact },
          body: { name: 'seen' },
          now: Date.now(),
          claim: null,
        } as never,
      );
    // All at once, so that they are written together.
    const [often = [], seldom = []] = await Promise.all(
      contacts.map(({ id, email }, which) =>
        Promise.all(
          Array.from({ length: MOST_EVENTS_A_SECOND + 5 * (1 - which) }, (_, n) => tell(n % 2 ? id : email)),
        ),
      ),
    );
    const refused = often.filter((one) => one instanceof Failure);
    expect(refused).toHaveLength(5);
    expect(refused[0]).toMatchObject({ code: 'RATE_LIMITED', extra: { retryAfterSeconds: 1 } });
    expect(seldom.some((one) => one instanceof Failure)).toBeFalse();
    for (const { id } of contacts)
      expect((await get(`/${id}/activity?type=event&limit=100`)).body.data).toHaveLength(
        MOST_EVENTS_A_SECOND,
      );
    at = 1_000;
    expect(await tell('often@example.com')).not.toBeInstanceOf(Failure);
  });

  test('events that come together each have their own answer, also one without a contact', async () => {
    const made = await Promise.all(
      Array.from({ length: 10 }, (_, n) => added({ email: `together${n}@example.com` })),
    );
    const tell = (id: string, n: number, key: string) =>
      send(
        'POST',
        `/v1/contacts/${id}/events`,
        { name: 'seen', properties: { n } },
        {
          'idempotency-key': key,
        },
      );
    const ids = [...made.map(({ id }) => id), `con_${'0'.repeat(24)}`];
    const told = await Promise.all(ids.map((id, n) => tell(id, n, `together-${n}`)));
    expect(told.map(({ status }) => status)).toEqual([...made.map(() => 202), 404]);
    expect(told.slice(0, 10).map(({ body }) => body.data.contactId)).toEqual(made.map(({ id }) => id));
    const again = await Promise.all(made.map(({ id }, n) => tell(id, n, `together-${n}`)));
    expect(again.map(({ body }) => body)).toEqual(told.slice(0, 10).map(({ body }) => body));
    const [{ id = '' } = {}] = made;
    expect((await tell(id, 99, 'together-0')).body.error.code).toBe('IDEMPOTENCY_CONFLICT');
    expect((await get(`/${id}/activity?type=event`)).body.data).toHaveLength(1);
  });
});
