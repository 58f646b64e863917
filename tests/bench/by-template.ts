import { createClient } from '../support/client.ts';
import { TEST_KEY } from '../support/service.ts';
import { allAccepted, EMAIL, IN_A_WEEK } from './accepted.ts';
import { preparePost } from './load.ts';
import { median } from './median.ts';
import type { Row } from './table.ts';
import type { Section } from './workbench.ts';

/** The html of an ordinary email, 15 kB. */
const HTML = `<html><body>${'<p style="color:#333">It is on its way, and will be with you soon.</p>'.repeat(210)}`;
const NAMES = {
  name: 'Ada',
  number: '1842',
  items: [{ title: 'Tea' }, { title: 'Biscuits' }, { title: 'Milk' }],
};

/**
 * Turns of each kind, in changing order: the noise of a machine is larger than a difference between two runs.
 */
const ROUNDS = 4;

/** The most that a layout and three partials may cost, of a template with the same result. */
const MOST_FOR_LAYERS = 1.1;

/** The same email in full, by template, and by a template with a layout and three partials. */
export const byTemplate: Section = {
  name: 'by-template',
  async run(bench) {
    const rows: Row[] = [];
    await using service = await bench.service(await bench.database('bench_by_template'));
    const client = createClient(service.url, TEST_KEY);
    for (const [size, html] of [
      ['2 kB', EMAIL.html],
      ['15 kB', HTML],
    ] as const) {
      const alias = `bench-${size.replace(' ', '-').toLowerCase()}`;
      const body =
        '<p>Hello {{ name }}, your order {{ number }}:</p>{% for i in items %}<b>{{ i.title }}</b>{% endfor %}';
      const template = {
        name: size,
        alias,
        subject: 'Order {{ number }}',
        html: `${html}${body}`,
        text: EMAIL.text,
      };
      const created = await client.post('/v1/templates', template);
      if (created.status !== 201) throw new Error(JSON.stringify(created.body));
      const shown = await client.post('/v1/templates/render-preview', {
        templateId: alias,
        variables: NAMES,
      });
      const layered = await withLayers(client, alias, template);
      const seen = await client.post('/v1/templates/render-preview', {
        templateId: layered,
        variables: NAMES,
      });
      if (seen.body.data?.html !== shown.body.data.html) throw new Error('The layers give another html.');
      const common = { from: EMAIL.from, to: EMAIL.to, scheduledAt: IN_A_WEEK };
      const { subject, text } = shown.body.data;
      const kinds = [
        { what: 'in full', body: { ...common, subject, text, html: shown.body.data.html } },
        { what: 'by template', body: { ...common, templateId: alias, variables: NAMES } },
        { what: 'with layers', body: { ...common, templateId: layered, variables: NAMES } },
      ];
      const taken = new Map<string, Row[]>();
      const count = Math.round(bench.scale.emails / ROUNDS / 3);
      for (const { body: warm } of kinds)
        await allAccepted(preparePost(service.port, '/v1/emails', TEST_KEY, warm), 64, 2_000);
      for (let round = 0; round < ROUNDS; round++) {
        for (const kind of round % 2 === 0 ? kinds : kinds.toReversed()) {
          bench.say(`${size} ${kind.what}, round ${round + 1} of ${ROUNDS} …`);
          const spent = bench.meterCpu(service);
          const result = await allAccepted(
            preparePost(service.port, '/v1/emails', TEST_KEY, kind.body),
            64,
            count,
          );
          const row = { what: `(t) accepted ${kind.what}, ${size}`, ...result, cpu: spent(count) };
          taken.set(kind.what, [...(taken.get(kind.what) ?? []), row]);
        }
      }
      const [full, templated, inLayers] = kinds.map(({ what }) => middleOf(taken.get(what) ?? []));
      if (!full || !templated || !inLayers) throw new Error('Nothing was measured.');
      rows.push(full, templated, inLayers);
      bench.remark(
        `(t) ${size}: by template at ${(((templated.perSecond ?? 0) / (full.perSecond ?? 1)) * 100).toFixed(0)} % of the rate in full; the aim is 75 % or more. The middle of ${ROUNDS} rounds each.`,
      );
      // The rate depends on who else uses the machine.
      const [plain = 0, layers = 0] = kinds
        .slice(1)
        .map(({ what }) => median((taken.get(what) ?? []).map(({ cpu }) => cpu?.service ?? 0)));
      bench.remark(
        `(t) ${size}: with a layout and three partials ${layers.toFixed(0)} us of the processor, without ${plain.toFixed(0)} us: ${((layers / plain) * 100).toFixed(0)} %; the aim is ${Math.round(MOST_FOR_LAYERS * 100)} % or less.`,
      );
    }
    return rows;
  },
};

/** The same template made of a layout and three partials; its alias. */
async function withLayers(
  client: ReturnType<typeof createClient>,
  alias: string,
  template: { readonly subject: string; readonly html: string; readonly text: string },
): Promise<string> {
  const make = async (name: string, more: object): Promise<void> => {
    const made = await client.post('/v1/templates', { name, alias: `${alias}-${name}`, ...more });
    if (made.status !== 201) throw new Error(JSON.stringify(made.body));
  };
  const [before = '', rest = ''] = template.html.split('<p>Hello {{ name }}');
  const [middle = '', loop = ''] = rest.split('{% for');
  const partials = {
    hello: '<p>Hello {{ name }}',
    order: middle,
    items: `{% for${loop}`,
  };
  for (const [name, html] of Object.entries(partials)) await make(name, { kind: 'partial', html });
  await make('layout', { kind: 'layout', html: `${before}{{ content }}`, text: '{{ content }}' });
  const take = (name: string, parameter: string) =>
    `{% render '${alias}-${name}', ${parameter}: ${parameter} %}`;
  await make('layered', {
    subject: template.subject,
    text: template.text,
    layoutId: `${alias}-layout`,
    html: take('hello', 'name') + take('order', 'number') + take('items', 'items'),
  });
  return `${alias}-layered`;
}

/** The row with the middle rate. */
const middleOf = (rows: readonly Row[]): Row | undefined =>
  rows.toSorted((a, b) => (a.perSecond ?? 0) - (b.perSecond ?? 0))[Math.floor(rows.length / 2)];
