import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { connect, type Socket } from 'node:net';
import type { Permission } from '../../src/http/auth/permissions.ts';
import type { KeyPrincipal } from '../../src/http/auth/principal.ts';
import { type Browser, inviteMember, setUpOwner } from './a-browser.ts';
import { BOTH_DATABASES, type RealService, startRealService } from './real-service.ts';
import { keyOf, startSmallService } from './small-service.ts';

// A request may last for minutes: an export of all contacts, or a body over a slow line. A caller who loses
// access meanwhile sees and does nothing more.

/** More than the buffers between the service and a client that does not read. */
const CONTACTS = 8_000;
const OCTETS_OF_EACH = 4_000;
/** The last chunk of an answer that is whole (RFC 9112, 7.1). */
const CLEAN_END = '\r\n0\r\n\r\n';

const FILE = 'email\nlate@acme.example\n';

const SENDER: KeyPrincipal = {
  kind: 'key',
  id: 'key_sender',
  workspaceId: 'ws_1',
  livemode: true,
  permissions: ['emails:send'],
  plan: 'free',
  senderDefaults: { from: null, replyTo: null },
};

const head = (request: string, headers: readonly string[]): string =>
  [`${request} HTTP/1.1`, 'Host: localhost', 'Connection: close', ...headers, '', ''].join('\r\n');

/** The head of a POST, and the first octets of its body. */
const posted = (path: string, type: string, key: string, body: string): string =>
  head(`POST ${path}`, [
    `Authorization: Bearer ${key}`,
    `Content-Type: ${type}`,
    `Content-Length: ${body.length}`,
  ]) + body.slice(0, 5);

/** Sends the beginning of a request; `heard` is all that came when the connection is closed. */
function send(port: number, beginning: string): { socket: Socket; heard: () => Promise<string> } {
  const socket = connect(port, '127.0.0.1');
  const parts: string[] = [];
  const closed = Promise.withResolvers<void>();
  socket.setEncoding('latin1');
  socket.on('data', (text: string) => void parts.push(text));
  socket.on('error', () => {});
  socket.on('close', () => closed.resolve());
  socket.write(beginning);
  const heard = async (): Promise<string> => {
    socket.resume();
    await closed.promise;
    return parts.join('');
  };
  return { socket, heard };
}

describe.each(BOTH_DATABASES)('a request that lasts, on %s', (_, environment) => {
  let service: RealService;
  let owner: Browser;
  let leapt = 0;
  const clock = { now: () => Date.now(), monotonic: () => performance.now() + leapt };

  beforeAll(async () => {
    service = await startRealService(environment, { clock });
    owner = await setUpOwner(service);
    await service.service.database.query(
      `insert into contacts (workspace_id, livemode, id, email, email_key, properties, status, created_at, updated_at)
      select $1, true, 'con_' || lpad(n::text, 24, '0'), 'p' || n || '@people.example', 'p' || n || '@people.example',
        json_build_object('note', repeat('x', ${OCTETS_OF_EACH})), 'subscribed', now(), now()
      from generate_series(1, ${CONTACTS}) n`,
      [service.workspaceId],
    );
  });
  afterAll(() => service?.[Symbol.asyncDispose]());

  /** Begins an export, and reads no further than its first octets. */
  async function beginExport(path: string, header: string) {
    const begun = send(service.port, head(`GET ${path}`, [header]));
    await new Promise((resolve) => void begun.socket.once('data', resolve));
    begun.socket.pause();
    return begun;
  }

  async function made(permissions: readonly Permission[]): Promise<{ id: string; key: string }> {
    const { body } = await owner.ask('/live/api-keys', { name: 'K', env: 'live', permissions });
    return body.data;
  }

  const rowsOf = (heard: string): number => heard.match(/@people\.example/g)?.length ?? 0;

  const byMember = async (role: string) => {
    const { browser, id } = await inviteMember(service, owner, role);
    const path = `/app/api/live/contacts/export?workspace=${service.workspaceId}`;
    return { browser, id, begun: await beginExport(path, `Cookie: ${browser.cookie}`) };
  };
  const byKey = async () => {
    const { id, key } = await made(['contacts:read', 'contacts:write']);
    return { id, key, begun: await beginExport('/v1/contacts/export', `Authorization: Bearer ${key}`) };
  };

  test.each([
    [
      'a member who is removed',
      async () => {
        const { id, begun } = await byMember('viewer');
        expect((await owner.ask(`/live/members/${id}`, {}, 'DELETE')).status).toBe(204);
        return begun;
      },
    ],
    [
      'a member who signs out',
      async () => {
        const { browser, begun } = await byMember('viewer');
        expect((await browser.ask('/session', {}, 'DELETE')).status).toBe(200);
        return begun;
      },
    ],
    [
      'a key that is revoked',
      async () => {
        const { id, begun } = await byKey();
        expect((await owner.ask(`/live/api-keys/${id}`, {}, 'DELETE')).status).toBe(200);
        return begun;
      },
    ],
    [
      'a key that loses the permission',
      async () => {
        const { id, begun } = await byKey();
        const told = await owner.ask(`/live/api-keys/${id}`, { permissions: ['emails:read'] }, 'PATCH');
        expect(told.status).toBe(200);
        return begun;
      },
    ],
  ] as const)('%s gets no more of an export, and no clean end', async (_, lose) => {
    const begun = await lose();
    leapt += 1_500;
    const heard = await begun.heard();
    expect(heard).toStartWith('HTTP/1.1 200 ');
    expect(rowsOf(heard)).toBeLessThan(CONTACTS);
    expect(heard.endsWith(CLEAN_END)).toBe(false);
    expect(service.logged()).toContain('An answer broke off');
  });

  test('who keeps access gets the whole export', async () => {
    const { begun } = await byMember('viewer');
    leapt += 1_500;
    const heard = await begun.heard();
    expect(rowsOf(heard)).toBe(CONTACTS);
    expect(heard.endsWith(CLEAN_END)).toBe(true);
  });

  test('a file that comes after its key was revoked is not imported', async () => {
    const { id, key } = await made(['contacts:read', 'contacts:write']);
    const { socket, heard } = send(service.port, posted('/v1/contacts/import', 'text/csv', key, FILE));
    // Other requests are answered meanwhile, so this one was let in.
    for (let asked = 0; asked < 5; asked++) await owner.ask('/session');
    expect((await owner.ask(`/live/api-keys/${id}`, {}, 'DELETE')).status).toBe(200);
    leapt += 1_500;
    socket.write(FILE.slice(5));
    expect(await heard()).toStartWith('HTTP/1.1 401 ');
    expect(await service.service.database.query('select id from contact_imports')).toEqual([]);
    expect(await service.service.database.query('select * from contact_import_chunks')).toEqual([]);
  });
});

describe('a body that comes late', () => {
  const BODY = '{"name":"late"}';

  async function late(ms: number, isRevoked: boolean) {
    const key = keyOf('live', 'sender');
    const lookedUp = Promise.withResolvers<void>();
    let looks = 0;
    using service = startSmallService({
      async authenticate() {
        looks++;
        lookedUp.resolve();
        return looks > 1 && isRevoked ? null : SENDER;
      },
    });
    const { socket, heard } = send(service.port, posted('/v1/things', 'application/json', key, BODY));
    await lookedUp.promise;
    service.clock.monotonic += ms;
    socket.write(BODY.slice(5));
    return { status: Number((await heard()).slice(9, 12)), looks, done: service.done };
  }

  test('is refused where the key was revoked meanwhile, and nothing is done', async () => {
    expect(await late(1_500, true)).toEqual({ status: 401, looks: 2, done: [] });
  });

  test('is taken where the key is still active, after one more look', async () => {
    expect(await late(1_500, false)).toEqual({ status: 201, looks: 2, done: ['create late'] });
  });

  test('costs no other look within a second', async () => {
    expect(await late(900, true)).toEqual({ status: 201, looks: 1, done: ['create late'] });
  });
});
