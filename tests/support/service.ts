import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { RUNTIME_SETTINGS } from '../../src/ops/commands/serving/begin-again.ts';
import { freePort } from '../../src/ops/torture/free-port.ts';
import { layEmbedded } from './embedded.ts';
import { eventually } from './eventually.ts';
import { createServedDatabase } from './postgres.ts';

/** The keys that a service started by a test knows, unless the test sets its own. */
export const LIVE_KEY = `svc_live_${'L'.repeat(32)}`;
export const TEST_KEY = `svc_test_${'T'.repeat(32)}`;

/** Posthorn as a child process, from outside: sockets, signals, output. */
export interface Service extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  readonly dataDir: string;
  /** Everything it has printed so far, both streams. */
  output(): string;
  /** The exit code, or null when a signal ended it. */
  readonly ended: Promise<number | null>;
  /** SIGTERM, as a container's runtime does it; resolves with the exit code. */
  stop(): Promise<number | null>;
  /** `kill -9`: what a crash or an out-of-memory killer does. */
  kill(): Promise<void>;
}

export interface ServiceOptions {
  /** Added to the environment, which holds nothing of the developer's own but PATH and HOME. */
  readonly env?: Record<string, string>;
  /** Kept between restarts when given; otherwise made, and removed in the end. */
  readonly dataDir?: string;
  readonly port?: number;
  /**
   * The program and its first arguments. By default what was built, else the source, both with the defaults
   * of a checkout.
   */
  readonly command?: readonly string[];
  /**
   * Runs the source, and has its own first start initialise the embedded database, which takes four seconds
   * more.
   */
  readonly fromNothing?: boolean;
  /** Further words after `serve`. */
  readonly args?: readonly string[];
  readonly cwd?: string;
  readonly uid?: number;
}

const FROM_SOURCE = [process.execPath, resolve(import.meta.dir, '../../src/main.ts')];

/** The executable that was built for this run; undefined where none was. */
export const EXECUTABLE = process.env.POSTHORN_EXECUTABLE;

/**
 * Only the first compiler is on, as in tests/run.ts: services of tests end so soon that no other pays for
 * itself. A start takes 0.5 s of processor time instead of 0.7, tests that start many a seventh less.
 */
export const COMPILERS = Object.entries(process.env).flatMap(([name, value]) =>
  name.startsWith('BUN_JSC_') ? [`${name}=${value}`] : [],
);
if (COMPILERS.length > 0) COMPILERS.push('BUN_JSC_useDFGJIT=0');

/**
 * The settings for which the executable replaces itself. With them the first of two starts is saved: 0.37 s
 * of processor time until a refusal of the configuration become 0.32.
 */
const RUNTIME = Object.entries(RUNTIME_SETTINGS).map(([name, value]) => `${name}=${value}`);

/**
 * The default program: of the executable a start takes 0.8 s of processor time, from source 1.8. `env`
 * becomes what it runs.
 */
export const COMMAND: readonly string[] = [
  ...(COMPILERS.length > 0 ? ['/usr/bin/env', ...COMPILERS, ...RUNTIME] : []),
  ...(EXECUTABLE ? [EXECUTABLE] : FROM_SOURCE),
];

/** Printed by a start that its database did not answer in time. */
const DATABASE_WAS_SILENT = /does not answer|did not answer/;

/**
 * Starts the service and waits until /health answers 200. A start that the database does not answer in time
 * ends, and is made again by what runs it: here too, as a busy machine has such a database.
 */
export async function startService(options: ServiceOptions = {}): Promise<Service> {
  const service = await spawnService(options);
  try {
    const died = service.ended.then((code) => Promise.reject(new Error(`it ended with ${code}`)));
    // A first start writes a database, which takes minutes where a hundred other things are done.
    const healthy = eventually(
      'GET /health',
      async () => ((await fetch(`${service.url}/health`)).ok ? true : undefined),
      { withinMs: 600_000 },
    );
    await Promise.race([healthy, died]);
    return service;
  } catch (error) {
    await service[Symbol.asyncDispose]();
    if ((await service.ended) === 1 && DATABASE_WAS_SILENT.test(service.output()))
      return await startService(options);
    throw new Error(`The service did not start. It printed:\n${service.output()}`, { cause: error });
  }
}

/**
 * Starts the service on a database of the shared server, for tests that ask nothing of the embedded one: a
 * start takes 0.4 s of processor time instead of 1.7, an idle second a third, and each statement is quicker.
 */
export async function startServiceOnServer(options: ServiceOptions = {}): Promise<Service> {
  const database = await createServedDatabase();
  try {
    const service = await startService({ ...options, env: { DATABASE_URL: database.url, ...options.env } });
    return {
      ...service,
      async [Symbol.asyncDispose]() {
        await service[Symbol.asyncDispose]();
        await database.close();
      },
    };
  } catch (error) {
    await database.close();
    throw error;
  }
}

/** The match in what the service prints, of which the last comes after its first answer. */
export const printed = (service: Service, pattern: RegExp): Promise<RegExpExecArray> =>
  eventually(`the output ${pattern}`, () => pattern.exec(service.output()) ?? undefined);

/** Starts the service and does not wait: for starts that must fail. */
export async function spawnService(options: ServiceOptions = {}): Promise<Service> {
  const port = options.port ?? (await freePort());
  const dataDir = options.dataDir ?? mkdtempSync(join(tmpdir(), 'posthorn-data-'));
  const command = options.command ?? (options.fromNothing ? FROM_SOURCE : COMMAND);
  // The executable brings its own along.
  const isLaid = command === COMMAND && !EXECUTABLE && !options.env?.DATABASE_URL && !options.fromNothing;
  if (isLaid && !existsSync(join(dataDir, 'postgres'))) await layEmbedded(dataDir);
  const child = Bun.spawn([...command, 'serve', ...(options.args ?? [])], {
    stdout: 'pipe',
    stderr: 'pipe',
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
    ...(options.uid === undefined ? {} : { uid: options.uid }),
    env: {
      PATH: process.env.PATH ?? '',
      HOME: process.env.HOME ?? '',
      HOST: '127.0.0.1',
      PORT: String(port),
      DATA_DIR: dataDir,
      ...(!options.command && { PROFILE: 'development' }),
      BOOTSTRAP_LIVE_KEY: LIVE_KEY,
      BOOTSTRAP_TEST_KEY: TEST_KEY,
      ...options.env,
    },
  });
  let output = '';
  const collect = async (stream: ReadableStream<Uint8Array>) => {
    const decoder = new TextDecoder();
    for await (const chunk of stream) output += decoder.decode(chunk, { stream: true });
  };
  const drained = Promise.all([collect(child.stdout), collect(child.stderr)]);
  const ended = Promise.all([child.exited, drained]).then(() => child.exitCode);

  const signal = async (name: NodeJS.Signals) => {
    child.kill(name);
    return await ended;
  };
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    pid: child.pid,
    dataDir,
    output: () => output,
    ended,
    stop: () => signal('SIGTERM'),
    kill: async () => void (await signal('SIGKILL')),
    async [Symbol.asyncDispose]() {
      await signal('SIGKILL');
      if (options.dataDir === undefined) rmSync(dataDir, { recursive: true, force: true });
    },
  };
}
