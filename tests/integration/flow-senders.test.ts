import { expect, test } from 'bun:test';
import { inEachWorld } from '../support/flow-world.ts';

// A flow whose emails no sender could send is refused before it begins runs that would leave them out.

inEachWorld('the senders of flows', (world) => {
  const problemsOf = async (client: 'live' | 'test', steps: readonly object[]) => {
    const { service, ok, fresh } = world();
    const flow = { name: fresh(), trigger: { type: 'manual' }, steps };
    const { id } = ok(await service[client].post('/v1/flows', flow));
    return { id, ...ok(await service[client].post(`/v1/flows/${id}/validate`)) };
  };
  const aTemplate = async (client: 'live' | 'test', from: string | null) => {
    const { service, ok, fresh } = world();
    const template = { name: fresh(), subject: 'Hello', text: 'Hello', from };
    return ok(await service[client].post('/v1/templates', template)).id;
  };

  test('a domain that is not verified keeps a live flow from being activated, and no test flow', async () => {
    const { service, send, ok } = world();
    const foreign = { key: 'mail', ...send({ from: 'Shop <shop@elsewhere.example>' }) };
    const { id, valid, problems } = await problemsOf('live', [foreign]);
    const message =
      'The emails of this step come from elsewhere.example, which is not verified in this workspace: verify the domain, or name another sender.';
    expect([valid, problems]).toEqual([false, [{ path: '/steps/0/config/from', message }]]);
    const refused = await service.live.post(`/v1/flows/${id}/activate`);
    expect([refused.status, refused.body.error.details]).toEqual([422, problems]);
    ok(
      await service.live.patch(`/v1/flows/${id}`, {
        steps: [{ key: 'mail', ...send({ from: 'shop@sender.example' }) }],
      }),
    );
    ok(await service.live.post(`/v1/flows/${id}/activate`));
    const templateId = await aTemplate('test', 'shop@elsewhere.example');
    const step = { key: 'mail', type: 'sendEmail', config: { templateId } };
    expect(await problemsOf('test', [step])).toMatchObject({ valid: true, problems: [] });
  });

  test('the sender is that of the step, else of the template, else of the workspace', async () => {
    const { service, ok } = world();
    const [own, foreign] = [await aTemplate('live', null), await aTemplate('live', 'a@elsewhere.example')];
    const mail = (key: string, config: object) => ({ key, type: 'sendEmail', config });
    const steps = [
      mail('none', { templateId: own }),
      mail('foreign', { templateId: foreign }),
      mail('named', { templateId: foreign, from: 'shop@sender.example' }),
      mail('crooked', { templateId: own, from: 'shop at sender' }),
    ];
    const edges = ['foreign', 'named', 'crooked'].map((to, index) => ({ from: steps[index]?.key, to }));
    const { id } = ok(await service.live.post('/v1/flows', { name: 'Senders', steps, edges }));
    const said = async () =>
      ok(await service.live.post(`/v1/flows/${id}/validate`)).problems.map(
        ({ path, message }: { path: string; message: string }) => [path, message.split(':')[0]],
      );
    const others = [
      [
        '/steps/1/config/from',
        'The emails of this step come from elsewhere.example, which is not verified in this workspace',
      ],
      ['/steps/3/config/from', 'The sender of this step is no address'],
    ];
    expect(await said()).toEqual([
      ['/steps/0/config/from', 'The emails of this step have no sender'],
      ...others,
    ]);
    ok(await service.live.patch('/v1/workspace', { defaultFrom: 'Shop <shop@sender.example>' }));
    expect(await said()).toEqual(others);
  });
});
