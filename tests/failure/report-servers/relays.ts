import { readFile } from 'node:fs/promises';
import { Glob } from 'bun';
import { anyPort, startTreeServer, writeInTree } from './tree-server.ts';
import { treeOf } from './trees.ts';

/** A mail server of Debian with its default limits, which relays all mail to a port of this machine. */
interface Relay {
  /** The files of its tree, by path. `port`: its own; `to`: the port that it relays to. */
  files(port: number, to: number): Readonly<Record<string, string>>;
  /** Shell commands that start it inside the tree and stay in the foreground. */
  start(port: number): string;
  /**
   * The recipients of the mail that it has accepted, where it does not relay it. `tree`: the folder of its
   * files.
   */
  queued?(tree: string): Promise<readonly string[]>;
}

/** A control file of Courier's queue has one line for each recipient, which begins with an r. */
async function queuedByCourier(tree: string): Promise<readonly string[]> {
  const recipients: string[] = [];
  for await (const path of new Glob('var/lib/courier/msgs/*/C*').scan({ cwd: tree, absolute: true })) {
    const text = await readFile(path, 'latin1');
    recipients.push(...[...text.matchAll(/^r(.+)$/gm)].map(([, address = '']) => address));
  }
  return recipients;
}

const EXIM = (port: number, to: number) => `primary_hostname = mx.example.com
disable_ipv6 = true
local_interfaces = 127.0.0.1.${port}
host_lookup =
rfc1413_query_timeout = 0s
keep_environment =
acl_smtp_rcpt = all
acl_smtp_data = all
begin acl
all:
  accept
begin routers
next:
  driver = manualroute
  route_list = * 127.0.0.1
  self = send
  transport = next
begin transports
next:
  driver = smtp
  port = ${to}
  allow_localhost
begin retry
*  *  F,1d,2s
`;

/** The relays by name. No setting of them concerns a limit. */
export const RELAYS = {
  exim: {
    files: (port, to) => ({ '/etc/exim4/exim4.conf': EXIM(port, to) }),
    start: () =>
      'chmod 644 /etc/exim4/exim4.conf; rm -rf /var/spool/exim4/input/*; exec /usr/sbin/exim4 -bdf -q10s',
  },
  opensmtpd: {
    files: (port, to) => ({
      '/etc/smtpd.conf': `listen on 127.0.0.1 port ${port} hostname mx.example.com
action "next" relay host smtp://127.0.0.1:${to} helo mx.example.com
match from any for any action "next"
`,
    }),
    start: () => 'exec /usr/sbin/smtpd -d -f /etc/smtpd.conf',
  },
  courier: {
    // The name server of the tree is not there, so that mail stays in the queue and is counted there.
    files: () => ({
      '/etc/resolv.conf': 'nameserver 127.0.0.1\noptions timeout:1 attempts:1\n',
      '/etc/courier/me': 'mx.example.com\n',
      '/etc/courier/defaultdomain': 'example.org\n',
      '/etc/courier/locals': 'localhost\n',
      '/etc/courier/bofh': 'opt BOFHCHECKDNS=0\n',
      '/etc/courier/smtpaccess/default': '127.0.0\tallow,RELAYCLIENT,BOFHCHECKDNS=0\n',
    }),
    queued: queuedByCourier,
    start: (port) => `set -e; eval "$(grep -E '^MAX' /etc/courier/esmtpd)"; mkdir -p /run/courier/authdaemon
      chown -R courier:courier /run/courier /var/lib/courier; ln -sf makedat.courier /usr/bin/makedat
      makesmtpaccess; makealiases || true; rm -rf /var/lib/courier/msgs/* /var/lib/courier/msgq/*; courierfilter start || true; authdaemond start || true; courier start
      exec /usr/sbin/couriertcpd -address=127.0.0.1 -maxprocs=\${MAXDAEMONS:-40} -maxperc=\${MAXPERC:-4} \\
        -maxperip=\${MAXPERIP:-4} -noidentlookup -nodnslookup -user=courier -group=courier \\
        -access=/etc/courier/smtpaccess.dat ${port} /usr/sbin/courieresmtpd`,
  },
} as const satisfies Readonly<Record<string, Relay>>;

/** A relay that runs. */
export interface RunningRelay extends AsyncDisposable {
  readonly port: number;
  /** The recipients in its queue; absent where it relays all mail. */
  readonly queued?: () => Promise<readonly string[]>;
}

/** Starts a relay that hands its mail to the port `to`; the reason where it cannot be had. */
export async function startRelay(
  name: keyof typeof RELAYS,
  to: number,
): Promise<RunningRelay | { readonly reason: string }> {
  const had = await treeOf(name);
  if ('reason' in had) return had;
  const { tree } = had;
  const port = anyPort();
  const relay: Relay = RELAYS[name];
  await writeInTree(tree, relay.files(port, to));
  const server = await startTreeServer(tree, 'mx.example.com', port, relay.start(port));
  return {
    port,
    ...(relay.queued && { queued: () => relay.queued?.(tree) ?? Promise.resolve([]) }),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}
