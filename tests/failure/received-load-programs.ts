import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openSubmitter, type Submitter } from '../bench/submitter.ts';
import { postfixMissing, startPostfix } from '../integration/transport/postfix.ts';
import { DOMAIN, isFinal, type Ledger, octetsOf, SENDER } from './received-load.ts';
import { type Replies, repliesIn } from './received-load-replies.ts';
import { RELAYS } from './report-servers/relays.ts';
import { anyPort, startTreeServer, writeInTree } from './report-servers/tree-server.ts';
import { treeOf } from './report-servers/trees.ts';

/** A mail server that runs and relays to the instances. */
export interface LoadRelay extends AsyncDisposable {
  readonly name: string;
  readonly port: number;
  /** The process from which all of its others descend. */
  readonly pid: number;
  /** Its part of the messages that fill queues beforehand: what it costs beside the others, turned over. */
  readonly share: number;
  /**
   * Has it try all that waits now, while the instances are there; absent of a server that tries every other
   * second.
   */
  readonly flush?: () => Promise<unknown>;
  /** Its answers from the service, by its log. */
  replies(): Promise<Replies>;
  /** Keeps what is given from here on in the queue. */
  hold(): Promise<unknown>;
  /** Has all of that leave at once, over connections that are used again as the server does by itself. */
  release(): Promise<unknown>;
}

/** Each server connects from another address, as in the world: a port takes 50 connections of one. */
const ADDRESSES = { postfix: '127.0.0.2', exim: '127.0.0.3', opensmtpd: '127.0.0.4' };

/** Queue runners of Exim side by side: each message is a process, and one runner waits for it. */
const EXIM_RUNNERS = 3;

const EXIM = (port: number, to: readonly number[]): string => `primary_hostname = mx.example.com
disable_ipv6 = true
local_interfaces = 127.0.0.1.${port}
host_lookup =
rfc1413_query_timeout = 0s
keep_environment =
smtp_accept_queue_per_connection = 0
smtp_accept_max = 40
queue_run_max = ${EXIM_RUNNERS}
deliver_drop_privilege
remote_max_parallel = 1
acl_smtp_rcpt = all
acl_smtp_data = all
begin acl
all:
  accept
begin routers
next:
  driver = manualroute
  route_list = * ${to.map((one) => `127.0.0.1::${one}`).join(':')}
  hosts_randomize
  self = send
  transport = next
begin transports
next:
  driver = smtp
  allow_localhost
  interface = ${ADDRESSES.exim}
begin retry
*  *  F,1d,2s
`;

/**
 * One failure puts off all that is in the active queue, and to write that down of thousands costs more than
 * to deliver them.
 */
const POSTFIX = `smtp_bind_address = ${ADDRESSES.postfix}
queue_run_delay = 2s
minimal_backoff_time = 2s
maximal_backoff_time = 4s
transport_retry_time = 2s
qmgr_message_active_limit = 500
relay_destination_concurrency_failed_cohort_limit = 50
`;

/**
 * OpenSMTPD opens a further connection only after five seconds, and goes another way after a hundred
 * messages.
 */
const OPENSMTPD =
  'mta limit conn-delay-route 0 reconn-delay-route 0 conn-delay-relay 0 max-conn-per-route 4 session-mail-max 500';

/** The mail servers by name, each started before the ports of the instances, one of them or all. */
export const SERVERS: Readonly<
  Record<string, (to: readonly number[]) => Promise<LoadRelay | { readonly reason: string }>>
> = {
  async postfix(to) {
    const reason = postfixMissing();
    if (reason !== null) return { reason };
    const postfix = await startPostfix({ relaysTo: to, settings: POSTFIX });
    const reload = () => said('postfix', '-c', postfix.config, 'reload');
    return {
      name: 'postfix',
      port: postfix.port,
      pid: postfix.pid,
      share: 16,
      replies: async () =>
        repliesIn('postfix', await readFile(join(postfix.config, '../queue/maillog'), 'utf8')),
      hold: () => said('postconf', '-c', postfix.config, '-e', 'defer_transports = relay').then(reload),
      release: async () => {
        await said('postconf', '-c', postfix.config, '-e', 'defer_transports =');
        await reload();
        await said('postqueue', '-c', postfix.config, '-f');
      },
      [Symbol.asyncDispose]: () => postfix[Symbol.asyncDispose](),
    };
  },
  async exim(to) {
    const had = await treeOf('exim');
    if ('reason' in had) return had;
    const port = anyPort();
    await writeInTree(had.tree, { '/etc/exim4/exim4.conf': EXIM(port, to) });
    const begin =
      'chmod 644 /etc/exim4/exim4.conf; rm -rf /var/spool/exim4/input/* /var/spool/exim4/db/* /var/log/exim4/*;';
    const started = (flags: string, before = '') =>
      startTreeServer(had.tree, 'mx.example.com', port, `${before} exec /usr/sbin/exim4 -bdf ${flags}`);
    let server = await started('-q2s', begin);
    const again = async (flags: string): Promise<void> => {
      await server[Symbol.asyncDispose]();
      server = await started(flags);
    };
    return {
      name: 'exim',
      port,
      get pid() {
        return server.pid;
      },
      hold: () => again('-odq'),
      release: () => again('-q1s'),
      share: 1,
      replies: async () => repliesIn('exim', await readFile(join(had.tree, 'var/log/exim4/mainlog'), 'utf8')),
      [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
    };
  },
  async opensmtpd([, to = 0]) {
    const had = await treeOf('opensmtpd');
    if ('reason' in had) return had;
    const port = anyPort();
    const { '/etc/smtpd.conf': conf = '' } = RELAYS.opensmtpd.files(port, to);
    await writeInTree(had.tree, {
      '/etc/smtpd.conf': `queue ttl 1d\n${OPENSMTPD}\n${conf.replace(' helo ', ` src "${ADDRESSES.opensmtpd}" helo `)}`,
    });
    const start = `rm -rf /var/spool/smtpd/queue/*; ${RELAYS.opensmtpd.start()}`;
    const server = await startTreeServer(had.tree, 'mx.example.com', port, start);
    const control = (...words: string[]) => said('chroot', had.tree, 'smtpctl', ...words);
    const routes = () => control('show', 'routes').catch(() => '');
    return {
      name: 'opensmtpd',
      port,
      pid: server.pid,
      share: 3,
      replies: async () => repliesIn('opensmtpd', await readFile(join(had.tree, 'tmp/server.log'), 'utf8')),
      hold: () => control('pause', 'mta'),
      release: () => control('resume', 'mta'),
      // It waits for 400 s at least, and the more the oftener it has tried.
      flush: async () => {
        // A route that failed is left alone for a quarter of a minute, and the longer the oftener.
        for (const [route] of (await routes()).matchAll(/^\d+/gm))
          await control('resume', 'route', route).catch(() => {});
        await control('schedule', 'all').catch(() => {});
      },
      [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
    };
  },
};

/** Runs a command, and resolves with what it says. @throws where it fails, with its words */
async function said(...command: string[]): Promise<string> {
  const child = Bun.spawn(command, { stdout: 'pipe', stderr: 'pipe' });
  const [text, words] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  if ((await child.exited) !== 0) throw new Error(`${command.join(' ')}: ${words}`);
  return text;
}

/** Between two messages of a feeder: a server takes them faster than it passes them on. */
const PACE_MS = 15;
/** Messages of one session: servers end one after so many. */
const PER_SESSION = 50;

/**
 * Gives a mail server messages until it is ended, or has given the most; those that it has taken count as
 * answered.
 */
export async function feed(
  { name, port }: LoadRelay,
  ledger: Ledger,
  end: AbortSignal,
  { most = Number.POSITIVE_INFINITY, paceMs = PACE_MS } = {},
): Promise<void> {
  let session: Submitter | null = null;
  for (let given = 0; !end.aborted && given < most; given++) {
    // One whose end was not seen answered may be in the queue all the same: it is given once alone.
    const entry = ledger.add(name);
    try {
      if (given % PER_SESSION === 0) {
        session?.close();
        session = null;
      }
      session ??= await openSubmitter({ port, pipelines: false });
      await session.send(SENDER, entry.to, octetsOf(entry));
      entry.isAnswered = true;
      if (paceMs > 0) await Bun.sleep(paceMs);
    } catch (error) {
      const { message } = error as Error;
      if (isFinal(message)) entry.refusal = message;
      session?.close();
      session = null;
      await Bun.sleep(100);
    }
  }
  session?.close();
}

/**
 * Between two messages of swaks: each is a process of Perl, which costs as much as thirty messages of a mail
 * server.
 */
const SWAKS_PACE_MS = 500;

/**
 * Hands messages in by swaks, one after the other, each until it ends well or for good. `spent` gets the
 * processor time of each, in µs.
 */
export async function sendBySwaks(
  ports: readonly number[],
  ledger: Ledger,
  end: AbortSignal,
  spent: (us: number) => void,
  paceMs = SWAKS_PACE_MS,
): Promise<void> {
  for (let turn = 0; !end.aborted; ) {
    const entry = ledger.add('swaks', [`support@${DOMAIN}`]);
    while (!entry.isAnswered && entry.refusal === undefined && !end.aborted) {
      const port = ports[turn++ % ports.length];
      const child = Bun.spawn(
        [
          'swaks',
          '--server',
          '127.0.0.1',
          '--port',
          String(port),
          '--silent',
          '2',
          '--data',
          '-',
          '--from',
          SENDER,
          '--to',
          entry.to.join(),
        ],
        { stdin: Buffer.from(entry.raw), stdout: 'pipe', stderr: 'ignore' },
      );
      const said = await new Response(child.stdout).text();
      entry.isAnswered = (await child.exited) === 0;
      spent(Number(child.resourceUsage()?.cpuTime.total ?? 0));
      // It marks replies that are errors so.
      const [, reply = ''] = /^<\*\* {1,2}(\S.{0,500})/m.exec(said) ?? [];
      if (isFinal(reply)) entry.refusal = reply;
      if (!entry.isAnswered) await Bun.sleep(100);
    }
    await Bun.sleep(paceMs);
  }
}
