import { type ChildProcess, spawn } from 'node:child_process';
import {
  chownSync,
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { type Account, accountForPostgres } from '../../src/ops/torture/postgres-programs.ts';

/** The settings that the nodes of one cluster share. */
export interface PatroniPlan {
  /** The program, `patroni` of the package by default. */
  readonly patroni: string;
  /** The folder of initdb and postgres. */
  readonly programs: string;
  readonly etcdPort: number;
  readonly isSynchronous: boolean;
  /** `synchronous_mode_strict`: without a standby no commit is answered. */
  readonly isStrict: boolean;
}

/** The lease of the leader's lock; 20 s is the least that Patroni takes. */
const TTL_SECONDS = 20;
const MAX_CONNECTIONS = 120;

/** One machine of the cluster: a Patroni and the PostgreSQL that it looks after, in a separate folder. */
export class PatroniNode {
  #patroni: ChildProcess | null = null;
  #frozen: readonly number[] = [];

  constructor(
    readonly name: string,
    private readonly home: string,
    readonly port: number,
    readonly restPort: number,
    private readonly plan: PatroniPlan,
  ) {}

  get url(): string {
    return `http://127.0.0.1:${this.restPort}`;
  }

  /** The output of Patroni since the node was first started. */
  get log(): string {
    return readFileSync(join(this.home, 'patroni.log'), 'utf8');
  }

  start(): void {
    const account = accountForPostgres();
    for (const folder of [this.home, join(this.home, 'data')]) {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      own(folder, account);
    }
    const file = join(this.home, 'patroni.json');
    writeFileSync(file, JSON.stringify(this.#configuration()));
    const log = openSync(join(this.home, 'patroni.log'), 'a');
    for (const path of [file, join(this.home, 'patroni.log')]) own(path, account);
    this.#patroni = spawn(this.plan.patroni, [file], {
      ...account,
      cwd: this.home,
      stdio: ['ignore', log, log],
      // Debian's own Python has Patroni's modules; another one that comes first in PATH need not.
      env: { PATH: '/usr/bin:/bin:/usr/sbin:/sbin', HOME: this.home, LANG: 'C.UTF-8' },
      detached: true,
    });
    this.#patroni.on('error', (error) => console.error(`Patroni did not start: ${error.message}`));
    closeSync(log);
  }

  /** Kills PostgreSQL alone: the children of a killed postmaster end by themselves. */
  killPostmaster(): void {
    const [pid] = this.#postmaster();
    if (pid !== undefined) signal([pid], 'SIGKILL');
  }

  /** Kills everything at once: a machine that has lost its power, or that its watchdog has reset. */
  lose(): void {
    const pids = [...this.#tree(), ...this.#frozen];
    signal(pids, 'SIGKILL');
    this.#frozen = [];
    this.#patroni = null;
  }

  /** Stops everything where it is: a machine that is paused by its hypervisor, or that swaps. */
  freeze(): void {
    // A process that is forked between the look and the signal is found by the next look.
    for (let found: readonly number[] = []; ; ) {
      const tree = this.#tree();
      signal(tree, 'SIGSTOP');
      if (tree.length === found.length) break;
      found = tree;
    }
    this.#frozen = this.#tree();
  }

  thaw(): void {
    signal(this.#frozen, 'SIGCONT');
    this.#frozen = [];
  }

  /** Makes the node again from the leader's data. */
  renew(): void {
    this.lose();
    rmSync(join(this.home, 'data'), { recursive: true, force: true });
    this.start();
  }

  /** Patroni and the postmaster, which is no child of it, with all below them. */
  #tree(): readonly number[] {
    const children = childrenByParent();
    const found = new Set<number>();
    const add = (pid: number): void => {
      if (found.has(pid)) return;
      found.add(pid);
      for (const child of children.get(pid) ?? []) add(child);
    };
    const patroni = this.#patroni;
    if (patroni?.pid !== undefined && patroni.exitCode === null && patroni.signalCode === null)
      add(patroni.pid);
    for (const pid of this.#postmaster()) add(pid);
    return [...found];
  }

  #postmaster(): readonly number[] {
    const data = join(this.home, 'data');
    try {
      const pid = Number(readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n')[0]);
      // The file outlives a kill, and its number may be another process's by now.
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(data) ? [pid] : [];
    } catch {
      return [];
    }
  }

  #configuration(): object {
    const { isSynchronous, isStrict, etcdPort, programs } = this.plan;
    const address = `127.0.0.1:${this.port}`;
    const rest = `127.0.0.1:${this.restPort}`;
    const account = { username: 'postgres', password: 'postgres' };
    return {
      scope: 'posthorn',
      name: this.name,
      etcd3: { host: `127.0.0.1:${etcdPort}` },
      restapi: { listen: rest, connect_address: rest },
      bootstrap: {
        dcs: {
          ttl: TTL_SECONDS,
          loop_wait: 2,
          retry_timeout: 5,
          // A killed server is replaced at once, in place of being waited for.
          primary_start_timeout: 0,
          synchronous_mode: isSynchronous,
          synchronous_mode_strict: isSynchronous && isStrict,
          postgresql: {
            use_pg_rewind: true,
            use_slots: true,
            parameters: { max_connections: MAX_CONNECTIONS, wal_keep_size: '512MB', shared_buffers: '64MB' },
          },
        },
        // pg_rewind wants checksums.
        initdb: [{ encoding: 'UTF8' }, { locale: 'C' }, 'data-checksums'],
        pg_hba: ['host all all 127.0.0.1/32 trust', 'host replication all 127.0.0.1/32 trust'],
      },
      postgresql: {
        listen: address,
        connect_address: address,
        data_dir: join(this.home, 'data'),
        bin_dir: programs,
        pgpass: join(this.home, 'pgpass'),
        authentication: { superuser: account, replication: account, rewind: account },
        parameters: { unix_socket_directories: this.home, logging_collector: 'off' },
      },
    };
  }
}

function own(path: string, { uid, gid }: Account): void {
  if (uid !== undefined && gid !== undefined) chownSync(path, uid, gid);
}

function signal(pids: readonly number[], name: NodeJS.Signals): void {
  for (const pid of pids)
    try {
      process.kill(pid, name);
    } catch {
      // It has ended meanwhile.
    }
}

function childrenByParent(): Map<number, number[]> {
  const children = new Map<number, number[]>();
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    try {
      // The name of the program is in brackets, and may hold any character.
      const [, parent] = readFileSync(`/proc/${name}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
      children.set(Number(parent), [...(children.get(Number(parent)) ?? []), Number(name)]);
    } catch {
      // It has ended meanwhile.
    }
  }
  return children;
}
