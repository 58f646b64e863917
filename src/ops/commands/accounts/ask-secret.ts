import type { ReadStream } from 'node:tty';
import { BackupRefused } from '../../backup/refused.ts';

const ENDS = new Set(['\r', '\n', '\u0004']);
const INTERRUPT = '\u0003';
const ERASES = new Set(['\u007f', '\b']);

/**
 * Asks a person for a text that is not shown while it is typed. @throws BackupRefused when it is broken off
 */
export async function askSecret(
  input: Pick<ReadStream, 'setRawMode' | 'resume' | 'pause' | 'on' | 'off'>,
  say: (text: string) => void,
  question: string,
): Promise<string> {
  say(question);
  let answer = '';
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const hear = (typed: Buffer): void => {
    for (const character of typed.toString('utf8')) {
      if (ENDS.has(character)) return resolve(answer);
      if (character === INTERRUPT) return reject(new BackupRefused('Cancelled; nothing was changed.'));
      answer = ERASES.has(character) ? [...answer].slice(0, -1).join('') : answer + character;
    }
  };
  input.setRawMode(true);
  input.resume();
  input.on('data', hear);
  try {
    return await promise;
  } finally {
    input.off('data', hear);
    input.setRawMode(false);
    input.pause();
    say('\n');
  }
}
