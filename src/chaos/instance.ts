import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { ChaosSetting, CrashPoint } from '../config/chaos-setting.ts';

/** Lines of output kept of an instance, to show when it does not come up. */
const KEPT_OUTPUT = 8_000;
const READY_WITHIN_MS = 30_000;

/** What all instances of a torture have in common. */
export interface InstanceParts {
  /** The program and its first arguments, to which `serve` is added. */
  readonly command: readonly string[];
  readonly port: number;
  readonly databaseUrl: string;
  readonly dataDir: string;
  readonly secretKey: string;
  readonly keys: { readonly test: string; readonly live: string };
  /** What becomes of an email of which nobody knows whether it was taken. */
  readonly unknownOutcome: 'retry' | 'hold';
  readonly torture: ChaosSetting;
}

/** One instance of the service: a child process that is killed, frozen and started again. */
export class Instance {
  #process: ChildProcess | null = null;
  #output = '';
  #frozen = false;
  /** Where live mail goes from its next start on; null keeps it here. */
  smtpPort: number | null = null;
  /** How far ahead its machine's clock is, from its next start on. */
  clockOffsetMs = 0;

  constructor(private readonly parts: InstanceParts) {}

  get url(): string {
    return `http://127.0.0.1:${this.parts.port}`;
  }

  get isRunning(): boolean {
    return this.#process !== null;
  }

  get isFrozen(): boolean {
    return this.#frozen;
  }

  get output(): string {
    return this.#output;
  }

  /** Starts it without waiting; `seed` makes each life of it dawdle differently. */
  start(seed: number, crash?: { at: CrashPoint; visit: number; afterMs: number }): void {
    const { command, port, databaseUrl, dataDir, secretKey, keys, torture, unknownOutcome } = this.parts;
    const { smtpPort } = this;
    const [program = '', ...first] = command;
    const child = spawn(program, [...first, 'serve'], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        PROFILE: 'production',
        HOST: '127.0.0.1',
        PORT: String(port),
        DATABASE_URL: databaseUrl,
        DATA_DIR: dataDir,
        SECRET_KEY: secretKey,
        BOOTSTRAP_TEST_KEY: keys.test,
        BOOTSTRAP_LIVE_KEY: keys.live,
        DEFAULT_PLAN: 'growth',
        UNKNOWN_OUTCOME: unknownOutcome,
        EHLO_NAME: 'torture.example',
        ...(smtpPort === null
          ? {}
          : { TRANSPORT: 'smtp', SMTP_URL: `smtp://127.0.0.1:${smtpPort}?tls=none` }),
        TEST_SENDS_PER_DAY: '0',
        RATE_LIMIT_PER_IP: '0',
        RATE_LIMIT_PER_KEY: '0',
        LOG_LEVEL: 'warn',
        TORTURE: JSON.stringify({
          ...torture,
          seed,
          clockOffsetMs: this.clockOffsetMs,
          ...(crash ? { crash } : {}),
        }),
      },
    });
    const keep = (chunk: Buffer) => {
      this.#output = (this.#output + chunk.toString()).slice(-KEPT_OUTPUT);
    };
    child.stdout?.on('data', keep);
    child.stderr?.on('data', keep);
    child.once('exit', () => {
      if (this.#process === child) this.#process = null;
    });
    this.#process = child;
    this.#frozen = false;
  }

  /** Resolves once it answers /health, whatever that says of the database. */
  async ready(): Promise<void> {
    const deadline = performance.now() + READY_WITHIN_MS;
    while (performance.now() < deadline && this.isRunning) {
      try {
        await fetch(`${this.url}/health`, { signal: AbortSignal.timeout(1_000) });
        return;
      } catch {
        await Bun.sleep(20);
      }
    }
    throw new Error(`An instance did not come up. It printed:\n${this.#output}`);
  }

  /** `kill -9`, or SIGTERM; resolves when the process is gone. */
  async end(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    const child = this.#process;
    if (child === null) return;
    const gone = once(child, 'exit');
    if (child.exitCode !== null || !child.kill(signal)) return;
    if (this.#frozen) this.thaw();
    await gone;
  }

  /** Resolves when it has died of itself. */
  async died(): Promise<NodeJS.Signals | null> {
    const child = this.#process;
    if (child === null) return null;
    const [, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null];
    return signal;
  }

  /** SIGSTOP: the process is there, holds its connections, and does nothing. */
  freeze(): void {
    this.#frozen = this.#process?.kill('SIGSTOP') ?? false;
  }

  thaw(): void {
    this.#process?.kill('SIGCONT');
    this.#frozen = false;
  }
}
