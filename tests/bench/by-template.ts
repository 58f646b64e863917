import { createClient } from '../support/client.ts';
import { TEST_KEY } from '../support/service.ts';
import { allAccepted, EMAIL, IN_A_WEEK } from './accepted.ts';
import { preparePost } from './load.ts';
import type { Row } from './table.ts';
import type { Section } from './workbench.ts';

/** The html of an ordinary email, 15 kB. */
const HTML = `<html><body>${'<p style="color:#333">It is on its way, and will be with you soon.</p>'.repeat(210)}`;
const NAMES = {
  name: 'Ada',
  number: '1842',
  items: [{ title: 'Tea' }, { title: 'Biscuits' }, { title: 'Milk' }],
};

/** Turns of each kind, in changing order: the noise of a machine is larger than a difference between two runs. */
const ROUNDS = 4;

/** The same email by template and in full. */
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
      const common = { from: EMAIL.from, to: EMAIL.to, scheduledAt: IN_A_WEEK };
      const { subject, text } = shown.body.data;
      const kinds = [
        { what: 'in full', body: { ...common, subject, text, html: shown.body.data.html } },
        { what: 'by template', body: { ...common, templateId: alias, variables: NAMES } },
      ];
      const taken = new Map<string, Row[]>();
      const count = Math.round(bench.scale.emails / ROUNDS / 2);
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
      const [full, templated] = kinds.map(({ what }) => middleOf(taken.get(what) ?? []));
      if (!full || !templated) throw new Error('Nothing was measured.');
      rows.push(full, templated);
      bench.remark(
        `(t) ${size}: by template at ${(((templated.perSecond ?? 0) / (full.perSecond ?? 1)) * 100).toFixed(0)} % of the rate in full; the aim is 75 % or more. The middle of ${ROUNDS} rounds each.`,
      );
    }
    return rows;
  },
};

/** The row with the middle rate. */
const middleOf = (rows: readonly Row[]): Row | undefined =>
  rows.toSorted((a, b) => (a.perSecond ?? 0) - (b.perSecond ?? 0))[Math.floor(rows.length / 2)];
