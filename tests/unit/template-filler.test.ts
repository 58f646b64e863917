import { expect, test } from 'bun:test';
import { Failure } from '../../src/http/failure.ts';
import type { StoredContent } from '../../src/modules/templates/content.ts';
import { type Filling, templateFiller } from '../../src/modules/templates/fill.ts';
import type { RenderTemplate } from '../../src/modules/templates/rendering.ts';
import type { TemplateRow } from '../../src/modules/templates/store.ts';

const rowOf = (version: number, id = 'tpl_1'): TemplateRow => ({
  ...{ id, name: 'Hello', alias: 'hello', version, latest: version, revision: version },
  ...{ created_at: 0, updated_at: 0 },
});
const ASKED = {
  owner: { workspaceId: 'ws_1', livemode: true },
  ...{ name: 'hello', values: {}, now: 0, at: '/body' },
} satisfies Filling;

/** A filler of which the test says what is there, and when that is told. */
function world() {
  const asked: ((row: TemplateRow | null) => void)[] = [];
  const rendered: (string | null)[] = [];
  let fails = false;
  const render: RenderTemplate = async ({ key }) => {
    rendered.push(key);
    if (fails) throw new Error('Too many wait.');
    return { parts: { subject: key, previewText: null, html: null, text: null }, names: {} };
  };
  const versions = {
    find: () => new Promise<TemplateRow | null>((tell) => asked.push(tell)),
    read: async (row: TemplateRow, version = row.version) =>
      version > row.latest
        ? null
        : { row, version, content: { from: null, replyTo: [] } as never as StoredContent },
  };
  const fill = templateFiller({ versions }, render);
  const filled = async (row: TemplateRow | null, more: Partial<Filling> = {}) => {
    const filling = fill({ ...ASKED, ...more });
    const before = rendered.length;
    await new Promise(setImmediate);
    const early = rendered.slice(before);
    asked.shift()?.(row);
    const outcome = await filling;
    return { early, outcome: outcome instanceof Failure ? outcome.code : outcome.subject };
  };
  return {
    ...{ filled, rendered },
    fail: () => {
      fails = true;
    },
  };
}

test('a template that was sent before is rendered while it is asked what is there, once', async () => {
  const { filled, rendered } = world();
  expect(await filled(rowOf(1))).toEqual({ early: [], outcome: 'tpl_1 1' });
  expect(await filled(rowOf(1))).toEqual({ early: ['tpl_1 1'], outcome: 'tpl_1 1' });
  expect(rendered).toEqual(['tpl_1 1', 'tpl_1 1']);
});

test('what has changed since is what is sent, and what is gone is not', async () => {
  const { filled } = world();
  await filled(rowOf(1));
  expect((await filled(rowOf(2))).outcome).toBe('tpl_1 2');
  expect((await filled(rowOf(2, 'tpl_2'))).outcome).toBe('tpl_2 2');
  expect((await filled(null)).outcome).toBe('NOT_FOUND');
  expect(await filled(null)).toEqual({ early: [], outcome: 'NOT_FOUND' });
});

test('a version that was not there when it was found last is sent once it is', async () => {
  const { filled } = world();
  await filled(rowOf(1));
  expect((await filled(rowOf(1), { version: 2 })).outcome).toBe('NOT_FOUND');
  expect((await filled(rowOf(2), { version: 2 })).outcome).toBe('tpl_1 2');
});

test('a guess belongs to its workspace and environment, and its failure to nobody', async () => {
  const { filled, fail } = world();
  await filled(rowOf(1));
  for (const owner of [
    { workspaceId: 'ws_2', livemode: true },
    { workspaceId: 'ws_1', livemode: false },
  ])
    expect((await filled(null, { owner })).early).toEqual([]);
  fail();
  expect(await filled(null)).toEqual({ early: ['tpl_1 1'], outcome: 'NOT_FOUND' });
});
