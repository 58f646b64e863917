import { createConnection } from 'node:net';
import { LOCAL_HEADER } from '../../../mail/inbound/port/proxy-header.ts';
import { type ServerPlace, spamdAt } from '../../../mail/spam/spam-assassin.ts';
import { isWithinRanges } from '../../../platform/config/client-address.ts';
import type { Config } from '../../../platform/config/config.ts';
import type { Database } from '../../../platform/db/database.ts';
import { unbracketed } from '../../../platform/text/host.ts';
import { type Diagnosis, fine, skipped, warning, wrong } from '../diagnosis.ts';
import { loopbackOf } from '../running-service.ts';

const CHECK = 'Received mail';
const FILTER = 'Spam filter';
const MAILBOXES = 'Mailboxes';
const PATIENCE_MS = 3_000;

const ROUTES = `select count(*)::integer as routes, count(*) filter (where spam = 'refuse')::integer as refusing
from inbound_routes where livemode`;

const READ = `select count(*)::integer as read, count(*) filter (where state = 'failing')::integer as failing,
  count(*) filter (where state = 'waiting' and next_at < now() - interval '2 minutes')::integer as waiting,
  coalesce((array_agg(id || ' at ' || host || ' (' || problem || ')' order by id) filter (where state = 'failing'))[1:5], '{}') as which
from mailboxes where not is_paused`;

interface MailboxCounts {
  readonly read: number;
  readonly failing: number;
  readonly waiting: number;
  /** The first five that fail, with their reasons. */
  readonly which: readonly string[];
}

/** An older schema has none. */
const NO_MAILBOXES: MailboxCounts = { read: 0, failing: 0, waiting: 0, which: [] };

/** Tells whether mailboxes are read. */
function* diagnoseMailboxes({ read, failing, waiting, which }: MailboxCounts): Generator<Diagnosis> {
  if (read === 0) return;
  if (failing > 0)
    yield warning(
      MAILBOXES,
      `${failing} of ${read} mailboxes cannot be read: ${which.join(', ')}${failing > which.length ? ', …' : '.'}`,
      'The page "Mailboxes", and GET /v1/mailboxes, say why of each.',
    );
  else if (waiting > 0)
    yield warning(
      MAILBOXES,
      `${waiting} of ${read} mailboxes wait for an instance that reads them.`,
      'Start an instance that runs duties, see ROLES.',
    );
  else yield fine(MAILBOXES, `${read} ${read === 1 ? 'mailbox is' : 'mailboxes are'} read.`);
}

/**
 * Tells whether the mail of live routes comes in: by the port of this machine, and by the spam filter that it
 * asks.
 */
export async function* diagnoseReceived(
  config: Pick<
    Config,
    'host' | 'inboundSmtpPort' | 'smtpTrustProxy' | 'spamassassinUrl' | 'rspamdUrl' | 'sesInboundTopics'
  >,
  database: Database,
): AsyncGenerator<Diagnosis> {
  // An older schema has no routes.
  const [row] = await database.query<{ routes: number; refusing: number }>(ROUTES).catch(() => []);
  const { routes, refusing } = row ?? { routes: 0, refusing: 0 };
  const { inboundSmtpPort: port, sesInboundTopics: topics } = config;
  const [mailboxes = NO_MAILBOXES] = await database.query<MailboxCounts>(READ).catch(() => []);
  yield* diagnoseMailboxes(mailboxes);
  if (topics !== null)
    yield fine(
      CHECK,
      `${topics.length} ${topics.length === 1 ? 'topic' : 'topics'} of Amazon SES; ${routes} live ${routes === 1 ? 'route' : 'routes'}.`,
      'This cannot be seen from here: each subscription needs a delivery policy and a dead-letter queue, or SNS discards mail after a minute without the database. The guide "Receive mail" has both.',
    );
  if (port === null && topics === null && mailboxes.read === 0 && routes > 0)
    yield warning(
      CHECK,
      `${routes} live ${routes === 1 ? 'route takes' : 'routes take'} no mail: INBOUND_SMTP_PORT is not set here.`,
      'Set INBOUND_SMTP_PORT on the instances that the MX records name, or SES_INBOUND_TOPICS, or add a mailbox.',
    );
  if (port !== null) {
    const host = unbracketed(loopbackOf(config.host));
    const begin = isWithinRanges(config.smtpTrustProxy)(host) ? LOCAL_HEADER : '';
    const greeting = await said({ host, port }, begin);
    yield greeting?.startsWith('220 ')
      ? fine(CHECK, `INBOUND_SMTP_PORT ${port} answers; ${routes} live ${routes === 1 ? 'route' : 'routes'}.`)
      : skipped(CHECK, `No service answers at INBOUND_SMTP_PORT ${port}.`);
  }
  yield* diagnoseFilter(config, refusing);
}

/** Tells whether the filter of received mail answers. */
async function* diagnoseFilter(
  { rspamdUrl, spamassassinUrl }: Pick<Config, 'spamassassinUrl' | 'rspamdUrl'>,
  refusing: number,
): AsyncGenerator<Diagnosis> {
  if (rspamdUrl !== null) {
    const { origin } = new URL(rspamdUrl);
    const signal = AbortSignal.timeout(PATIENCE_MS);
    const pong = await fetch(`${origin}/ping`, { redirect: 'manual', signal })
      .then(firstOf)
      .catch(() => '');
    yield pong.startsWith('pong') ? fine(FILTER, 'rspamd answers.') : silent('rspamd', 'RSPAMD_URL');
    return;
  }
  if (spamassassinUrl === null) {
    if (refusing > 0)
      yield warning(
        FILTER,
        `${refusing} live ${refusing === 1 ? 'route refuses' : 'routes refuse'} spam, and no filter is asked: all mail is taken.`,
        'Set RSPAMD_URL or SPAMASSASSIN_URL.',
      );
    return;
  }
  const pong = await said(spamdAt(spamassassinUrl), 'PING SPAMC/1.5\r\n\r\n');
  yield /^SPAMD\/[\d.]+ 0 PONG/.test(pong ?? '')
    ? fine(FILTER, 'spamd answers.')
    : silent('spamd', 'SPAMASSASSIN_URL');
}

/** The first piece of an answer, which may have no end. */
async function firstOf({ body }: Response): Promise<string> {
  for await (const piece of body ?? []) return new TextDecoder().decode(piece);
  return '';
}

const silent = (program: string, setting: string): Diagnosis =>
  wrong(
    FILTER,
    `${program} at ${setting} does not answer: mail is taken without a verdict.`,
    `Start it, or take ${setting} away.`,
  );

/** The first words of a server; null when it says nothing in time. */
function said(place: ServerPlace, words: string): Promise<string | null> {
  const { promise, resolve } = Promise.withResolvers<string | null>();
  const socket = createConnection(place);
  socket.setEncoding('utf8').setTimeout(PATIENCE_MS);
  socket.on('connect', () => words !== '' && socket.write(words));
  socket.once('data', (text: string) => resolve(text));
  socket.on('timeout', () => resolve(null));
  socket.on('error', () => resolve(null));
  socket.on('close', () => resolve(null));
  return promise.finally(() => socket.destroy());
}
