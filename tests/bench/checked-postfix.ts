import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { anyPort, startTreeServer, writeInTree } from '../failure/report-servers/tree-server.ts';
import { missing, treeWith } from '../failure/report-servers/trees.ts';
import { timeOfTree } from './cpu.ts';

/** A Postfix that checks SPF, DKIM and DMARC of what comes, and stores it in one Maildir. */
export interface CheckedPostfix extends AsyncDisposable {
  readonly port: number;
  /** Messages in the Maildir. */
  stored(): Promise<number>;
  /** The field in which it has written its results of some message. */
  results(): Promise<string>;
  /** Processor time of all its processes, in microseconds. */
  worked(): number;
}

const NAME = 'mx.bench.test';
const MAILDIR = 'var/mail/bench/inbox';
const PACKAGES = ['postfix', 'opendkim', 'opendmarc', 'postfix-policyd-spf-python'];
/** The client of a bench is this machine, which all three trust by default. */
const NO_CLIENT = '203.0.113.1\n';

const files = (dkim: number, dmarc: number): Readonly<Record<string, string>> => ({
  '/etc/resolv.conf': 'nameserver 127.0.0.1\n',
  '/etc/bench/none': NO_CLIENT,
  '/etc/bench/opendkim.conf': `Mode v
Socket inet:${dkim}@127.0.0.1
InternalHosts /etc/bench/none
AuthservID ${NAME}
AlwaysAddARHeader yes
Nameservers 127.0.0.1
UserID opendkim
`,
  '/etc/bench/opendmarc.conf': `Socket inet:${dmarc}@127.0.0.1
AuthservID ${NAME}
TrustedAuthservIDs ${NAME}
IgnoreHosts /etc/bench/none
RejectFailures false
UserID opendmarc
`,
  '/etc/bench/policyd-spf.conf': `debugLevel = 0
TestOnly = 0
HELO_reject = False
Mail_From_reject = False
Header_Type = AR
Authserv_Id = ${NAME}
skip_addresses = 203.0.113.0/24
`,
  '/etc/postfix/main.cf': `compatibility_level = 3.6
myhostname = ${NAME}
mydestination =
inet_interfaces = 127.0.0.1
inet_protocols = ipv4
maillog_file = /var/log/postfix.log
virtual_mailbox_domains = acme.example
virtual_mailbox_base = /var/mail/bench
virtual_mailbox_maps = static:inbox/
virtual_uid_maps = static:65534
virtual_gid_maps = static:65534
virtual_minimum_uid = 100
mailbox_size_limit = 0
virtual_mailbox_limit = 0
smtpd_client_connection_count_limit = 0
smtpd_recipient_restrictions = reject_unauth_destination, check_policy_service unix:private/policyd-spf
policyd-spf_time_limit = 3600
smtpd_milters = inet:127.0.0.1:${dkim}, inet:127.0.0.1:${dmarc}
milter_default_action = tempfail
`,
});

const start = (port: number): string => `set -e
  mkdir -p /var/mail/bench /run/opendkim /run/opendmarc; rm -rf /var/mail/bench/inbox; chown nobody /var/mail/bench
  opendkim -f -x /etc/bench/opendkim.conf &
  opendmarc -f -c /etc/bench/opendmarc.conf &
  cp /usr/share/postfix/master.cf.dist /etc/postfix/master.cf; postconf -F '*/*/chroot = n'
  sed -i 's/^smtp  *inet/127.0.0.1:${port} inet/' /etc/postfix/master.cf
  printf 'policyd-spf unix - n n - 0 spawn\\n  user=policyd-spf argv=/usr/bin/policyd-spf /etc/bench/policyd-spf.conf\\n' >> /etc/postfix/master.cf
  rm -f /var/spool/postfix/pid/*; postsuper -d ALL || true; exec postfix start-fg`;

/**
 * Starts one in a separate file tree; the reason where it cannot be had. Its name server is port 53 of this
 * machine.
 */
export async function startCheckedPostfix(): Promise<CheckedPostfix | { readonly reason: string }> {
  const reason = missing();
  if (reason !== null) return { reason };
  const had = await treeWith('postfix-checked', PACKAGES);
  if ('reason' in had) return had;
  const { tree } = had;
  const port = anyPort();
  await writeInTree(tree, files(anyPort(), anyPort()));
  const server = await startTreeServer(tree, NAME, port, start(port));
  const inbox = join(tree, MAILDIR, 'new');
  const names = (): Promise<string[]> => readdir(inbox).catch(() => []);
  return {
    port,
    stored: async () => (await names()).length,
    async results() {
      const [name = ''] = await names();
      const text = await readFile(join(inbox, name), 'latin1');
      return (text.split('\n\n')[0]?.match(/^Authentication-Results:.*(?:\n[ \t].*)*/gm) ?? []).join(' ');
    },
    worked: () => timeOfTree(server.pid),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}
