import { expect, test } from 'bun:test';
import { refusalLog } from '../../src/sending/submission/open.ts';

test('a flood of wrong keys leaves room in the log for a refused message', () => {
  const lines: object[] = [];
  const note = refusalLog({ warn: (fields: object) => lines.push(fields) }, () => 0);
  const refused = { client: '192.0.2.1', helo: 'shop.example', workspaceId: null };
  for (let at = 0; at < 100; at++) note({ ...refused, what: 'key', reply: '535 5.7.8 No such key' });
  const message = { ...refused, what: 'message', reply: '550 5.7.1 No such domain' } as const;
  note(message);
  expect(lines).toHaveLength(61);
  expect(lines.at(-1)).toEqual(message);
});
