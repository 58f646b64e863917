import { expect, test } from 'bun:test';
import { flowUsesOfTemplates } from '../../src/automation/flows/module.ts';
import { inEachWorld } from '../support/flow-world.ts';

const WAIT = { key: 'wait', type: 'delay', config: { amount: 1, unit: 'days' } } as const;

interface Node {
  readonly 'Relation Name'?: string;
  readonly 'Actual Loops': number;
  readonly Plans?: readonly Node[];
}

const nodesOf = (node: Node): readonly Node[] => [node, ...(node.Plans ?? []).flatMap(nodesOf)];

inEachWorld('the deletion of a template', (world) => {
  test('looks at the runs of a flow once, and only where an earlier version of it names the template', async () => {
    const { service, ok, aFlow } = world();
    const { database } = service.service;
    const templateOf = async (name: string): Promise<string> =>
      ok(
        await service.live.post('/v1/templates', {
          name,
          subject: 'S',
          html: '<p>Hi</p>',
          from: 'shop@sender.example',
        }),
      ).id;
    const [named, other] = [await templateOf('named'), await templateOf('other')];
    const flow = await aFlow({ steps: [WAIT] });
    // Two earlier versions name the template, and two do not; the last one is published.
    const mail = { key: 'mail', type: 'sendEmail', config: { templateId: named } };
    for (const steps of [[mail], [WAIT, mail], [WAIT], [{ ...WAIT, key: 'rest' }]]) {
      const edges = steps.length === 2 ? [{ from: 'wait', to: 'mail' }] : [];
      ok(await service.live.patch(`/v1/flows/${flow}`, { entry: steps[0]?.key, steps, edges }));
      ok(await service.live.post(`/v1/flows/${flow}/activate`));
    }
    const looksFor = async (id: string): Promise<number> => {
      let looks = 0;
      for (const { where } of flowUsesOfTemplates) {
        const [row] = await database.query<{ 'QUERY PLAN': readonly { readonly Plan: Node }[] }>(
          `explain (analyze, format json) select ${where(`'${id}'`)}`,
        );
        for (const { Plan } of row?.['QUERY PLAN'] ?? [])
          for (const node of nodesOf(Plan))
            if (node['Relation Name'] === 'flow_runs') looks += node['Actual Loops'];
      }
      return looks;
    };
    expect([await looksFor(named), await looksFor(other)]).toEqual([1, 0]);
  });
});
