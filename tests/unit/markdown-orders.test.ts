import { describe, expect, test } from 'bun:test';
import { compile } from '../../src/automation/templates/render/compile.ts';
import { NOTHING } from '../../src/automation/templates/render/content.ts';
import type { Call } from '../../src/http/request/route.ts';
import type { MarkdownOrder } from '../../src/mail/content/markdown-renderer.ts';
import { invalid } from '../../src/platform/errors/failure.ts';
import { type BatchDeps, batchSender, sendEmail } from '../../src/sending/emails/commands.ts';

const orders: MarkdownOrder[] = [];
const refuse = async (_markdown: string, order: MarkdownOrder) => {
  orders.push(order);
  return invalid([]);
};
const deps = {
  simulatorDomain: 'simulator.svc.test',
  renderMarkdown: refuse,
  testClocks: () => undefined,
  baseUrl: 'https://mail.example.com',
} as unknown as BatchDeps;

const email = { from: 'a@shop.example', to: 'b@people.example', subject: 'Hi', markdown: '# Hi' };
const { signal } = new AbortController();
const unheard = () => signal;
const call = {
  caller: {
    kind: 'key',
    id: 'key_1',
    workspaceId: 'ws_1',
    livemode: false,
    permissions: ['*'],
    plan: 'free',
    senderDefaults: { from: null, replyTo: null },
  },
  method: 'POST',
  params: {},
  query: {},
  claim: null,
  requestId: 'req_1',
  headers: new Headers(),
  client: '127.0.0.1',
  now: Date.parse('2026-11-20T12:00:00Z'),
  unheard,
} as const;
const callWith = <Body>(body: Body) => ({ ...call, body }) as unknown as Call<unknown, unknown, Body>;

describe('markdown is ordered for the workspace, and until the caller hangs up', () => {
  const ordered = { owner: 'ws_1', unheard };

  test.each<[string, () => unknown]>([
    ['an email', () => sendEmail(deps, callWith(email))],
    ['a batch', () => batchSender(deps)(callWith({ emails: [email] }))],
    [
      'a template',
      () =>
        compile(
          {
            liquid: { examine: async () => ({ problems: [], names: [], raw: [], slots: {} }) } as never,
            markdown: { renderTemplate: refuse, renderMjml: () => expect.unreachable() },
            versions: { find: async () => null, read: async () => null },
          },
          { ...NOTHING, format: 'emailmd', subject: 'Hi', markdown: '# Hi' },
          {
            owner: { workspaceId: 'ws_1', livemode: true },
            id: null,
            kind: 'template' as const,
            now: call.now,
            unheard,
          },
        ),
    ],
  ])('of %s', async (_what, ask) => {
    orders.length = 0;
    await ask();
    expect(orders).toEqual([expect.objectContaining(ordered)]);
  });
});
