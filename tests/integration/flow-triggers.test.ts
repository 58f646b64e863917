import { expect, test } from 'bun:test';
import { verify } from '../../src/sending/webhooks/http/signature.ts';
import { eventually } from '../support/eventually.ts';
import { inEachWorld } from '../support/flow-world.ts';
import { receiveRaw } from '../support/raw-receiver.ts';
import { openReceiver, type Received } from '../support/webhook-world.ts';

const DAY = 24 * 3_600_000;

// biome-ignore lint/suspicious/noExplicitAny: a test asserts on what is really there.
type Any = any;

inEachWorld('what begins and ends runs', (world) => {
  test('contacts, audiences and imports begin runs; an import only when it is asked to', async () => {
    const { service, ok, aContact, aFlow, runsOf, follow, fresh } = world();
    const { id: audienceId } = ok(await service.live.post('/v1/audiences', { name: fresh() }));
    const { id: target } = ok(await service.live.post('/v1/audiences', { name: fresh() }));
    const steps = [{ key: 'add', type: 'addToAudience', config: { audienceId: target } }];
    const created = await aFlow({
      trigger: { type: 'contactCreated', filter: { field: 'properties.plan', operator: 'eq', value: 'vip' } },
      steps,
    });
    const joined = await aFlow({ trigger: { type: 'audienceJoined', audienceId }, steps });
    const second = await aFlow({
      trigger: { type: 'audienceJoined', audienceId: target },
      steps: [{ key: 'a', type: 'exit' }],
    });
    const vip = await aContact({ properties: { plan: 'vip' } });
    const other = await aContact();
    ok(await service.live.post(`/v1/audiences/${audienceId}/contacts`, { contactIds: [other] }));
    const importing = async (query: string, email: string): Promise<void> => {
      const sent = await fetch(`${service.url}/v1/contacts/import?audienceId=${audienceId}${query}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${service.keys.live}`, 'content-type': 'text/csv' },
        body: `email,plan\n${email},vip\n`,
      });
      const { data } = (await sent.json()) as Any;
      await eventually(
        'the import',
        async () =>
          ok(await service.live.get(`/v1/contacts/imports/${data.id}`)).status === 'completed' || undefined,
      );
    };
    await importing('', `silent@example.com`);
    await importing('&triggerFlows=true', `loud@example.com`);
    const began = async (flow: string, count: number): Promise<string[]> =>
      eventually(`${count} runs`, async () => {
        await follow();
        const runs = await runsOf(flow);
        return runs.length >= count ? runs.map(({ contactId }: Any) => contactId) : undefined;
      });
    const loud = ok(await service.live.get(`/v1/contacts/loud@example.com`)).id;
    expect((await began(created, 2)).toSorted()).toEqual([vip, loud].toSorted());
    expect((await began(joined, 2)).toSorted()).toEqual([other, loud].toSorted());
    // The acts of a flow begin others.
    expect((await began(second, 3)).toSorted()).toEqual([vip, other, loud].toSorted());
  });

  test('two requests at once begin one run, and a run leaves as soon as its goal is reached', async () => {
    const { service, ok, aContact, aFlow, runsOf, follow, until } = world();
    const flow = await aFlow({
      exitWhen: { field: 'activity.event:bought', operator: 'exists', value: true },
      steps: [{ key: 'wait', type: 'delay', config: { amount: 9, unit: 'days' } }],
    });
    const contactId = await aContact();
    const start = () => service.live.post(`/v1/flows/${flow}/runs`, { contactId });
    const answers = await Promise.all(Array.from({ length: 5 }, start));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 409, 409, 409, 409]);
    const [{ id }] = await runsOf(flow);
    ok(await service.live.post(`/v1/contacts/${contactId}/events`, { name: 'bought' }));
    await follow();
    expect(await until('the goal', id, ({ endedAt }) => endedAt !== null)).toMatchObject({
      status: 'exited',
      reason: 'goal',
    });
    expect((await start()).status).toBe(409);
  });

  test('who has left, and who is over the quota, is passed over and never mailed later', async () => {
    const { service, ok, aContact, aFlow, until, send } = world();
    const flow = await aFlow({ steps: [{ key: 'hello', ...send() }] });
    const gone = await aContact({ status: 'unsubscribed' });
    const begin = async (contactId: string) =>
      until(
        'the end',
        ok(await service.live.post(`/v1/flows/${flow}/runs`, { contactId })).id,
        ({ endedAt }) => endedAt !== null,
      );
    expect((await begin(gone)).log).toMatchObject([{ outcome: 'skipped: unsubscribed', emailId: null }]);
    const { database } = service.service;
    await database.query(`update workspaces set plan = 'free'`);
    await database.query(`update usage set used = 3000 where livemode`);
    await database.query(`insert into usage (workspace_id, livemode, period, used, wanted, granted, quota)
      select id, true, to_char(now() at time zone 'utc', 'YYYY-MM'), 3000, 3000, 3000, 3000 from workspaces on conflict do nothing`);
    const skipped = await begin(await aContact());
    await database.query(`update workspaces set plan = 'growth'`);
    expect(skipped).toMatchObject({
      status: 'completed',
      log: [{ outcome: 'skipped: quota_exceeded', emailId: null }],
    });
  });

  test('a date of the contact begins a run on its day, in the zone of the contact', async () => {
    const { service, aContact, aFlow, runsOf, follow } = world();
    const flow = await aFlow({
      trigger: { type: 'dateProperty', property: 'born', offsetDays: 0, time: '09:00', repeat: 'yearly' },
      steps: [{ key: 'leave', type: 'exit' }],
    });
    const now = service.service.clock.now();
    const day = (ahead: number) => `1992${new Date(now + ahead * DAY).toISOString().slice(4, 10)}`;
    const born = await aContact({ properties: { born: day(1), timeZone: 'Asia/Tokyo' } });
    await aContact({ properties: { born: day(9) } });
    await service.pass(2 * DAY);
    await eventually('the run', async () => {
      await follow();
      return (await runsOf(flow)).length > 0 || undefined;
    });
    await follow();
    expect((await runsOf(flow)).map(({ contactId }: Any) => contactId)).toEqual([born]);
  });

  test('neither names that a client chose nor a flow that cannot begin keep others from their runs', async () => {
    const { service, ok, aContact, aFlow, runsOf, follow } = world();
    const trigger = { type: 'event', name: 'odd' };
    const moment = '2099-01-01T00:00:00Z';
    const broken = await aFlow({
      trigger,
      steps: [{ key: 'at', type: 'delayUntil', config: { at: moment } }],
    });
    await service.service.database.query(
      `update flow_versions set definition = replace(definition::text, $2, 'never')::json where flow_id = $1`,
      [broken, moment],
    );
    const undated = await aFlow({
      trigger: { type: 'dateProperty', property: 'born', offsetDays: 0, time: '09:00', repeat: 'yearly' },
      steps: [{ key: 'leave', type: 'exit' }],
    });
    await service.service.database.query(
      `update flow_versions set definition = replace(definition::text, '09:00', 'no:00')::json where flow_id = $1`,
      [undated],
    );
    await aContact({ properties: { born: '1990-01-01' } });
    await service.pass(DAY);
    const sound = await aFlow({ trigger, steps: [{ key: 'leave', type: 'exit' }] });
    const properties = { depth: 'deep', importId: 'imp_000000000000000000000000' };
    ok(await service.live.post(`/v1/contacts/${await aContact()}/events`, { name: 'odd', properties }));
    await eventually('the run', async () => {
      await follow();
      return (await runsOf(sound)).length > 0 || undefined;
    });
    for (const flow of [broken, undated]) expect(await runsOf(flow)).toEqual([]);
  });

  test('events that come one upon the other are each taken by the step that waits for them', async () => {
    const { service, ok, aContact, aFlow, follow, until } = world();
    const wait = (key: string, name: string, way?: string) => ({
      key,
      type: 'waitForEvent',
      config: {
        name,
        timeout: { amount: 1, unit: 'days' },
        ...(way && { filter: { field: 'event.way', operator: 'eq', value: way } }),
      },
    });
    const flow = await aFlow({
      steps: [wait('first', 'seen'), wait('second', 'seen', 'b'), wait('third', 'bought')],
      edges: [
        { from: 'first', to: 'second', when: 'event' },
        { from: 'second', to: 'third', when: 'event' },
      ],
    });
    const contactId = await aContact();
    const { id } = ok(await service.live.post(`/v1/flows/${flow}/runs`, { contactId }));
    for (const [name, way] of [
      ['bought', 'a'],
      ['seen', 'a'],
      ['seen', 'a'],
      ['seen', 'b'],
      ['bought', 'b'],
    ])
      ok(await service.live.post(`/v1/contacts/${contactId}/events`, { name, properties: { way } }));
    await follow();
    await until('the end', id, ({ status }) => status === 'completed');
  });

  test('a contact who has left an audience is not added again', async () => {
    const { service, ok, aContact, aFlow, until, fresh } = world();
    const { id: audienceId } = ok(await service.live.post('/v1/audiences', { name: fresh() }));
    const flow = await aFlow({ steps: [{ key: 'add', type: 'addToAudience', config: { audienceId } }] });
    const contactId = await aContact();
    await service.service.database.query(
      `insert into contact_activity (contact_id, id, livemode, type, at, subject, data)
       values ($1, 'act_left', true, 'left', now(), $2, '{"source":"preference page"}')`,
      [contactId, audienceId],
    );
    const { id } = ok(await service.live.post(`/v1/flows/${flow}/runs`, { contactId }));
    expect((await until('the end', id, ({ endedAt }) => endedAt !== null)).log).toMatchObject([
      { outcome: 'skipped: has_left' },
    ]);
    expect(ok(await service.live.get(`/v1/audiences/${audienceId}/contacts`))).toEqual([]);
  });

  test('flows that change who matches a dynamic audience begin one another five times at the most', async () => {
    const { service, ok, aContact, aFlow, runsOf, follow, fresh } = world();
    const filter = { field: 'properties.plan', operator: 'eq', value: 'none' };
    const audience = ok(await service.live.post('/v1/audiences', { name: fresh(), type: 'dynamic', filter }));
    const flow = await aFlow({
      trigger: { type: 'audienceJoined', audienceId: audience.id },
      reentry: 'afterExit',
      steps: [{ key: 'mark', type: 'updateContact', config: { properties: { seen: true } } }],
    });
    const contact = await aContact();
    const { database, clock } = service.service;
    for (let round = 1; round <= 6; round++) {
      await database.query(
        `insert into contact_activity (contact_id, id, livemode, type, at, subject, by_machine)
         values ($1, $2, true, 'joined', $3::timestamptz, $4, true)`,
        [contact, `act_${round}`, new Date(clock.now()).toISOString(), audience.id],
      );
      await eventually(`round ${round}`, async () => {
        await follow();
        const [{ isRead }] = (await database.query(
          'select exists (select from flow_feed f where f.position >= (select max(position) from contact_activity)) as "isRead"',
        )) as Any;
        // Asked after it: the service follows by itself too, and a run that begins between both questions
        // would be missed.
        const runs = await runsOf(flow);
        return (isRead && runs.every(({ status }: Any) => status === 'completed')) || undefined;
      });
    }
    expect(await runsOf(flow)).toHaveLength(5);
  });

  test('a step posts signed requests, and a server that never answers delays no mail', async () => {
    const { service, ok, aContact, aFlow, until, send } = world();
    using receiver = openReceiver();
    const { secret } = ok(await service.live.post('/v1/flows/webhook-secret'));
    const posting = (url: string) => aFlow({ steps: [{ key: 'tell', type: 'webhook', config: { url } }] });
    const start = async (flow: string, contactId: string) =>
      ok(await service.live.post(`/v1/flows/${flow}/runs`, { contactId })).id;
    const contacts = await Promise.all(Array.from({ length: 66 }, () => aContact()));
    const [first = '', ...others] = contacts;
    const told = await start(await posting(receiver.url), first);
    expect((await until('the request', told, ({ endedAt }) => endedAt !== null)).log).toMatchObject([
      { step: 'tell', outcome: 'posted' },
    ]);
    const [{ body, signature, event }] = (await receiver.until(1)) as [Received];
    expect(verify(secret, signature, body, Math.floor(service.service.clock.now() / 1_000))).toBe(true);
    expect(event).toMatchObject({
      id: `${told}.1`,
      type: 'flow.step',
      livemode: true,
      runId: told,
      step: 'tell',
    });
    await using silent = await receiveRaw(() => {});
    const stuck = await posting(silent.url);
    const mailing = await aFlow({ steps: [{ key: 'hello', ...send() }] });
    await Promise.all(others.map((contact) => start(stuck, contact)));
    await eventually(
      'as many requests as a workspace may have',
      async () => silent.requests.length >= 29 || undefined,
    );
    const mail = await start(mailing, first);
    await until('the mail', mail, ({ status }) => status === 'completed');
    // Each is given up after a while, and makes place for another.
    const open = () => silent.connections.filter(({ destroyed }) => !destroyed).length;
    await eventually('no more of them are open than that', () => open() <= 29 || undefined);
    ok(await service.live.delete(`/v1/flows/${stuck}?runs=cancel`));
  });
});
