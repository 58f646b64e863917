/** Debian's mail servers as smarthosts: each has its own queue, signs in, and relays to Posthorn. */
export interface Smarthost {
  /** The name of its file tree. */
  readonly tree: string;
  readonly packages: readonly string[];
  /** True when it reaches Posthorn by TLS alone. */
  readonly needsTls?: true;
  /** Files of its tree, by path. `port`: the port at which it takes mail; `to`: that of Posthorn. */
  files(port: number, to: number, key: string): Readonly<Record<string, string>>;
  /** Shell commands that start it inside the tree and stay in the foreground. */
  start(port: number): string;
}

const POSTFIX = (to: number) => `compatibility_level = 3.6
myhostname = mx.sender.example
mydestination =
mynetworks = 127.0.0.0/8
inet_interfaces = 127.0.0.1
inet_protocols = ipv4
maillog_file = /var/log/postfix.log
relayhost = [127.0.0.1]:${to}
smtp_sasl_auth_enable = yes
smtp_sasl_password_maps = texthash:/etc/postfix/password
smtp_sasl_security_options = noanonymous
smtp_tls_security_level = none
smtpd_relay_restrictions = permit_mynetworks, reject
message_size_limit = 50000000
queue_run_delay = 2s
minimal_backoff_time = 2s
`;

const EXIM = (port: number, to: number, key: string) => `primary_hostname = mx.sender.example
qualify_domain = mx.sender.example
disable_ipv6 = true
local_interfaces = 127.0.0.1.${port}
keep_environment =
host_lookup =
rfc1413_query_timeout = 0s
dsn_advertise_hosts = *
acl_smtp_rcpt = all
acl_smtp_data = all
log_file_path = /tmp/exim-%slog
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
  hosts_require_auth = 127.0.0.1
  hosts_avoid_tls = *
begin authenticators
plain:
  driver = plaintext
  public_name = PLAIN
  client_send = ^svc^${key}
begin retry
*  *  F,1h,2s
`;

const SENDMAIL = (port: number, to: number) => `divert(0)dnl
OSTYPE(\`debian')dnl
define(\`confDOMAIN_NAME', \`mx.sender.example')dnl
define(\`SMART_HOST', \`relay:[127.0.0.1]')dnl
define(\`RELAY_MAILER_ARGS', \`TCP $h ${to}')dnl
define(\`confAUTH_MECHANISMS', \`PLAIN LOGIN')dnl
define(\`confREFUSE_LA', \`500')dnl
define(\`confQUEUE_LA', \`500')dnl
define(\`confPRIVACY_FLAGS', \`')dnl
define(\`ALIAS_FILE', \`/etc/smarthost/aliases')dnl
define(\`QUEUE_DIR', \`/var/spool/smarthost')dnl
FEATURE(\`authinfo', \`hash /etc/smarthost/authinfo')dnl
FEATURE(\`accept_unresolvable_domains')dnl
FEATURE(\`accept_unqualified_senders')dnl
FEATURE(\`promiscuous_relay')dnl
FEATURE(\`no_default_msa')dnl
FEATURE(\`nocanonify')dnl
DAEMON_OPTIONS(\`Port=${port}, Addr=127.0.0.1, Name=MTA')dnl
MAILER(\`local')dnl
MAILER(\`smtp')dnl
`;

/** The smarthosts by name. */
export const SMARTHOSTS: Readonly<Record<string, Smarthost>> = {
  postfix: {
    tree: 'postfix-signed-in',
    packages: ['postfix', 'libsasl2-modules'],
    files: (_, to, key) => ({
      '/etc/postfix/main.cf': POSTFIX(to),
      '/etc/postfix/password': `[127.0.0.1]:${to} svc:${key}\n`,
    }),
    start: (
      port,
    ) => `cp /usr/share/postfix/master.cf.dist /etc/postfix/master.cf; postconf -F '*/*/chroot = n'
      sed -i 's/^smtp  *inet/127.0.0.1:${port} inet/' /etc/postfix/master.cf; newaliases; rm -f /var/spool/postfix/pid/*; postsuper -d ALL; exec postfix start-fg`,
  },
  exim: {
    tree: 'exim',
    packages: ['exim4-daemon-light'],
    files: (port, to, key) => ({ '/etc/exim4/exim4.conf': EXIM(port, to, key) }),
    start: () =>
      'chmod 644 /etc/exim4/exim4.conf; rm -rf /var/spool/exim4/input/*; exec /usr/sbin/exim4 -bdf -q2s',
  },
  sendmail: {
    tree: 'sendmail-signed-in',
    packages: ['sendmail-bin', 'sendmail-cf', 'm4', 'make', 'sensible-mda', 'libsasl2-modules'],
    // makemap and the queue of the package refuse files of root in the folders of the package.
    files: (port, to, key) => ({
      '/etc/smarthost/sendmail.mc': SENDMAIL(port, to),
      '/etc/smarthost/authinfo': ['127.0.0.1', '[127.0.0.1]', '']
        .map((host) => `AuthInfo:${host} "U:svc" "I:svc" "P:${key}" "M:PLAIN"\n`)
        .join(''),
      '/etc/smarthost/aliases': 'root: shop@sender.example\n',
    }),
    start: () => `cd /usr/share/sendmail/cf/cf
      m4 -D_CF_DIR_=/usr/share/sendmail/cf/ /usr/share/sendmail/cf/m4/cf.m4 /etc/smarthost/sendmail.mc > /etc/mail/sendmail.cf
      chmod 600 /etc/smarthost/authinfo; makemap hash /etc/smarthost/authinfo < /etc/smarthost/authinfo; newaliases
      rm -rf /var/spool/smarthost; mkdir -m 700 /var/spool/smarthost; mkdir -p /run/sendmail/mta
      exec /usr/sbin/sendmail -bD -q2s -O MinQueueAge=1s`,
  },
  opensmtpd: {
    tree: 'opensmtpd',
    packages: ['opensmtpd'],
    // It signs in by TLS alone.
    needsTls: true,
    files: (port, to, key) => ({
      '/etc/smtpd.conf': `table secrets { posthorn = "svc:${key}" }
listen on 127.0.0.1 port ${port} hostname mx.sender.example
action "next" relay host smtps://posthorn@127.0.0.1:${to} auth <secrets> tls no-verify helo mx.sender.example
match from any for any action "next"
`,
    }),
    start: () => 'rm -rf /var/spool/smtpd/queue/*; exec /usr/sbin/smtpd -d -f /etc/smtpd.conf',
  },
};
