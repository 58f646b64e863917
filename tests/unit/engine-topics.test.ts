import { expect, test } from 'bun:test';
import { KnownTopics, type Topic, topicsOf } from '../../src/engine/store/statements/topics.ts';
import { storeOf } from '../../src/engine/store/store-of.ts';
import { emailKind } from '../../src/sending/emails/kind.ts';
import { fanOut } from '../../src/sending/webhooks/deliveries/fan-out.ts';

const topic = (about: string, workspaceId = 'ws_1', livemode = false): Topic => ({
  workspaceId,
  livemode,
  about,
});
const fact = { name: 'recorded', columns: 'type text', sql: null, topic: 'type' };
const heard = (known: KnownTopics, { workspaceId, livemode, about }: Topic) =>
  known.isHeard(topicsOf(fact, [{ workspace_id: workspaceId, livemode, recorded: [{ type: about }] }]));

test('what a batch is about is named once, by workspace, environment and type', () => {
  const row = (workspace_id: string, livemode: boolean, ...types: readonly string[]) => ({
    workspace_id,
    livemode,
    recorded: types.map((type) => ({ type })),
  });
  const rows = [
    row('ws_1', true, 'sent', 'delivered', 'sent'),
    row('ws_1', true, 'delivered'),
    row('ws_1', false, 'sent'),
    row('ws_2', true, 'sent'),
    { workspace_id: 'ws_3', livemode: true },
  ];
  expect([...topicsOf(fact, rows).values()]).toEqual([
    topic('sent', 'ws_1', true),
    topic('delivered', 'ws_1', true),
    topic('sent', 'ws_1', false),
    topic('sent', 'ws_2', true),
  ]);
});

test('what is known is of one workspace, environment and type, for ten minutes', () => {
  let now = 0;
  const known = new KnownTopics(() => now);
  known.note(topic('sent'));
  expect(
    [topic('sent'), topic('opened'), topic('sent', 'ws_2'), topic('sent', 'ws_1', true)].map((one) =>
      heard(known, one),
    ),
  ).toEqual([true, false, false, false]);
  now = 599_999;
  expect(heard(known, topic('sent'))).toBe(true);
  now = 600_000;
  expect(heard(known, topic('sent'))).toBe(false);
});

test('the oldest of more than 20,000 is forgotten', () => {
  const known = new KnownTopics(() => 0);
  for (let n = 0; n < 20_000; n++) known.note(topic('sent', `ws_${n}`));
  expect(heard(known, topic('sent', 'ws_0'))).toBe(true);
  known.note(topic('sent', 'ws_0'));
  known.note(topic('sent', 'ws_20000'));
  expect(['ws_0', 'ws_1', 'ws_2', 'ws_20000'].map((id) => heard(known, topic('sent', id)))).toEqual([
    true,
    false,
    true,
    true,
  ]);
});

test('a kind with a reader that does not say where it listens always unfolds for it', () => {
  expect(storeOf({ ...emailKind, children: [fanOut] }).listeners?.fact.name).toBe('recorded');
  const { listens: _, ...anywhere } = fanOut;
  expect(storeOf({ ...emailKind, children: [anywhere] }).listeners).toBeNull();
  const deaf = { fact: 'recorded', name: 'deaf', sql: () => 'select 1' };
  expect(storeOf({ ...emailKind, followers: [deaf] }).listeners).toBeNull();
  expect(storeOf({ ...emailKind, followers: [{ ...deaf, fact: 'noted' }] }).listeners?.fact.name).toBe(
    'recorded',
  );
});
