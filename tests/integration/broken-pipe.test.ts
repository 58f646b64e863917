import { expect, test } from 'bun:test';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { COMMAND } from '../support/service.ts';

const [PROGRAM = '', ...WORDS] = COMMAND;

test.each(['doctor', 'machines', 'version'])(
  'posthorn %s, whose reader has gone, ends as other programs do and says nothing',
  async (command) => {
    const folder = mkdtempSync(join(tmpdir(), 'posthorn-pipe-'));
    const child = spawn(PROGRAM, [...WORDS, command], {
      env: { PATH: process.env.PATH, DATA_DIR: join(folder, 'none'), DNS_SERVERS: '127.0.0.1:9' },
    });
    // Long before the program has been read, and has anything to write.
    child.stdout.destroy();
    let errors = '';
    child.stderr.on('data', (chunk) => (errors += chunk));
    const [code] = await once(child, 'close');
    rmSync(folder, { recursive: true });
    expect({ code, errors }).toEqual({ code: 141, errors: '' });
  },
);
