import { expect, test } from 'bun:test';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '../support/eventually.ts';
import { type Email, startLiveService } from '../support/live-service.ts';
import { EXAMINED, startScriptedImap } from '../support/scripted-imap.ts';
import { aMail, receiving } from './received-door.ts';

// Courier and GNU Mailutils add a CR to each line end of a file, also to one that is CRLF already.

test('messages of a mailbox whose server doubles the CR of each line are read', async () => {
  const mails = ['first', 'second'].map((Subject) => aMail({ To: 'ends@sender.example', Subject }));
  // Its header has its end within the octets that are read, however long the message is.
  const long = aMail({ To: 'ends@sender.example', Subject: 'long' }, 'a line\r\n'.repeat(40_000));
  const given = [...mails, long].map((mail) => mail.replaceAll('\r\n', '\r\r\n'));
  await using server = await startScriptedImap({
    'UID FETCH': async ({ line, tag, say }) => {
      const [, , , which = ''] = line.split(' ');
      const asked = which.includes(':') ? given.map((_, at) => at + 5) : [Number(which)];
      for (const uid of asked) {
        const mail = given[uid - 5] ?? '';
        const body = line.includes('BODY') ? ` BODY[] {${mail.length}}\r\n${mail}` : '';
        await say(
          `* ${uid} FETCH (UID ${uid} RFC822.SIZE ${mail.length} INTERNALDATE "01-Jan-2099 00:00:00 +0000"${body})`,
        );
      }
      await say(`${tag} OK done`);
    },
    EXAMINE: EXAMINED,
  });
  await using rooms = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), 'posthorn-line-ends-'));
  rooms.defer(() => rm(folder, { recursive: true }));
  const ca = join(folder, 'ca.pem');
  await writeFile(ca, server.account.ca ?? '');
  await using service = await startLiveService({ environment: { TLS_CA_FILE: ca, HOST: '127.0.0.1' } });
  await receiving(service).exactly('ends');
  const { port, username, password } = server.account;
  await service.live.post('/v1/mailboxes', { host: 'localhost', port, username, password });

  const list = async (): Promise<Email[]> =>
    (await service.live.get('/v1/received?address=ends@sender.example')).body.data;
  const found = await eventually('three messages', async () => {
    const there = await list();
    return there.length === 3 ? there : undefined;
  });
  expect(found.map(({ subject }) => subject).toSorted()).toEqual(['first', 'long', 'second']);
  const first = found.find(({ subject }) => subject === 'first');
  expect((await service.live.get(`/v1/received/${first?.id}`)).body.data.text.trim()).toBe(
    'Where is my order?',
  );
});
