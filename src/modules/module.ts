import type { Audit } from '../audit/actors.ts';
import type { QuotaLedger } from '../audit/quotas.ts';
import type { Permission } from '../auth/permissions.ts';
import type { Sessions } from '../auth/sessions.ts';
import type { Config } from '../config/config.ts';
import type { Sealer } from '../crypto/sealer.ts';
import type { Signer } from '../crypto/signer.ts';
import type { Database } from '../db/database.ts';
import type { Duty } from '../duties/duty.ts';
import type { Engine, Registration } from '../engine/engine.ts';
import type { ChildSpec, Kind } from '../engine/kind.ts';
import type { AdmissionDeps } from '../http/admission.ts';
import type { Route } from '../http/route.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { Clock } from '../time/clock.ts';
import type { MailReader } from '../transport/reading/mail-reader.ts';
import type { Transport } from '../transport/transport.ts';
import type { Tag } from './docs/tags.ts';
import type { AttemptSchedule } from './emails/accept/attempt-schedule.ts';
import type { AcceptanceDeps } from './emails/accept.ts';
import type { RecordFeedback } from './emails/feedback/record-feedback.ts';
import type { LiveLimits } from './emails/send/limits.ts';
import type { Explain } from './inspector/actors.ts';
import type { Inspector } from './inspector/inspector.ts';
import type { LabelSql } from './inspector/labels.ts';

/** A kind of actors that lives in a module, and what else of the service is decided by it. */
export interface ModuleKind {
  readonly kind: Kind;
  /** What it takes to see its actors in the live view: what the API asks of whoever reads them there. */
  readonly permission: Permission;
  /** Its actors live as long as their owner likes, so their histories are cut. */
  readonly isLongLived?: boolean;
  /** Checks its actors in the ledger's audit; without it, what holds for every actor is checked. */
  readonly audit?: (audit: Audit, quotas: QuotaLedger) => Promise<void>;
  /** Says in words why an actor is where it is; without it the machine's own descriptions do. */
  readonly explain?: Explain;
  /** By what a list of the live view tells its actors apart; without it by their ids. */
  readonly label?: LabelSql;
}

/** What every module may be built from: the service without its modules. */
export interface ModuleParts {
  readonly config: Config;
  readonly database: Database;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly sealer: Sealer;
  readonly signer: Signer;
  readonly version: string;
  readonly metrics: Metrics | null;
  /** The certificate authorities to trust, in PEM; null for the runtime's own. */
  readonly ca: string | null;
  readonly mailReader: MailReader;
  readonly admission: Omit<AdmissionDeps, 'session'>;
  readonly authenticator: { noteUse(): Promise<void> };
  readonly sessions: Sessions;
  readonly liveMail: LiveMailOverrides;
}

/** How live mail is timed and sent, where tests are in a hurry. */
export interface LiveMailOverrides {
  readonly limits?: Partial<LiveLimits>;
  readonly schedule?: Partial<AttemptSchedule>;
  /** The default transport, instead of the one that is configured. */
  readonly transport?: Transport;
}

/** What one module does for others at run time. A module offers it when it is connected, so it stands before them in the list. */
export interface Offers {
  findSendingDomain?: AcceptanceDeps['findSendingDomain'];
  acceptance?: AcceptanceDeps;
  recordFeedback?: RecordFeedback;
  liveView?: Inspector;
}

/** What is there once the engine is. */
export interface Wiring {
  readonly engine: Engine;
  readonly offers: Offers;
  /** The documented endpoints of all modules. */
  readonly documented: readonly Route[];
  /** The kinds and the groups of the documentation of all modules. */
  readonly kinds: readonly ModuleKind[];
  readonly tags: readonly Tag[];
}

/** A module at work. */
export interface ConnectedModule<Deps> {
  /** What its endpoints are built from. */
  readonly deps: Deps;
  readonly duties?: readonly Duty[];
  /** Opens what listens besides HTTP, and says what should be known at the start. */
  start?(): Promise<void>;
  /** Ports that are open besides HTTP, by the name of the listener; null: not configured. */
  ports?(): Readonly<Record<string, number | null>>;
  close?(): Promise<void> | void;
}

/** A module that has been opened; nothing of it runs yet. */
export interface OpenModule<Deps> {
  /** Its kinds, with what performs their orders. */
  readonly registrations?: readonly Registration[];
  connect(wiring: Wiring): ConnectedModule<Deps>;
}

/** What a folder of `modules` states about itself: everything that the service, its tools and its documentation need to know. */
export interface Module<Deps = never> {
  readonly name: string;
  readonly tags?: readonly Tag[];
  readonly kinds?: readonly ModuleKind[];
  /** Actors of its kinds that are made in the commits of another kind, by that kind's name. */
  readonly children?: readonly { readonly of: string; readonly child: ChildSpec }[];
  /** Its documented endpoints. Tools list them with nothing behind: `deps` may only be touched by a handler. */
  routes?(deps: Deps): readonly Route[];
  /** Endpoints for browsers and providers, which the API reference leaves out. */
  pages?(deps: Deps): readonly Route[];
  open(parts: ModuleParts): OpenModule<Deps>;
}

/** States a module; it only keeps the types of its parts together. */
export const defineModule = <Deps>(module: Module<Deps>): Module => module as unknown as Module;

/** What a module offers, or a sentence about the order of the list. */
export function offered<Name extends keyof Offers>(offers: Offers, name: Name): NonNullable<Offers[Name]> {
  const offer = offers[name];
  if (!offer) throw new Error(`No module before this one offers ${name}: move it up in modules.ts.`);
  return offer;
}
