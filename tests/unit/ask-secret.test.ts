import { expect, test } from 'bun:test';
import { EventEmitter } from 'node:events';
import { BackupRefused } from '../../src/ops/backup/refused.ts';
import { askSecret } from '../../src/ops/commands/accounts/ask-secret.ts';

/** A keyboard, and what is done to it. */
function keyboard() {
  const keys = new EventEmitter();
  const done: string[] = [];
  const said: string[] = [];
  const input = Object.assign(keys, {
    setRawMode: (raw: boolean) => void done.push(raw ? 'raw' : 'cooked'),
    resume: () => void done.push('resume'),
    pause: () => void done.push('pause'),
  });
  const answer = askSecret(input as never, (text) => void said.push(text), 'Passphrase: ');
  return { answer, said, done, type: (text: string) => void keys.emit('data', Buffer.from(text)), keys };
}

test('a passphrase is typed unseen, corrected, and ended by return', async () => {
  const { answer, type, said, done, keys } = keyboard();
  type('cörrect');
  type(' horsé\u007fe 🐎\u007f');
  type('x\rnot any more');
  expect(await answer).toBe('cörrect horse x');
  expect(said).toEqual(['Passphrase: ', '\n']);
  expect(done).toEqual(['raw', 'resume', 'cooked', 'pause']);
  expect(keys.listenerCount('data')).toBe(0);
});

test('broken off with control and C, the keyboard is as it was', async () => {
  const { answer, type, done } = keyboard();
  type('half\u0003');
  await expect(answer).rejects.toThrow(BackupRefused);
  expect(done.slice(-2)).toEqual(['cooked', 'pause']);
});
