import { resolve } from 'node:path';
import { Relay } from '../../src/ops/torture/faults/relay.ts';
import { Bucket } from '../../src/platform/bodies/bucket.ts';

/** An S3 server of one test's own, with a network in between that can be cut and frozen. */
export interface S3 extends AsyncDisposable {
  /** The settings by which the service reaches the bucket. */
  readonly environment: Readonly<Record<string, string>>;
  /** The network that the service reaches it through. */
  readonly relay: Relay;
  /** Past that network, and outside the prefix. */
  readonly bucket: Bucket;
  /** Every key below the prefix, in order. */
  keys(prefix?: string): Promise<readonly string[]>;
  /** Stores something as another user of the bucket would. */
  overwrite(key: string, body: string): Promise<void>;
}

const BUCKET = 'bodies';
const PREFIX = 'mail';
const NEVER = new AbortController().signal;

/** Starts one, with an empty bucket. */
export async function startS3(): Promise<S3> {
  const stack = new AsyncDisposableStack();
  const child = Bun.spawn([process.execPath, resolve(import.meta.dir, 's3-server.ts')], {
    stdout: 'pipe',
    stderr: 'inherit',
  });
  stack.defer(async () => {
    child.kill('SIGKILL');
    await child.exited;
  });
  const port = Number(await firstLine(child.stdout));
  const relay = await Relay.open(port);
  stack.defer(() => relay.close());
  const key = { accessKeyId: 'test', secretAccessKey: 'test' };
  const settings = { ...key, region: 'us-east-1', ca: null, now: Date.now };
  const endpoint = `http://127.0.0.1:${port}`;
  const bucket = new Bucket({ ...settings, bucket: BUCKET, prefix: `${PREFIX}/`, endpoint });
  const made = await fetch(`${endpoint}/${BUCKET}`, { method: 'PUT' });
  if (!made.ok) throw new Error(`The bucket could not be made: ${made.status}`);
  return {
    environment: {
      BODY_STORE: `s3://${BUCKET}/${PREFIX}`,
      BODY_STORE_ENDPOINT: `http://127.0.0.1:${relay.port}`,
      BODY_STORE_ACCESS_KEY_ID: key.accessKeyId,
      BODY_STORE_SECRET_ACCESS_KEY: key.secretAccessKey,
    },
    relay,
    bucket,
    async keys(prefix = '') {
      const keys: string[] = [];
      for (let after: string | null = null, isFirst = true; isFirst || after; isFirst = false) {
        const page = await bucket.list(prefix, { after }, NEVER);
        keys.push(...page.keys);
        after = page.next;
      }
      return keys.sort();
    },
    overwrite: (key, body) => bucket.put(key, new TextEncoder().encode(body), '', NEVER),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

async function firstLine(stream: ReadableStream<Uint8Array>): Promise<string> {
  let text = '';
  const decoder = new TextDecoder();
  for await (const chunk of stream) {
    text += decoder.decode(chunk, { stream: true });
    if (text.includes('\n')) return text;
  }
  throw new Error('The S3 server ended before it listened.');
}
