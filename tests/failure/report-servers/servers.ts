/** The mail servers of Debian whose reports are collected. Each lives in a separate file tree and network. */
export interface ReportingServer {
  readonly packages: readonly string[];
  /** Files of its tree, by path. */
  readonly files: Readonly<Record<string, string>>;
  /** Shell commands that start it inside the tree. */
  readonly start: string;
  /**
   * The command that takes a message from its standard input; `$from` and `$to` are the envelope. SMTP at
   * port 25 without it.
   */
  readonly submit?: string;
  /** A command that has what waits tried again, or given up. */
  readonly again?: string;
}

/** The name of every server. */
export const SERVER_NAMES = [
  'exim',
  'postfix',
  'sendmail',
  'opensmtpd',
  'courier',
  'nullmailer',
  'dma',
] as const satisfies readonly string[];

const EXIM = `primary_hostname = mx.example.com
qualify_domain = example.com
domainlist ours = example.com
disable_ipv6 = true
local_interfaces = 127.0.0.1
keep_environment =
acl_smtp_rcpt = everybody
acl_smtp_data = everybody
delay_warning = 3s
message_size_limit = 50M
log_file_path = /tmp/exim-%slog
begin acl
everybody:
  accept
begin routers
aliases:
  driver = redirect
  domains = +ours
  data = \${lookup{$local_part}lsearch{/etc/aliases}}
  pipe_transport = pipe
remote:
  driver = dnslookup
  domains = ! +ours
  transport = smtp
  self = send
  no_more
begin transports
smtp:
  driver = smtp
  hosts_try_prdr =
pipe:
  driver = pipe
  return_output
  user = nobody
begin retry
*  *  F,20s,2s
`;

const POSTFIX = `compatibility_level = 3.6
myhostname = mx.example.com
mydestination =
mynetworks = 127.0.0.0/8
inet_interfaces = 127.0.0.1
inet_protocols = ipv4
virtual_alias_domains = example.com
virtual_alias_maps = texthash:/etc/postfix/virtual
maillog_file = /var/log/postfix.log
smtp_tls_security_level = none
message_size_limit = 50000000
queue_run_delay = 2s
minimal_backoff_time = 2s
maximal_backoff_time = 4s
maximal_queue_lifetime = 20s
bounce_queue_lifetime = 20s
delay_warning_time = 3s
`;

const OPENSMTPD = `table aliases { team = "ok@receiver.example,unknown@receiver.example" }
queue ttl 12s
bounce warn-interval 3s
listen on 127.0.0.1 hostname mx.example.com
action "local" maildir "/tmp/maildir" alias <aliases>
action "direct" relay helo mx.example.com
action "relay" relay host smtp://127.0.0.2 helo mx.example.com
match from any for domain "example.com" action "local"
match from any for domain { "dead.example", "nonexistent.example", "nullmx.example" } action "direct"
match from any for any action "relay"
`;

const ALIASES = 'team: ok@receiver.example, unknown@receiver.example\n';

const DELIVERS = ['/usr/sbin/sendmail -f "$from" "$to"'].join('');

export const SERVERS: Readonly<Record<(typeof SERVER_NAMES)[number], ReportingServer>> = {
  exim: {
    packages: ['exim4-daemon-light'],
    files: {
      '/etc/exim4/exim4.conf': EXIM,
      '/etc/aliases': `${ALIASES}pipe: "|/bin/sh -c 'echo the filter did not like it; exit 1'"\n`,
    },
    start: 'chmod 644 /etc/exim4/exim4.conf; /usr/sbin/exim4 -bd -q2s',
    again: '/usr/sbin/exim4 -qff',
  },
  postfix: {
    packages: ['postfix'],
    files: {
      '/etc/postfix/main.cf': POSTFIX,
      '/etc/postfix/virtual': 'team@example.com ok@receiver.example, unknown@receiver.example\n',
    },
    start: `cp /usr/share/postfix/master.cf.dist /etc/postfix/master.cf; postconf -F '*/*/chroot = n'; newaliases; postfix start`,
    again: 'postqueue -f',
  },
  sendmail: {
    packages: ['sendmail-bin', 'sensible-mda'],
    files: { '/etc/mail/local-host-names': 'example.com\n', '/etc/mail/aliases': ALIASES },
    start: `newaliases; /usr/sbin/sendmail -bd -q2s -O Timeout.queuereturn=20s -O Timeout.queuewarn=3s -O MinQueueAge=1s -O Timeout.hoststatus=1s -O RefuseLA=500 -O QueueLA=500`,
    again: '/usr/sbin/sendmail -q -O Timeout.queuereturn=20s -O Timeout.queuewarn=3s -O MinQueueAge=1s',
  },
  opensmtpd: {
    packages: ['opensmtpd'],
    files: { '/etc/smtpd.conf': OPENSMTPD },
    start: 'setsid /usr/sbin/smtpd -dv -f /etc/smtpd.conf >/tmp/smtpd.log 2>&1 &',
    again: 'smtpctl schedule all',
  },
  courier: {
    packages: ['courier-mta'],
    files: {
      '/etc/courier/me': 'mx.example.com\n',
      '/etc/courier/defaultdomain': 'example.com\n',
      '/etc/courier/locals': 'localhost\nexample.com\n',
      '/etc/courier/aliases/system': ALIASES,
      '/etc/courier/queuetime': '12s\n',
      '/etc/courier/warntime': '4s\n',
      '/etc/courier/retryalpha': '2\n',
      '/etc/courier/retrybeta': '1\n',
      '/etc/courier/retrygamma': '2\n',
      '/etc/courier/retrymaxdelta': '1\n',
    },
    start:
      'mkdir -p /run/courier; chown courier:courier /run/courier; makealiases; courierfilter start; courier start',
    submit: DELIVERS,
    again: 'courier flush',
  },
  nullmailer: {
    packages: ['nullmailer'],
    files: {
      '/etc/nullmailer/remotes': '127.0.0.2 smtp --port=25\n',
      '/etc/nullmailer/me': 'mx.example.com\n',
      '/etc/nullmailer/defaultdomain': 'example.com\n',
      '/etc/nullmailer/pausetime': '1\n',
      '/etc/nullmailer/maxpause': '1\n',
      '/etc/nullmailer/queuelifetime': '5\n',
    },
    start:
      'mkfifo -m 622 /var/spool/nullmailer/trigger; rm -f /var/spool/nullmailer/*/*; chown -R mail:mail /var/spool/nullmailer; setsid su -s /bin/sh mail -c nullmailer-send >/tmp/nullmailer.log 2>&1 &',
    submit: DELIVERS,
  },
  dma: {
    packages: ['dma'],
    files: { '/etc/dma/dma.conf': 'MAILNAME mx.example.com\n', '/etc/aliases': ALIASES },
    start: 'true',
    submit: '/usr/sbin/dma -f "$from" "$to"',
    // dma gives up after five days.
    again: "find /var/spool/dma -type f -exec touch -d '6 days ago' {} +; dma -q",
  },
};
