import { describe, expect, test } from 'bun:test';
import type { WorkedRows } from '../../../src/audience/contacts/imports/kind.ts';
import { storedPlan } from '../../../src/audience/contacts/imports/plan/stored-plan.ts';
import { importWorker } from '../../../src/audience/contacts/imports/worker.ts';
import { createSigner } from '../../../src/platform/crypto/signer.ts';
import { readContactFile } from '../../support/read-contact-file.ts';

/** The statuses that a worker would write of a stored import, and what it told the import before. */
async function work(file: string, plan: object) {
  const bytes = Buffer.from(file);
  const told: string[] = [];
  const written: WorkedRows['contacts'][number][] = [];
  const offset = file.indexOf('\n') + 1;
  const reads = [
    [{ settings: { plan, bytes: bytes.length, dryRun: false }, merges: true, audienceId: null }],
  ];
  const database = {
    kind: 'postgres',
    // The first read is of the import, all others are of its file.
    read: async () => reads.shift() ?? [{ content: bytes.toString('base64') }],
    query: async () => [{ content: bytes.toString('base64') }],
  };
  const tell = async (event: {
    readonly type: string;
    readonly isLast?: boolean;
    readonly rows?: WorkedRows;
  }) => {
    told.push(event.type);
    written.push(...(event.rows?.contacts ?? []));
    const state = event.isLast ? 'completed' : 'processing';
    return { outcome: 'changed', state, context: { place: { offset, line: 2 } } };
  };
  const clock = { now: () => Date.UTC(2026, 10, 27), monotonic: () => 0 };
  const order = {
    actor: { id: 'imp_1', workspaceId: 'ws_1', livemode: true },
    effect: { params: { attempt: 1 } },
  };
  const worker = importWorker({ database, clock, signer: createSigner('only-for-tests') } as never);
  const ended = await Promise.resolve(worker.perform(order as never, tell as never)).then(
    () => 'ended',
    (error: Error) => error.message,
  );
  return {
    ended,
    told,
    statuses: written.map((row) => row.leaves ?? (row.begins_out ? 'out' : 'subscribed')),
  };
}

const FILE =
  'email,status,left\na@x.example,subscribed,\nb@x.example,unsubscribed,\nc@x.example,,2026-01-02\n';

describe('a plan that is stored with its import', () => {
  test('of version 1 is finished: who has left does not come back', async () => {
    const plan = {
      encoding: 'utf-8',
      stored: 'utf-8',
      delimiter: ',',
      headers: ['email', 'status', 'left'],
      targets: [{ to: 'email' }, { to: 'status' }, { to: 'property', key: 'left', type: 'string' }],
    };
    expect(await work(FILE, plan)).toEqual({
      ended: 'ended',
      told: ['turn.begun', 'rows.read'],
      statuses: ['subscribed', 'unsubscribed', 'out'],
    });
  });

  test('of this version is read by it, and by version 1 it is shown and never read', async () => {
    const { plan } = await readContactFile(FILE, { columns: { left: 'unsubscribedAt' } });
    const stored = JSON.parse(JSON.stringify(storedPlan(plan)));
    expect((await work(FILE, stored)).statuses).toEqual(['subscribed', 'unsubscribed', 'unsubscribed']);
    // Version 1 opens the file by this name before it reads a row; it shows the other members.
    expect(() => new TextDecoder(stored.stored, { ignoreBOM: true })).toThrow(RangeError);
    expect(stored).toMatchObject({ encoding: 'utf-8', delimiter: ',', headers: ['email', 'status', 'left'] });
  });

  test('of a newer version waits for an instance that can read it: its turn does not begin here', async () => {
    const { plan } = await readContactFile(FILE);
    expect(await work(FILE, { ...plan, stored: 'plan-3/utf-8' })).toEqual({
      ended: expect.stringContaining('Update this instance.'),
      told: [],
      statuses: [],
    });
  });
});
