import pino from 'pino';
import { issueKey } from '../../src/accounts/api-keys/issue.ts';
import { createWorkspace } from '../../src/accounts/workspace/commands.ts';
import type { Findings } from '../../src/engine/audit/findings.ts';
import { openSession } from '../../src/engine/audit/session.ts';
import { bodyCollector, type CollectorDeps } from '../../src/engine/bodies/collector.ts';
import { BODY_HOLDERS } from '../../src/modules.ts';
import { auditLedger } from '../../src/ops/audit/audit.ts';
import type { BodyLimits, BodyStore } from '../../src/platform/bodies/body-store.ts';
import { openBodyStore } from '../../src/platform/bodies/open.ts';
import type { Database } from '../../src/platform/db/database.ts';
import type { Service } from '../../src/service.ts';
import type { S3 } from './s3.ts';

/** An image as the API answers it. */
export interface UploadedImage {
  readonly id: string;
  readonly url: string;
}

/** Uploads an image. */
export const uploadImage = (url: string, key: string, image: Uint8Array, headers = {}): Promise<Response> =>
  fetch(`${url}/v1/assets`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'image/png', ...headers },
    body: image as Uint8Array<ArrayBuffer>,
  });

/** Uploads an image that has to be taken. */
export async function uploadedImage(url: string, key: string, image: Uint8Array): Promise<UploadedImage> {
  const answer = await uploadImage(url, key, image);
  if (answer.status !== 201) throw new Error(`${answer.status} ${await answer.text()}`);
  return ((await answer.json()) as { data: UploadedImage }).data;
}

/** Asks an instance for the image at a public address. */
export const imageAt = (instance: string, { url }: Pick<UploadedImage, 'url'>): Promise<Response> =>
  fetch(`${instance}${new URL(url).pathname}`);

/** The keys of a further workspace. */
export async function anotherWorkspace(
  { database, engine }: Pick<Service, 'database' | 'engine'>,
  name: string,
): Promise<{ readonly id: string; readonly key: string }> {
  const id = await createWorkspace(database, { name, plan: 'growth', owner: null }, Date.now());
  const key = await issueKey(
    engine,
    { workspaceId: id, livemode: true, name, permissions: ['*'] },
    Date.now(),
  );
  return { id, key };
}

/** Collects as it is done so many milliseconds later, when all that was written by then is settled. */
export function collectBodies(
  database: Database,
  { bucket }: Pick<S3, 'bucket'>,
  laterMs: number,
  logger: CollectorDeps['logger'] = pino({ enabled: false }),
) {
  const now = Date.now() + laterMs;
  return bodyCollector({
    database,
    bucket,
    holders: BODY_HOLDERS,
    settled: async () => now,
    logger,
    clock: { now: () => now, monotonic: () => performance.now() },
  }).run();
}

/** The store at a prefix of a server, as a command opens it. */
export function storeAt(
  { environment }: Pick<S3, 'environment'>,
  prefix: string,
  limits: Partial<BodyLimits> = {},
): BodyStore {
  const store = openBodyStore(
    {
      bodyStore: `s3://bodies/${prefix}`,
      bodyStoreEndpoint: environment.BODY_STORE_ENDPOINT ?? '',
      bodyStoreRegion: 'us-east-1',
      bodyStoreAccessKeyId: 'test',
      bodyStoreSecretAccessKey: 'test',
      awsAccessKeyId: null,
      awsSecretAccessKey: null,
    },
    { ca: null, now: Date.now, monotonic: () => performance.now(), limits },
  );
  if (!store) throw new Error('There is no store.');
  return store;
}

/** The findings of an audit of a database on a server. */
export async function auditedBodies(url: string, bodies: BodyStore | null): Promise<Findings> {
  const session = await openSession({ url, dataDir: null });
  try {
    return await auditLedger(session, Date.now(), { bodies });
  } finally {
    await session.close();
  }
}
