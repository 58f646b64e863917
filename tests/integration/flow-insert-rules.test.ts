import { expect, test } from 'bun:test';
import postgres from 'postgres';
import { forgetContact } from '../../src/audience/contacts/forgetting/forget.ts';
import { createSealer } from '../../src/platform/crypto/sealer.ts';
import { emailSpawn, plainInput } from '../support/engine.ts';
import { eventually } from '../support/eventually.ts';
import { type FlowWorld, inEachWorld } from '../support/flow-world.ts';
import { LOCK_WAITS } from '../support/lock-waits.ts';

// After the answer that a run was cancelled, or a contact forgotten, nothing is sent for it, and nothing of
// it stays.

// biome-ignore lint/suspicious/noExplicitAny: a test asserts on what is really there.
type Any = any;
/** The secret key of the services of these tests. */
const SECRET = 'only-for-tests-only-for-tests-only';
const WAIT = { key: 'wait', type: 'delay', config: { amount: 1, unit: 'days' } } as const;

inEachWorld('emails of steps', (world) => {
  /** A run that waits, and how an email is accepted that a step of it has made before. */
  const begun = async ({ service, ok, aFlow, aContact, until }: FlowWorld) => {
    const flow = await aFlow({ steps: [WAIT] });
    const contactId = await aContact();
    const { id: runId } = ok(await service.live.post(`/v1/flows/${flow}/runs`, { contactId }));
    await until('the delay', runId, ({ currentStep }) => currentStep === 'wait');
    const { database, engine } = service.service;
    const [run] = await database.query<Any>('select workspace_id from flow_runs where id = $1', [runId]);
    const accept = async () => {
      const insert = emailSpawn(plainInput(Date.now(), { livemode: true }), {
        workspaceId: run.workspace_id,
      });
      const columns = { ...insert.columns, flow_run_id: runId, flow_contact_id: contactId };
      return (await engine.spawn('email', { ...insert, columns })).outcome;
    };
    return { runId, contactId, accept };
  };

  test('are accepted while the run goes on, and not any more once it was cancelled', async () => {
    const { service } = world();
    const { runId, accept } = await begun(world());
    expect(await accept()).toBe('spawned');
    expect((await service.live.delete(`/v1/flows/runs/${runId}`)).status).toBe(204);
    expect(await accept()).toBe('withheld');
  });

  test('are not accepted any more once the contact was forgotten', async () => {
    const { service } = world();
    const { contactId, accept } = await begun(world());
    expect((await service.live.delete(`/v1/contacts/${contactId}`)).status).toBe(204);
    expect(await accept()).toBe('withheld');
  });

  test('that were accepted as the contact was being forgotten keep no address', async () => {
    const { service, ok, aContact } = world();
    const contactId = await aContact();
    const { email } = ok(await service.live.get(`/v1/contacts/${contactId}`));
    const parts = service.service as Any;
    const [{ id: workspaceId }] = await parts.database.query('select id from workspaces');
    const asked = Date.now() - 300;
    // Its id is higher than the present moment of the forgetting.
    const sent = ok(
      await service.test.post('/v1/emails', { from: 'a@example.com', to: email, subject: 'x', text: 'x' }),
    );
    const testContact = ok(await service.test.post('/v1/contacts', { email }));
    // It is asked for by the test, once nothing is under way.
    const eraser = { wake: () => {} };
    await forgetContact(
      {
        database: parts.database,
        signer: service.signer,
        sealer: createSealer(SECRET),
        eraser,
      } as Any,
      { caller: { workspaceId, livemode: false }, params: { contact: testContact.id }, now: asked } as Any,
    );
    await parts.duties.find(({ name }: Any) => name === 'contactEraser')?.run();
    await eventually('the address to be gone', async () => {
      const { to } = ok(await service.test.get(`/v1/emails/${sent.id}`));
      return to[0].includes('forgotten') || undefined;
    });
  });

  test('wait for a contact that is being forgotten, and are withheld when it has gone', async () => {
    const { service } = world();
    const { database } = service.service;
    if (database.kind === 'embedded')
      return console.log('Not on PGlite: it has one connection, so that no transaction can hold a contact.');
    const { contactId, accept } = await begun(world());
    const sql = postgres(service.databaseUrl, { max: 1, onnotice: () => {} });
    await using _ = { [Symbol.asyncDispose]: () => sql.end() };
    const forgetting = await sql.reserve();
    for (const [end, outcome] of [
      ['rollback', 'spawned'],
      ['commit', 'withheld'],
    ] as const) {
      await forgetting.unsafe('begin');
      await forgetting.unsafe(`delete from contacts where id = '${contactId}'`);
      const accepted = accept();
      await eventually('it waits', async () => {
        const waiting = await database.query(`select from ${LOCK_WAITS}`);
        return waiting.length > 0 || undefined;
      });
      await forgetting.unsafe(end);
      expect(await accepted).toBe(outcome);
    }
    forgetting.release();
  });
});
