import { expect, test } from 'bun:test';
import { detailsOf } from '../../src/automation/templates/model.ts';
import type { StoredContent } from '../../src/automation/templates/render/content.ts';
import { templateFiller } from '../../src/automation/templates/render/fill.ts';
import type { RenderTemplate } from '../../src/automation/templates/render/rendering.ts';
import type { TemplateRow } from '../../src/automation/templates/store.ts';
import { Failure } from '../../src/platform/errors/failure.ts';
import type { TemplateFilling } from '../../src/sending/emails/queries.ts';

const rowOf = (version: number, id = 'tpl_1'): TemplateRow => ({
  ...detailsOf({ name: 'Hello', alias: 'hello' }),
  id,
  kind: 'template',
  version,
  latest: version,
  revision: version,
  created_at: 0,
  updated_at: 0,
});
const ASKED = {
  owner: { workspaceId: 'ws_1', livemode: true },
  name: 'hello',
  values: {},
  now: 0,
  at: '/body',
} satisfies TemplateFilling;

/** A filler of which the test says what is there now. */
function world() {
  let looks = 0;
  let there: TemplateRow | null = rowOf(1);
  const refused = new Set<string>();
  const rendered: string[] = [];
  const render: RenderTemplate = async ({ key }) => {
    rendered.push(key ?? '');
    if (refused.has(key ?? '')) return new Failure('VALIDATION_ERROR', 'No.');
    return { parts: { subject: key, previewText: null, html: null, text: null }, names: {} };
  };
  const versions = {
    find: async () => {
      looks++;
      return there;
    },
    read: async (row: TemplateRow, version = row.version) =>
      version > row.latest
        ? null
        : { row, version, content: { from: null, replyTo: [] } as never as StoredContent },
  };
  const fill = templateFiller({ versions }, render);
  const filled = async (more: Partial<TemplateFilling> = {}) => {
    const before = looks;
    const outcome = await fill({ ...ASKED, mayBeRemembered: true, ...more });
    if (outcome instanceof Failure) return { looks: looks - before, code: outcome.code };
    return { looks: looks - before, subject: outcome.subject, judged: outcome.rememberedRevision };
  };
  const put = (row: TemplateRow | null) => {
    there = row;
  };
  return { filled, put, rendered, refused };
}

test('a template that was found before is not looked for again, and its revision is to be judged', async () => {
  const { filled } = world();
  expect(await filled()).toEqual({ looks: 1, subject: 'tpl_1 1', judged: null });
  expect(await filled()).toEqual({ looks: 0, subject: 'tpl_1 1', judged: 1 });
});

test('a caller whose commit cannot check it gets it as it is now', async () => {
  const { filled, put } = world();
  await filled();
  put(rowOf(2));
  expect(await filled({ mayBeRemembered: false })).toEqual({ looks: 1, subject: 'tpl_1 2', judged: null });
  expect(await filled()).toEqual({ looks: 0, subject: 'tpl_1 2', judged: 2 });
  put(null);
  expect(await filled({ mayBeRemembered: false })).toEqual({ looks: 1, code: 'NOT_FOUND' });
});

test('a version that was not there when it was found last is sent once it is', async () => {
  const { filled, put } = world();
  await filled();
  expect(await filled({ version: 2 })).toEqual({ looks: 1, code: 'NOT_FOUND' });
  put(rowOf(2));
  expect(await filled({ version: 2 })).toEqual({ looks: 1, subject: 'tpl_1 2', judged: null });
});

test('a remembered refusal refuses no email, and what is refused is rendered once', async () => {
  const { filled, put, rendered, refused } = world();
  await filled();
  refused.add('tpl_1 1');
  put(rowOf(2));
  expect(await filled()).toEqual({ looks: 1, subject: 'tpl_1 2', judged: null });
  refused.add('tpl_1 2');
  expect(await filled()).toEqual({ looks: 1, code: 'VALIDATION_ERROR' });
  const before = rendered.length;
  expect(await filled()).toEqual({ looks: 1, code: 'VALIDATION_ERROR' });
  expect(rendered.length - before).toBe(1);
});

test('what is remembered belongs to its workspace and environment', async () => {
  const { filled, put } = world();
  await filled();
  put(null);
  for (const owner of [
    { workspaceId: 'ws_2', livemode: true },
    { workspaceId: 'ws_1', livemode: false },
  ])
    expect(await filled({ owner })).toEqual({ looks: 1, code: 'NOT_FOUND' });
});
