import type { Audit } from '../audit/actors.ts';
import type { QuotaLedger } from '../audit/quotas.ts';
import type { Permission } from '../auth/permissions.ts';
import type { Sessions } from '../auth/sessions.ts';
import type { BodyLimits, BodyStore } from '../bodies/body-store.ts';
import type { Config } from '../config/config.ts';
import type { ServedKeys } from '../config/served-keys.ts';
import type { Sealer } from '../crypto/sealer.ts';
import type { Signer } from '../crypto/signer.ts';
import type { Database } from '../db/database.ts';
import type { Shards } from '../db/distribution/shards.ts';
import type { Reads } from '../db/reads.ts';
import type { Duty } from '../duties/duty.ts';
import type { Clocked } from '../engine/clocked.ts';
import type { Engine } from '../engine/engine.ts';
import type { ChildSpec, FollowingWrite, Kind } from '../engine/kind.ts';
import type { Registration } from '../engine/running-kind.ts';
import type { SpawnRule } from '../engine/spawn-conditions.ts';
import type { AdmissionDeps } from '../http/admission.ts';
import type { SocketUpgrade } from '../http/listen.ts';
import type { Route } from '../http/route.ts';
import type { MarkdownRenderer } from '../mail/content/markdown-renderer.ts';
import type { CarriedOutBy } from '../modules/share.ts';
import type { KnownInstances } from '../modules/system/commands.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { Tracing } from '../telemetry/tracing.ts';
import type { Clock } from '../time/clock.ts';
import type { MailReader } from '../transport/reading/mail-reader.ts';
import type { Transport } from '../transport/transport.ts';
import type { AudienceUse } from './audiences/commands.ts';
import type { CertificateKeeper } from './certificates/keeper.ts';
import type { Noted } from './changes/change-feed.ts';
import type { Tag } from './docs/tags.ts';
import type { AttemptSchedule } from './emails/accept/attempt-schedule.ts';
import type { AcceptanceDeps } from './emails/accept.ts';
import type { CampaignMail } from './emails/campaign-mail.ts';
import type { TestClocks } from './emails/clocked/clock-of-email.ts';
import type { RecordFeedback } from './emails/feedback/record-feedback.ts';
import type { RoomForBulk } from './emails/send/bulk-room.ts';
import type { DirectMail } from './emails/send/direct-mail.ts';
import type { LiveLimits } from './emails/send/limits.ts';
import type { Explain } from './inspector/actors.ts';
import type { Inspector } from './inspector/inspector.ts';
import type { LabelSql } from './inspector/labels.ts';
import type { OwnDefinitions } from './inspector/machines.ts';
import type { SendServiceEmail, Warning } from './service-emails/commands.ts';
import type { TemplateUse } from './templates/commands.ts';
import type { TemplateContents } from './templates/contents.ts';
import type { FillTemplate } from './templates/fill.ts';
import type { IsMember } from './templates/test-send.ts';
import type { WebhookPosting } from './webhooks/commands.ts';

/** A kind of actors that a module owns, with the rules about it that other parts of the service follow. */
export interface ModuleKind {
  readonly kind: Kind;
  /** The permission to see its actors in the live view: the one that the API requires to read them. */
  readonly permission: Permission;
  /** The resource that shows them, as the addresses of the API begin: the pages of it are told when one has changed. */
  readonly resource: string;
  /** Who carries out the orders of its actors; the engine when absent. */
  readonly carriedOutBy?: CarriedOutBy;
  /** True for actors that have no end of their own, such as domains: their histories are cut. */
  readonly isLongLived?: boolean;
  /** Checks its actors in `posthorn audit`. Without it only the checks of every actor are made. */
  readonly audit?: (audit: Audit, quotas: QuotaLedger) => Promise<void>;
  /** Explains in words why an actor is in its state. Without it the machine's own descriptions are shown. */
  readonly explain?: Explain;
  /** By what a list of the live view tells its actors apart; without it by their ids. */
  readonly label?: LabelSql;
  /** The machines of its definitions, for the live view; a kind that has definitions has this. */
  readonly definitions?: OwnDefinitions;
}

/** A module's part in the births of another kind: in the same statement, so that neither is there without the other. */
export interface BirthRule extends SpawnRule {
  readonly of: string;
}

/** The parts that every module may be built from: the service without its modules. */
export interface ModuleParts {
  readonly config: Config;
  readonly database: Database;
  /** For what is shown, and never for what is decided: a replica may answer. */
  readonly reads: Reads;
  /** Where the tables lie on several nodes: which workspaces lie together. Null on one server. */
  readonly shards: Shards | null;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly secretKeys: ServedKeys;
  readonly sealer: Sealer;
  readonly signer: Signer;
  /** Where large contents lie outside the database; null where they lie in it. */
  readonly bodies: BodyStore | null;
  readonly version: string;
  readonly metrics: Metrics | null;
  /** Null where no collector is named. */
  readonly tracing: Tracing | null;
  /** The trusted certificate authorities in PEM; null for the runtime's own list. */
  readonly ca: string | null;
  readonly mailReader: MailReader;
  readonly markdown: MarkdownRenderer;
  readonly admission: Omit<AdmissionDeps, 'session'>;
  readonly authenticator: { noteUse(): Promise<void> };
  readonly sessions: Sessions;
  readonly liveMail: LiveMailOverrides;
}

/** Shorter times and another transport for live mail (tests). */
export interface LiveMailOverrides {
  readonly limits?: Partial<LiveLimits>;
  readonly schedule?: Partial<AttemptSchedule>;
  /** Replaces the configured default transport. */
  readonly transport?: Transport;
  readonly bodies?: Partial<BodyLimits>;
}

/** The functions that modules offer each other at run time. A module adds its own when it is connected, so it stands before its users in the list. */
export interface Offers {
  findSendingDomain?: AcceptanceDeps['findSendingDomain'];
  acceptance?: AcceptanceDeps;
  /** What lives by test clocks: emails, what contacts do and the runs that it begins, deliveries of events. */
  clockedEmails?: Clocked;
  clockedActivity?: Clocked;
  clockedDates?: Clocked;
  clockedRuns?: Clocked;
  clockedDeliveries?: Clocked;
  /** The clocks that test mail may live by. */
  testClocks?: TestClocks;
  /** How many emails of campaigns may be given out now. */
  bulkRoom?: RoomForBulk;
  /** About how many recipients of a campaign from that domain have room in its warm-up on this day; null without a limit. @throws Unavailable */
  warmUpRoom?: (domainId: string) => Promise<number | null>;
  /** Has live emails of a domain that wait for its warm-up ask again now. @throws Unavailable */
  releaseWaiting?: (domain: { readonly id: string; readonly workspaceId: string }) => Promise<void>;
  fillTemplate?: FillTemplate;
  templateContents?: TemplateContents;
  /** What emails of campaigns are made of, and whether they may leave. Without it there are none. */
  campaignMail?: CampaignMail;
  /** True when an address (its key) is that of a member. Without it nobody is one. */
  isMember?: IsMember;
  recordFeedback?: RecordFeedback;
  /** How requests are posted to receivers: with the guards, the limits and the signature of webhooks. */
  posting?: WebhookPosting;
  /** Ends what a workspace pays for. @throws Unavailable */
  endSubscriptions?: (workspaceId: string) => Promise<void>;
  /** Sends a message that is no email of a workspace. */
  directMail?: DirectMail;
  /** Sends an email of the service itself, such as a warning; settles once that is durable. */
  sendServiceEmail?: SendServiceEmail;
  /** Answers a request as one that came in from an address: through every check. */
  ask?: (request: Request, client: string) => Promise<Response>;
  /** Is called when live mail of a workspace was captured. */
  mailCaptured?: (workspaceId: string) => void;
  liveView?: Inspector;
  /** The certificate of HTTPS_PORT. Without it there is none. */
  certificates?: CertificateKeeper;
  /** Tells load balancers that this instance is about to stop. */
  drain?: () => void;
  /** The connection that tells pages what has changed, and how to note what no commit of the engine tells. */
  changes?: { readonly sockets: SocketUpgrade; note(noted: Noted): void };
}

/** The parts that exist once the engine does. */
export interface Wiring {
  readonly engine: Engine;
  /** Which instances live. */
  readonly roster: KnownInstances;
  readonly offers: Offers;
  /** The documented endpoints of the modules that were connected before this one. */
  readonly documented: readonly Route[];
  /** The kinds of all modules, and the groups of the documentation. */
  readonly kinds: readonly ModuleKind[];
  readonly tags: readonly Tag[];
  /** Everything that uses templates, of all modules. */
  readonly templateUses: readonly TemplateUse[];
  /** Everything that admins are warned of, of all modules. */
  readonly warnings: readonly Warning[];
  /** Everything that needs audiences, of all modules. */
  readonly audienceUses: readonly AudienceUse[];
}

/** A module that is connected to the engine. */
export interface ConnectedModule<Deps> {
  /** The dependencies of its endpoints. */
  readonly deps: Deps;
  readonly duties?: readonly Duty[];
  /** Hears what requests to this instance have changed. */
  noteChange?(noted: Noted): void;
  /** Opens its listeners besides HTTP, and logs what an operator should know at the start. */
  start?(): Promise<void>;
  /** The ports of those listeners by name; null for one that is not configured. */
  ports?(): Readonly<Record<string, number | null>>;
  /** Answers the requests that wait for something to happen, because the service stops. */
  endWaits?(): void;
  close?(): Promise<void> | void;
}

/** A module that has been opened. Nothing of it runs yet. */
export interface OpenModule<Deps> {
  /** Its kinds, with the performers of their orders. */
  readonly registrations?: readonly Registration[];
  connect(wiring: Wiring): ConnectedModule<Deps>;
}

/** The manifest of a module: everything that the service, its tools and its documentation need to know about it. */
export interface Module<Deps = never> {
  readonly name: string;
  readonly tags?: readonly Tag[];
  readonly kinds?: readonly ModuleKind[];
  /** The children of its kinds that are created in the commits of another kind, which `of` names. */
  readonly children?: readonly { readonly of: string; readonly child: ChildSpec }[];
  /** The statements that it adds to the commits of another kind, which `of` names. */
  readonly follows?: readonly { readonly of: string; readonly write: FollowingWrite }[];
  /** What it demands and writes where actors of another kind, which `of` names, are made on its behalf. */
  readonly births?: readonly BirthRule[];
  /** Its things that use templates: a template that one of them uses cannot be deleted. */
  readonly templateUses?: readonly TemplateUse[];
  /** What its actors do that the admins of their workspace are warned of by an email. */
  readonly warnings?: readonly Warning[];
  /** Its things that need audiences: one that they need cannot be deleted. */
  readonly audienceUses?: readonly AudienceUse[];
  /** Checks in `posthorn audit` what it keeps beside its actors. */
  readonly audit?: (audit: Audit) => Promise<void>;
  /** Its documented endpoints. Tools list them without dependencies, so only a handler may use `deps`. */
  routes?(deps: Deps): readonly Route[];
  /** Endpoints for browsers and providers, which the API reference leaves out. */
  pages?(deps: Deps): readonly Route[];
  open(parts: ModuleParts): OpenModule<Deps>;
}

/** States a module. Its only work is to check that `routes` takes the dependencies that `connect` returns. */
export const defineModule = <Deps>(module: Module<Deps>): Module => module as unknown as Module;

/** The function that a module before this one has offered. @throws when the order of the list is wrong */
export function offered<Name extends keyof Offers>(offers: Offers, name: Name): NonNullable<Offers[Name]> {
  const offer = offers[name];
  if (!offer) throw new Error(`No module before this one offers ${name}: move it up in modules.ts.`);
  return offer;
}
