import { hostname } from 'node:os';
import type { Module, ModuleParts } from '../../http/module.ts';
import { textFromHtml } from '../../mail/content/text-part.ts';
import { MailRoom } from '../../mail/submission/mail-room.ts';
import { LIMIT_NAMES } from '../../mail/transport/limits/learned.ts';
import type { Transport } from '../../mail/transport/transport.ts';
import { CIRCUIT_STATES } from '../../platform/async/circuit.ts';
import { later } from '../../platform/async/later.ts';
import type { BodyLimits } from '../../platform/bodies/body-store.ts';
import { captureStore } from '../captured/commands.ts';
import type { AttemptSchedule } from './accept/attempt-schedule.ts';
import { LIVE_SCHEDULE } from './accept/attempt-schedule.ts';
import type { BatchDeps } from './accept/batch.ts';
import { batchRoutes } from './accept/batch-routes.ts';
import { messageIdInsertRule } from './accept/message-id-insert-rule.ts';
import { sentIdInsertRule } from './accept/sent-message-ids.ts';
import type { AcceptanceDeps } from './accept.ts';
import type { EmailsApi } from './api.ts';
import { auditEmails } from './audit/audit-emails.ts';
import { bodyInsertRule } from './bodies/insert-rule.ts';
import { bulkRoomOf } from './bulk/bulk-room.ts';
import type { CampaignMail } from './campaign-mail.ts';
import { clockedEmails } from './clocked/clocked-emails.ts';
import { explainEmail } from './explain/explanation-text.ts';
import { feedbackRecorder } from './feedback/record-feedback.ts';
import { emailKind, emails } from './kind.ts';
import type { EmailLister } from './queries.ts';
import { type RawDeps, rawEmailRoutes } from './raw/raw-routes.ts';
import { reportInsertRule, reportSender } from './reports/reporter.ts';
import { liveDataPruner } from './retention/live-data-pruner.ts';
import { messageIdPruner } from './retention/message-id-pruner.ts';
import { testDataPruner } from './retention/test-data-pruner.ts';
import { emailFrames, emailRoutes, type WaitingRoomDeps } from './routes.ts';
import { type LiveMailParts, openLiveMail } from './send/open.ts';
import { emailPerformer } from './send/perform.ts';
import type { Destination } from './send/return-token.ts';
import { traced } from './send/traced.ts';
import { directMail } from './transports/direct-mail.ts';
import { LimitKeeper } from './transports/learned-limits.ts';
import type { LiveLimits } from './transports/limits.ts';
import { cachedSenders } from './transports/senders.ts';
import { openTransports } from './transports/transports.ts';
import { emailWaitingRoom } from './wait/wait-for-email.ts';
import { waitingReleaser } from './warm-up/release.ts';

/** Shorter times and another transport for live mail (tests). */
export interface LiveMailOverrides {
  readonly limits?: Partial<LiveLimits>;
  readonly schedule?: Partial<AttemptSchedule>;
  /** Replaces the configured default transport. */
  readonly transport?: Transport;
  readonly bodies?: Partial<BodyLimits>;
}

interface EmailParts extends ModuleParts {
  readonly liveMail: LiveMailOverrides;
}

/** The functions of other modules that emails need. */
interface EmailNeeds
  extends Pick<AcceptanceDeps, 'findSendingDomain' | 'findReplyDomain' | 'fillTemplate' | 'testClocks'> {
  /** The content of campaigns' emails; undefined before campaigns are connected. */
  campaigns(): CampaignMail | undefined;
  readonly mayForward: LiveMailParts['mayForward'];
  /** Is called when live mail of a workspace was captured. */
  mailCaptured(workspaceId: string): void;
  /** Unsubscribes the recipient of a copy. @throws UnavailableError */
  leaveByMail(copy: Destination): Promise<boolean>;
}

/**
 * An address to unsubscribe has to work for thirty days (15 U.S.C. 7704 (a)(3)(A)(ii)), and it works as long
 * as its email is kept.
 */
const LEAVE_DAYS = 30;

/** Emails: accepted, sent or simulated, followed and kept. */
export const emailsModule: Module<
  BatchDeps & EmailLister & WaitingRoomDeps & RawDeps,
  EmailNeeds,
  EmailsApi,
  EmailParts
> = {
  name: 'emails',
  tags: [
    { segment: 'emails', name: 'Emails', description: 'Send, schedule and follow transactional email.' },
  ],
  kinds: [
    {
      kind: emailKind,
      permission: 'emails:read',
      resource: 'emails',
      audit: auditEmails,
      explain: explainEmail,
      // The part of the address that names a person is left out; the part that the simulator reads stays.
      label: {
        title: `substring(a.recipients[1] from '[^@]*$')`,
        facts: `array[
          case when cardinality(a.recipients) > 1 then cardinality(a.recipients) || ' recipients' end,
          'simulates ' || nullif(a.context #>> '{recipients,0,simulate}', a.last_event),
          'last event ' || a.last_event,
          'failure reason ' || a.failure_reason
        ]`,
      },
    },
  ],
  insertRules: [bodyInsertRule, messageIdInsertRule, sentIdInsertRule, reportInsertRule],
  routes: (deps) => [...emailRoutes(deps), ...batchRoutes(deps), ...rawEmailRoutes(deps)],
  pages: emailFrames,
  open(parts) {
    const {
      config,
      database,
      reads,
      clock,
      logger,
      sealer,
      signer,
      ca,
      liveMail,
      markdown,
      tracing,
      metrics,
      bodies,
      shards,
      mailReader,
    } = parts;
    const { needed, provide } = later<EmailNeeds>();
    const keep = captureStore(database, clock, (workspaceId) => needed().mailCaptured(workspaceId));
    const transports = openTransports({ config, clock, hostName: hostname(), ca, keep });
    metrics?.watch(
      'posthorn_relay_state',
      'The relays of SMTP_URL and SMTP_FALLBACK_URL where both are set: 0 in use, 1 being tried by an email, 2 left alone after failures, 3 rested, so that the next email tries it.',
      ['relay'],
      () =>
        transports.relayStates().map(({ relay, state }) => ({
          labels: { relay },
          value: CIRCUIT_STATES.indexOf(state),
        })),
    );
    const limits = new LimitKeeper({ database, clock, logger, book: transports.book });
    metrics?.watch(
      'posthorn_relay_limit',
      'Limits that relays have shown, as this process knows them: connections at once and mails a minute of all processes, mails a session, recipients and octets of a mail. A relay without a limit is absent.',
      ['relay', 'limit'],
      () =>
        transports.book.entries.flatMap(({ transport, server, limits }) =>
          transport === 'smtp'
            ? Object.entries(limits).map(([limit, { value }]) => ({
                labels: { relay: server, limit },
                value,
              }))
            : [],
        ),
    );
    metrics?.watch(
      'posthorn_limited_receivers',
      'Receiving servers of direct delivery that have shown a limit, as this process knows them.',
      ['limit'],
      () => {
        const receivers = transports.book.entries.filter(({ transport }) => transport === 'direct');
        return LIMIT_NAMES.map((limit) => ({
          labels: { limit },
          value: receivers.filter(({ limits }) => limits[limit] !== undefined).length,
        }));
      },
    );
    const transport = (name: Transport['name'] | null): Transport =>
      (name === null && liveMail.transport) || transports.transport(name);
    const { transport: enabled, returnPathDomain } = config;
    const receives = config.inboundSmtpPort !== null && config.retentionLiveDays >= LEAVE_DAYS;
    const live = openLiveMail({
      database,
      clock,
      logger,
      sealer,
      signer,
      transport,
      enabled,
      returnPathDomain,
      receives,
      bodies,
      publicUrl: config.publicUrl,
      slots: config.sendingSlots,
      limits: liveMail.limits ?? {},
      isOnNodes: shards !== null,
      campaigns: () => needed().campaigns(),
      mayForward: (owner, address) => needed().mayForward(owner, address),
    });
    metrics?.watch(
      'posthorn_transport_state',
      'Transports that others follow in the order of a domain, once mail has left by such an order: 0 in use, 1 being tried by an email, 2 left alone after failures, 3 rested, so that the next email tries it.',
      ['transport'],
      () =>
        live.transportStates.map(({ transport, state }) => ({
          labels: { transport },
          value: CIRCUIT_STATES.indexOf(state),
        })),
    );
    if (bodies)
      metrics?.watch(
        'posthorn_body_store_state',
        'BODY_STORE: 0 in use, 1 being tried by a body, 2 left alone after failures, 3 rested, so that the next body tries it.',
        [],
        () => [{ labels: {}, value: CIRCUIT_STATES.indexOf(bodies.state) }],
      );
    metrics?.watch(
      'posthorn_warm_ups_used_up',
      'Warm-ups of domains whose allowance of the present day is used up, as far as this process has asked.',
      [],
      () => [{ labels: {}, value: live.warmUpsUsedUp }],
    );
    return {
      registrations: [emails(traced(emailPerformer(clock, live), tracing, clock))],
      connect({ engine, roster }, needs) {
        provide(needs);
        roster.watch(() => {
          transports.keepTo(roster.partOf('delivery'));
          // An instance that is alone has none to learn from.
          if (roster.instances.length > 1) void limits.load();
        });
        engine.listen(({ name }) => {
          if (name === 'domain') live.domainsChanged();
        });
        const { simulatorDomain, testSendsPerDay } = config;
        const acceptance = {
          engine,
          database,
          simulatorDomain,
          testSendsPerDay,
          tracing,
          bodies,
          testClocks: needs.testClocks,
          liveSchedule: {
            ...LIVE_SCHEDULE,
            holdsDoubt: config.unknownOutcome === 'hold',
            ...liveMail.schedule,
          },
          signer,
          findSendingDomain: needs.findSendingDomain,
          findReplyDomain: needs.findReplyDomain,
          renderMarkdown: markdown.render,
          fillTemplate: needs.fillTemplate,
        };
        const mailRoom = new MailRoom();
        const count = (kind: string): void => metrics?.report(kind);
        const api: EmailsApi = {
          acceptance,
          mailRoom,
          clockedEmails: clockedEmails({ database, engine }),
          bulkRoom: bulkRoomOf({
            database,
            clock,
            own: () => live.bulkRoom,
            others: () => roster.partOf('delivery').of - 1,
          }),
          warmUpRoom: (domainId) => live.warmUpRoom(domainId),
          releaseWaiting: waitingReleaser(database, clock, logger, () => roster.news.tell('work')),
          directMail: directMail({
            database,
            transport,
            operator: config.serviceFrom,
            findSendingDomain: needs.findSendingDomain,
            senders: cachedSenders({
              database,
              sealer,
              logger,
              enabled,
              returnPathDomain,
              receives,
              monotonic: clock.monotonic,
            }),
          }),
          recordFeedback: feedbackRecorder({
            database,
            engine,
            signer,
            clock,
            count,
            leaveByMail: needs.leaveByMail,
          }),
        };
        const waiting = emailWaitingRoom({ database, engine, now: () => clock.now() });
        return {
          api,
          start: () => limits.start(),
          endWaits: () => waiting.close(),
          async close() {
            await live.close();
            await limits.stop();
          },
          deps: {
            waiting,
            ...acceptance,
            reads,
            textFromHtml,
            baseUrl: config.publicUrl,
            log: logger,
            isOnNodes: shards !== null,
            campaigns: needs.campaigns,
            mailReader,
            mailRoom,
            leftMessage: live.leftMessage,
            serverName: config.ehloName ?? hostname(),
          },
          duties: [
            testDataPruner({ database, clock, config }),
            messageIdPruner({ database, clock }),
            reportSender({
              database,
              clock,
              logger,
              transport,
              ...live.writing,
              findSendingDomain: needs.findSendingDomain,
              hostName: config.ehloName ?? hostname(),
            }),
            liveDataPruner({ database, clock, config, isDistributed: shards !== null }),
          ],
        };
      },
    };
  },
};
