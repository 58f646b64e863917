import { describe, expect, test } from 'bun:test';
import { loggedPath } from '../../src/accounts/request-log/logged-path.ts';
import {
  MOST_OF_KEY,
  MOST_OF_WORKSPACE,
  MOST_WAITING,
  RequestRecorder,
} from '../../src/accounts/request-log/recorder.ts';
import type { Principal } from '../../src/http/auth/principal.ts';
import type { ChangeNote } from '../../src/http/module.ts';
import type { AnsweredRequest } from '../../src/http/request/pipeline.ts';
import { documentedRoutes } from '../../src/modules.ts';
import { mintId } from '../../src/platform/db/ids.ts';

const PERSONAL = [
  'ada@example.com',
  'svc_live_7hJ2kQ9xV4mZ1cT8pN5wR3yB6dF04xQz',
  '+4366012345678',
  'Ada Lovelace',
  'ada-lovelace',
  'ada',
  'deadbeef'.repeat(8),
];
const WORDS = new Set(documentedRoutes().flatMap(({ path }) => path.split('/')));

describe('the path of a logged request', () => {
  for (const route of documentedRoutes().filter(({ path }) => path.includes(':'))) {
    const names = [...route.path.matchAll(/:(\w+)/g)].map(([, name = '']) => name);

    test(`${route.method} ${route.path} shows ids and nothing personal`, () => {
      const shown = (textFor: (name: string) => string): string => {
        const params = Object.fromEntries(names.map((name) => [name, textFor(name)]));
        const path = names.reduce((text, name) => text.replace(`:${name}`, params[name] ?? ''), route.path);
        return loggedPath({ route }, { path, params, status: 404, words: WORDS }).path;
      };
      const pattern = route.path.replace(/:(\w+)/g, '{$1}');
      for (const value of PERSONAL) expect(shown(() => value)).toBe(pattern);
      const ids = Object.fromEntries(
        names.map((name) => {
          const spec = route.params?.[name];
          return [name, spec && 'prefix' in spec ? mintId(spec.prefix, 0) : `{${name}}`];
        }),
      );
      expect(shown((name) => ids[name] ?? '')).toBe(
        names.reduce((text, name) => text.replace(`:${name}`, ids[name] ?? ''), route.path),
      );
    });
  }

  test('an alias of a template is shown where there is such a template', () => {
    const route = documentedRoutes().find(({ name }) => name === 'getTemplate');
    if (!route) throw new Error('There is no such route.');
    const shown = (status: number) =>
      loggedPath(
        { route },
        { path: '/v1/templates/welcome', params: { id: 'welcome' }, status, words: WORDS },
      );
    expect([200, 404].map((status) => shown(status).path)).toEqual([
      '/v1/templates/welcome',
      '/v1/templates/{id}',
    ]);
  });

  test('of an unknown path only the words of routes are shown', () => {
    const shown = (path: string) => loggedPath(null, { path, params: {}, status: 404, words: WORDS });
    expect(shown('/v1/emails/ada')).toEqual({ route: 'unknown', path: '/v1/emails/…' });
    expect(shown('/v1/templates/')).toEqual({ route: 'unknown', path: '/v1/templates/' });
    for (const value of PERSONAL)
      expect(shown(`/v1/contacts/${encodeURIComponent(value)}/emails`).path).toBe('/v1/contacts/…/emails');
    expect(shown('/v1'.repeat(8)).path).toBe('/v1'.repeat(8));
    expect(shown('/v1'.repeat(10)).path).toBe(`${'/v1'.repeat(8)}/…`);
  });
});

const KEY: Principal = {
  kind: 'key',
  id: 'key_1',
  workspaceId: 'ws_1',
  livemode: true,
  permissions: ['*'],
  plan: 'free',
  senderDefaults: { from: null, replyTo: null },
};

let minted = 0;
const answered = (changes: Partial<AnsweredRequest> = {}): AnsweredRequest => ({
  requestId: mintId('req', ++minted),
  caller: KEY,
  method: 'GET',
  endpoint: null,
  path: '/v1/x',
  params: {},
  words: WORDS,
  status: 200,
  ms: 1.6,
  errorCode: null,
  ...changes,
});
const withKey = (id: string): Partial<AnsweredRequest> => ({ caller: { ...KEY, id } as Principal });

/** A recorder whose time passes by hand, with what it has written. */
function startRecorder(fails = false) {
  const statements: (readonly (readonly string[])[])[] = [];
  const timers: (() => void)[] = [];
  const noted: ChangeNote[] = [];
  const warned: string[] = [];
  const recorder = new RequestRecorder({
    database: {
      query: async (_: string, parameters: readonly unknown[] = []) => {
        if (fails) throw new Error('The database is away.');
        statements.push(parameters as readonly (readonly string[])[]);
        return [];
      },
    },
    warn: (_, message) => void warned.push(message),
    noteChange: (note) => void noted.push(note),
    after: (_, work) => {
      timers.push(work);
      return { unref() {} };
    },
  });
  return { recorder, statements, timers, noted, warned };
}

describe('the recorder of requests', () => {
  test('writes what came within a second by one statement, and tells the open pages of each environment', async () => {
    const { recorder, statements, timers, noted } = startRecorder();
    recorder.note(answered());
    recorder.note(answered({ caller: { ...KEY, id: 'key_2', livemode: false } as Principal }));
    recorder.note(answered(withKey('key_3')));
    expect([statements.length, timers.length]).toEqual([0, 1]);
    timers[0]?.();
    await recorder.close();
    expect(statements.map(([ids]) => ids?.length)).toEqual([3]);
    expect(statements[0]?.[8]).toEqual(['2', '2', '2']);
    expect(noted.map(({ scope, resource }) => [scope.livemode, resource])).toEqual([
      [true, 'requests'],
      [false, 'requests'],
    ]);
    const { keys, lists } = recorder.writtenTo();
    expect([[...keys], [...lists]]).toEqual([
      ['key_1', 'key_2', 'key_3'],
      ['ws_1 true', 'ws_1 false'],
    ]);
    expect(recorder.writtenTo().keys.size).toBe(0);
  });

  test('keeps 25 requests of a key of each kind between two writes, and counts the rest', async () => {
    const { recorder, statements } = startRecorder();
    for (let n = 0; n <= MOST_OF_KEY; n++) {
      recorder.note(answered());
      recorder.note(answered({ status: 422, errorCode: 'VALIDATION_ERROR' }));
      recorder.note(answered({ method: 'POST' }));
    }
    expect(recorder.dropped).toEqual({ busy: 3, database: 0 });
    await recorder.close();
    expect(statements[0]?.[0]).toHaveLength(3 * MOST_OF_KEY);
    recorder.note(answered());
    await recorder.close();
    expect(statements[1]?.[0]).toHaveLength(1);
  });

  test('keeps 200 requests of all keys between two writes', async () => {
    const { recorder, statements } = startRecorder();
    for (let n = 0; n <= MOST_WAITING; n++)
      recorder.note(
        answered({ caller: { ...KEY, id: `key_${n % 50}`, workspaceId: `ws_${n % 4}` } as Principal }),
      );
    expect(recorder.dropped).toEqual({ busy: 1, database: 0 });
    await recorder.close();
    expect(statements[0]?.[0]).toHaveLength(MOST_WAITING);
  });

  test('keeps 100 requests of a workspace between two writes, so that others have room', async () => {
    const { recorder, statements } = startRecorder();
    for (let n = 0; n < 2 * MOST_OF_WORKSPACE; n++) recorder.note(answered(withKey(`key_${n % 50}`)));
    recorder.note(answered({ caller: { ...KEY, id: 'key_x', workspaceId: 'ws_2' } as Principal }));
    expect(recorder.dropped).toEqual({ busy: MOST_OF_WORKSPACE, database: 0 });
    await recorder.close();
    expect(statements[0]?.[1]?.filter((one) => one === 'ws_2')).toHaveLength(1);
  });

  test('drops and counts what the database does not take, and goes on', async () => {
    const { recorder, timers, warned } = startRecorder(true);
    recorder.note(answered());
    recorder.note(answered());
    timers[0]?.();
    await recorder.close();
    expect(recorder.dropped).toEqual({ busy: 0, database: 2 });
    expect(warned).toHaveLength(1);
    recorder.note(answered());
    expect(timers).toHaveLength(2);
    expect(recorder.writtenTo().keys.size).toBe(0);
  });

  test('takes nothing of sessions, members and printed links', async () => {
    const { recorder, statements } = startRecorder();
    const route = documentedRoutes().find(({ name }) => name === 'listEmails');
    if (!route) throw new Error('There is no such route.');
    recorder.note(answered({ endpoint: { route: { ...route, credential: 'session' } } }));
    recorder.note(answered({ path: '/app/api/live/unknown' }));
    recorder.note(answered({ caller: { ...KEY, kind: 'operatorLink' } as Principal }));
    await recorder.close();
    expect(statements).toEqual([]);
  });
});
