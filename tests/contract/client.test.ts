import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { packClient } from '../../scripts/client/pack-client.ts';
import { type Service, startServiceOnServer, TEST_KEY } from '../support/service.ts';

const TRIAL = join(import.meta.dir, 'client-trial.mjs');
const place = mkdtempSync(join(tmpdir(), 'posthorn-client-'));
const folder = join(place, 'node_modules/posthorn-client');
let service: Service;

beforeAll(async () => {
  mkdirSync(join(place, 'node_modules'));
  [service] = await Promise.all([
    startServiceOnServer({ env: { RATE_LIMIT_PER_IP: '0', RATE_LIMIT_PER_KEY: '0' } }),
    packClient(folder),
  ]);
});
afterAll(async () => {
  await service?.[Symbol.asyncDispose]();
  rmSync(place, { recursive: true, force: true });
});

const isNodeHere = Bun.which('node') !== null;
if (!isNodeHere) console.log('Not shown here: the client in Node.js, which is not installed.');

describe('the package of the client', () => {
  test.skipIf(!isNodeHere)('works in Node.js with a real service', () => tryIn('node'));
  test('works in Bun with a real service', () => tryIn(process.execPath));

  async function tryIn(program: string): Promise<void> {
    const run = Bun.spawn([program, TRIAL, folder, service.url], {
      stdout: 'pipe',
      stderr: 'pipe',
      env: { PATH: process.env.PATH ?? '', POSTHORN_API_KEY: TEST_KEY },
    });
    const [said, complained] = await Promise.all([
      new Response(run.stdout).text(),
      new Response(run.stderr).text(),
    ]);
    expect({ exit: await run.exited, complained }).toMatchObject({ exit: 0 });
    expect(JSON.parse(said)).toEqual({
      attempts: 2,
      firstIs: false,
      batch: ['accepted', 'VALIDATION_ERROR', 'accepted'],
      listed: 3,
      firstIsListed: true,
      event: ['delivered', false],
      refusal: [true, 'VALIDATION_ERROR', 422, ['/body/to']],
      missing: 'NOT_FOUND',
      stranger: 'UNAUTHORIZED',
      followed: true,
    });
  }

  test('has no dependencies, and nothing that only one runtime has', () => {
    const code = readFileSync(join(folder, 'posthorn.js'), 'utf8');
    expect(code).not.toMatch(
      /^import\b|\b(?:import|require)\(|\b(?:process|Buffer|Bun|Deno|window|document)\./m,
    );
    expect(JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))).not.toHaveProperty('dependencies');
  });

  test('has types that hold under strict and exactOptionalPropertyTypes, with no others around', () => {
    writeFileSync(join(place, 'use.mts'), USE);
    const flags = ['--noEmit', '--strict', '--exactOptionalPropertyTypes', '--noUncheckedIndexedAccess'];
    const target = ['--target', 'es2022', '--module', 'nodenext', '--lib', 'es2022,dom', '--types', ''];
    const tsc = Bun.spawnSync([resolve('node_modules/.bin/tsc'), ...flags, ...target, 'use.mts'], {
      cwd: place,
    });
    expect(tsc.stdout.toString()).toBe('');
    expect(tsc.exitCode).toBe(0);
  });
});

/** Each expectation of an error is one: tsc complains of those that are not needed. */
const USE = `import { Posthorn, isPosthornError, settle, type EmailReceipt, type PosthornError } from 'posthorn-client';
const posthorn = new Posthorn({ apiKey: 'k', baseUrl: 'https://mail.example.com' });
const email = { from: 'a@a.example', to: ['b@b.example'], subject: 'x', text: 'y' };
export const receipt: EmailReceipt = await posthorn.emails.send(email, { idempotencyKey: 'x' });
// @ts-expect-error a misspelt member
await posthorn.emails.send({ ...email, scheduleAt: 'x' });
// @ts-expect-error a status that does not exist
posthorn.emails.list({ status: 'gone' });
for await (const item of posthorn.emails.list({ status: 'sent', limit: 10 })) item.subject?.toUpperCase();
const { data, error } = await settle(posthorn.templates.get('welcome'));
export const name: string = error ? error.code : data.name;
export function tell(error: unknown): string {
  if (!isPosthornError(error)) throw error;
  switch (error.code) {
    case 'VALIDATION_ERROR': return error.details.map(({ path }) => path).join();
    case 'RATE_LIMITED': return String(error.retryAfterSeconds);
    case 'CONNECTION_FAILED': return String(error.cause);
    case 'NOT_FOUND':
      // @ts-expect-error no details there
      return error.details;
    default: return error.message;
  }
}
export const narrowed = (error: Extract<PosthornError, { code: 'NOT_FOUND' }>): string => error.docs;
`;
