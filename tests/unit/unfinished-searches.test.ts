import { expect, test } from 'bun:test';
import { SENDER_KNOWN_MS } from '../../src/accounts/workspace/queries.ts';
import { campaignMail, type MailDeps } from '../../src/automation/campaigns/sending/mail.ts';
import type { Engine } from '../../src/engine/engine.ts';
import { DirectTransport } from '../../src/mail/transport/direct/direct.ts';
import { mxGroupLimits } from '../../src/mail/transport/direct/mx-group.ts';
import { createSigner } from '../../src/platform/crypto/signer.ts';
import type { Database } from '../../src/platform/db/database.ts';
import { Shards } from '../../src/platform/db/distribution/shards.ts';
import { cachedSendingDomains } from '../../src/sending/domains/sending-domains.ts';
import { cachedSenders, type SenderParts } from '../../src/sending/emails/transports/senders.ts';
import { aMessage } from './transport/a-message.ts';

// A search that never settles may hold those who ask with it, but not those who ask later than a value is
// kept for.

/** Asks through a cache whose searches all end in `search`, by a clock. */
type Caller = (search: () => Promise<never>, monotonic: () => number) => () => unknown;

const databaseOf = (query: () => Promise<never>) => ({ query }) as unknown as Database;
const email = { emailId: 'em_01m7xj1rwzprnwr10308attx', campaignId: 'cmp_1', workspaceId: 'ws_1' };

const mailOf = (search: () => Promise<never>, monotonic: () => number) =>
  campaignMail({
    database: databaseOf(search),
    monotonic,
    contents: {},
    publicUrl: 'https://mail.example',
    signer: createSigner('only-for-tests'),
  } as unknown as MailDeps);

const callers: Readonly<Record<string, readonly [keptMs: number, Caller]>> = {
  'the contents of a campaign': [
    10_000,
    (search, monotonic) => {
      const mail = mailOf(search, monotonic);
      const asked = { ...email, recipientKey: 'r@receiver.example', subject: 'Hello' };
      const content = { text: null, html: null, markdown: null, attachments: [], campaign: { contact: {} } };
      return () => mail.parts(asked, content, 'send');
    },
  ],
  'the state of a campaign': [
    200,
    (search, monotonic) => {
      const mail = mailOf(search, monotonic);
      return () => mail.standing('cmp_1');
    },
  ],
  'the sender of a domain': [
    SENDER_KNOWN_MS,
    (search, monotonic) => {
      const parts = { database: databaseOf(search), monotonic, enabled: [], returnPathDomain: null };
      const senders = cachedSenders(parts as unknown as SenderParts);
      return () => senders.find('dom_1');
    },
  ],
  'the domain of an address': [
    0,
    (search, monotonic) => {
      const engine = { listen: () => {} } as unknown as Engine;
      const find = cachedSendingDomains(databaseOf(search), engine, monotonic);
      return () => find('ws_1', 'sender.example');
    },
  ],
  'the shard of a workspace': [
    10_000,
    (search, monotonic) => {
      const shards = new Shards(databaseOf(search), monotonic);
      return () => shards.groups(['ws_1'], (id) => id);
    },
  ],
  'the mail servers of a domain': [30_000, lookUps('mx')],
  'the MTA-STS policy of a domain': [30_000, lookUps('txt')],
};

function lookUps(type: 'mx' | 'txt'): Caller {
  return (search, monotonic) => {
    const never = () => new Promise<never>(() => {});
    const resolver = {
      mx: never,
      txt: never,
      ipv4: never,
      ipv6: never,
      cname: never,
      reverse: never,
      pointers: never,
    };
    const direct = new DirectTransport({
      resolver: { ...resolver, [type]: search },
      monotonic,
      random: () => 0,
      ehloName: 'posthorn.test',
      limits: mxGroupLimits(10, 60_000),
    });
    const signal = AbortSignal.abort();
    return () => direct.send(aMessage(), { signal, deadlineMs: 1 });
  };
}

test.each(Object.entries(callers))(
  'a search for %s that never ends holds later callers no longer than a value is kept',
  async (_name, [keptMs, caller]) => {
    let now = 1_000;
    let searches = 0;
    const ask = caller(
      () => {
        searches++;
        return new Promise<never>(() => {});
      },
      () => now,
    );
    const searchesOf = async (): Promise<number> => {
      void ask();
      for (let turns = 0; turns < 20; turns++) await Promise.resolve();
      return searches;
    };
    expect(await searchesOf()).toBe(1);
    if (keptMs > 0) {
      now += keptMs - 1;
      expect(await searchesOf()).toBe(1);
      now += 1;
    }
    expect(await searchesOf()).toBe(2);
  },
);
