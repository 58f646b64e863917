import { once } from 'node:events';
import pino from 'pino';
import { ensureFirstWorkspace } from '../../../src/accounts/workspace/commands.ts';
import { Engine } from '../../../src/engine/engine.ts';
import type { Call } from '../../../src/http/request/route.ts';
import { createSealer } from '../../../src/platform/crypto/sealer.ts';
import { Failure } from '../../../src/platform/errors/failure.ts';
import { addDomain } from '../../../src/sending/domains/add.ts';
import {
  type DomainCommands,
  patchDomain,
  removeDomain,
  verifyDomain,
} from '../../../src/sending/domains/commands.ts';
import type { DomainView } from '../../../src/sending/domains/model.ts';
import { type DomainParts, openDomains } from '../../../src/sending/domains/open.ts';
import { nextOutcome } from '../../../src/sending/domains/records/next-outcome.ts';
import { rotateKeys } from '../../../src/sending/domains/records/rotate.ts';
import { ManualClock, postgresStore } from '../../support/engine.ts';
import { startNameServer, txt, type Zone } from '../transport/name-server.ts';

/** A workspace whose domains ask a name server of the test's, at a time of the test's. */
export type Workspace = Awaited<ReturnType<typeof openWorkspace>>;

const CONFIG: Omit<DomainParts['config'], 'dnsServers'> = {
  transport: ['direct'],
  publicUrl: 'https://post.example.com',
  ehloName: 'mail.example.com',
  smtpUrl: null,
  smtpFallbackUrl: null,
  returnPathDomain: null,
  inboundSmtpPort: null,
  sesRegion: null,
  sesEndpoint: null,
  awsAccessKeyId: null,
  awsSecretAccessKey: null,
};

/** Opens one; `config` is what is set otherwise. */
export async function openWorkspace(config: Partial<typeof CONFIG> = {}) {
  const store = await postgresStore();
  const dns = await startNameServer();
  const clock = new ManualClock(Date.parse('2026-11-20T12:00:00.000Z'));
  const { database } = store;
  const workspace = await ensureFirstWorkspace(database, 'growth', clock.time);
  const sealer = createSealer('only for tests');
  const domains = openDomains({
    database,
    clock,
    sealer,
    config: { ...CONFIG, ...config, dnsServers: [dns.server] },
  });
  const logger = pino({ level: 'silent' });
  const engine = new Engine({ database, clock, logger, kinds: [domains.kind] });
  const commands: DomainCommands = { ...domains.commands, engine, releaseWaiting: async () => {} };
  const call = <Params, Body>(params: Params, body: Body): Call<Params, unknown, Body> => ({
    caller: {
      kind: 'key',
      id: 'key',
      workspaceId: workspace.id,
      livemode: true,
      permissions: ['*'],
      plan: 'growth',
      senderDefaults: { from: null, replyTo: null },
    },
    params,
    method: 'POST',
    query: {},
    body,
    claim: null,
    requestId: 'req',
    headers: new Headers(),
    client: '192.0.2.1',
    now: clock.time,
  });
  const viewed = (answer: unknown): DomainView => {
    if (answer instanceof Failure) throw new Error(answer.message);
    return answer as DomainView;
  };
  return {
    database,
    sealer,
    clock,
    dns,
    workspaceId: workspace.id,
    /** Adds one and waits for the first look. */
    async add(name: string, more: object = {}): Promise<DomainView> {
      const checked = new Set<string>();
      const another = new EventTarget();
      const unlisten = engine.listen((_, drafts) => {
        for (const { after, steps } of drafts)
          if (steps.some(({ event }) => event === 'check.completed')) checked.add(after.id);
        another.dispatchEvent(new Event('checked'));
      });
      const added = viewed(await addDomain(commands, call({}, { name, ...more })));
      // The first look of another domain may end meanwhile.
      while (!checked.has(added.id)) await once(another, 'checked');
      unlisten();
      return added;
    },
    verify: async (id: string) => viewed(await verifyDomain(commands, call({ id }, {}))),
    rotate: async (id: string) => viewed(await rotateKeys(commands, call({ id }, {}))),
    patch: async (id: string, body: object) => viewed(await patchDomain(commands, call({ id }, body))),
    remove: (id: string) => removeDomain(commands, call({ id }, {})),
    /** Goes on to the next look that the clock has planned; answers the state it leads to. */
    async nextLook(id: string): Promise<string> {
      const [due] = await database.query<{ at: number; attempt: number }>(
        `select (extract(epoch from wake_at) * 1000)::float8 as at, (context->>'attempt')::integer as attempt
        from domains where id = $1`,
        [id],
      );
      clock.time = due?.at ?? Number.NaN;
      const outcome = nextOutcome(engine, id, 10_000);
      await engine.wakeDue();
      await outcome.of((due?.attempt ?? 0) + 1);
      outcome.cancel();
      const [row] = await database.query<{ state: string }>('select state from domains where id = $1', [id]);
      return row?.state ?? 'absent';
    },
    async [Symbol.asyncDispose]() {
      await engine.stop();
      await dns[Symbol.asyncDispose]();
      await store[Symbol.asyncDispose]();
    },
  };
}

/** The zone in which all these records are as they should be. */
export const zoneOf = (records: DomainView['dnsRecords']): Zone =>
  Object.fromEntries(
    records.map(({ type, name, value, priority }) => {
      if (type === 'TXT') return [`${name} TXT`, [txt(...(value.match(/.{1,255}/g) ?? []))]];
      return type === 'MX'
        ? [`${name} MX`, [{ type: 15, exchange: value, priority: priority ?? 0 }]]
        : [`${name} CNAME`, [{ type: 5, domain: value }]];
    }),
  );
