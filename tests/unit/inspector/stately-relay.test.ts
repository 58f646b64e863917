import { expect, test } from 'bun:test';
import type { ServerWebSocket } from 'bun';
import type { SocketSession } from '../../../src/http/listen/listen.ts';
import { emailKind } from '../../../src/sending/emails/kind.ts';
import type { News } from '../../../src/web/live/exchange/gathered.ts';
import type { HeardListener } from '../../../src/web/live/exchange/incoming.ts';
import { type RelaySource, StatelyRelay } from '../../../src/web/live/stately/stately-relay.ts';
import { eventually } from '../../support/eventually.ts';

const SCOPE = { workspaceId: 'ws_1', livemode: false };

/** News of one email that an instance has sent. */
const newsOf = (id: string): News => ({
  times: { email: 1 },
  before: {},
  moves: [],
  changed: {},
  sample: [{ kind: 'email', id, event: 'attempt.completed', from: 'sending', to: 'sent', at: 1 }],
});

test("a client gets what every instance has committed, though a round brings all instances' news at once", async () => {
  let hear: HeardListener = () => {};
  const sent: string[] = [];
  const query = async (text: string, parameters: readonly unknown[]) =>
    text.includes('any($1)')
      ? (parameters[0] as string[]).map((id) => ({ id, state: 'sent', context: { recipients: [] } }))
      : [];
  const from = {
    engine: { kinds: [emailKind], listen: () => () => {} },
    database: { query },
    others: {
      join: (_: unknown, listener: HeardListener) => {
        hear = listener;
        return () => {};
      },
    },
    now: () => 1,
  } as unknown as RelaySource;
  const socket = {
    send: (text: string) => void sent.push(text),
    getBufferedAmount: () => 0,
    close: () => {},
  } as unknown as ServerWebSocket<SocketSession>;
  const session = { id: 's', subject: SCOPE, visibility: new Set(['email']) } as never;
  const relay = new StatelyRelay(from, session, async () => new Set(['email']));
  relay.opened(socket);
  for (const round of [1, 2])
    for (const instance of ['a', 'b', 'c'])
      hear({ instance, news: newsOf(`em_${instance}${round}`), missed: {} });
  const told = () =>
    ['em_a', 'em_b', 'em_c'].flatMap((id) =>
      [1, 2].filter((round) => sent.some((text) => text.includes(`${id}${round}`))),
    );
  const all = await eventually('all have come', async () => (told().length === 6 ? told() : undefined));
  expect(all).toEqual([1, 2, 1, 2, 1, 2]);
  relay.closed();
});
