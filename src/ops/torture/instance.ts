import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { ChaosSetting, CrashPoint } from '../../platform/config/settings/chaos-setting.ts';
import { Patience } from './patience.ts';

/** Characters of an instance's output that are kept, to be shown when it does not start. */
const KEPT_OUTPUT = 8_000;
const READY_WITHIN_MS = 30_000;

/** The configuration of an instance. */
export interface InstanceParts {
  /** The program and its first arguments, to which `serve` is added. */
  readonly command: readonly string[];
  readonly port: number;
  /** The port that takes mail by SMTP. */
  readonly inboundPort: number;
  /** Null for the database inside the process, in `dataDir`. */
  readonly databaseUrl: string | null;
  readonly dataDir: string;
  readonly secretKey: string;
  readonly keys: { readonly test: string; readonly live: string };
  readonly unknownOutcome: 'retry' | 'hold';
  readonly torture: ChaosSetting;
}

/** One instance of the service: a child process that is killed, frozen and started again. */
export class Instance {
  #process: ChildProcess | null = null;
  #output = '';
  #frozen = false;
  /** The SMTP server for live mail from the next start on; null captures the mail. */
  smtpPort: number | null = null;
  /** Milliseconds that the machine's clock is ahead from the next start on. */
  clockOffsetMs = 0;

  constructor(private readonly parts: InstanceParts) {}

  get url(): string {
    return `http://127.0.0.1:${this.parts.port}`;
  }

  get inboundPort(): number {
    return this.parts.inboundPort;
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

  /** Starts the process without waiting for it; `seed` gives each run different delays. */
  start(seed: number, crash?: { at: CrashPoint; visit: number; afterMs: number }): void {
    const { command, port, inboundPort, databaseUrl, dataDir, secretKey, keys, torture, unknownOutcome } =
      this.parts;
    const { smtpPort } = this;
    const [program = '', ...first] = command;
    const child = spawn(program, [...first, 'serve'], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        PROFILE: 'production',
        HOST: '127.0.0.1',
        PORT: String(port),
        INBOUND_SMTP_PORT: String(inboundPort),
        ...(databaseUrl === null ? {} : { DATABASE_URL: databaseUrl }),
        DATA_DIR: dataDir,
        SECRET_KEY: secretKey,
        BOOTSTRAP_TEST_KEY: keys.test,
        BOOTSTRAP_LIVE_KEY: keys.live,
        DEFAULT_PLAN: 'growth',
        UNKNOWN_OUTCOME: unknownOutcome,
        EHLO_NAME: 'torture.example',
        // A name server of the machine that drops questions would hold received mail for seconds: this one
        // refuses all at once.
        DNS_SERVERS: '127.0.0.1:9',
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

  /** Resolves once the instance answers /health, with any status. */
  async ready(): Promise<void> {
    const patience = new Patience(READY_WITHIN_MS);
    while (patience.lasts && this.isRunning) {
      try {
        await fetch(`${this.url}/health`, { signal: AbortSignal.timeout(1_000) });
        return;
      } catch {
        await patience.pause(20);
      }
    }
    throw new Error(`An instance did not come up. It printed:\n${this.#output}`);
  }

  /** Sends the signal; resolves when the process is gone. */
  async end(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    const child = this.#process;
    if (child === null) return;
    const gone = once(child, 'exit');
    if (child.exitCode !== null || !child.kill(signal)) return;
    if (this.#frozen) this.thaw();
    await gone;
  }

  /** Resolves when the process has ended without a kill. */
  async died(): Promise<NodeJS.Signals | null> {
    const child = this.#process;
    if (child === null) return null;
    const [, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null];
    return signal;
  }

  /** Sends SIGSTOP: the process keeps its connections and does nothing. */
  freeze(): void {
    this.#frozen = this.#process?.kill('SIGSTOP') ?? false;
  }

  thaw(): void {
    this.#process?.kill('SIGCONT');
    this.#frozen = false;
  }
}
