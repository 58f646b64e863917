import type { Audit } from '../engine/audit/actors.ts';
import type { QuotaLedger } from '../engine/audit/quotas.ts';
import type { Duty } from '../engine/duties/duty.ts';
import type { Engine } from '../engine/engine.ts';
import type { ChildSpec, FollowingWrite, Kind } from '../engine/machine/kind.ts';
import type { Scope } from '../engine/machine/result.ts';
import type { CarriedOutBy } from '../engine/machine/share.ts';
import type { SpawnRule } from '../engine/machine/storage.ts';
import type { Explain, LabelSql, OwnDefinitions } from '../engine/presentation.ts';
import type { KnownInstances } from '../engine/roster.ts';
import type { Registration } from '../engine/runtime/running-kind.ts';
import type { SenderChecks } from '../mail/authentication/sender-checks.ts';
import type { MarkdownRenderer } from '../mail/content/markdown-renderer.ts';
import type { MailReader } from '../mail/reading/mail-reader.ts';
import type { SpamFilters } from '../mail/spam/spam-filter.ts';
import type { BodyStore } from '../platform/bodies/body-store.ts';
import type { Config } from '../platform/config/config.ts';
import type { ServedKeys } from '../platform/config/served-keys.ts';
import type { Sealer } from '../platform/crypto/sealer.ts';
import type { Signer } from '../platform/crypto/signer.ts';
import type { Database } from '../platform/db/database.ts';
import type { Shards } from '../platform/db/distribution/shards.ts';
import type { Reads } from '../platform/db/reads.ts';
import type { Logger } from '../platform/telemetry/logger.ts';
import type { Metrics } from '../platform/telemetry/metrics.ts';
import type { Tracing } from '../platform/telemetry/tracing.ts';
import type { Clock } from '../platform/time/clock.ts';
import type { Permission } from './auth/permissions.ts';
import type { Sessions } from './auth/sessions/sessions.ts';
import type { AdmissionDeps } from './request/admission.ts';
import type { AnsweredRequest } from './request/pipeline.ts';
import type { Route } from './request/route.ts';

/** A group of endpoints in the documentation: those whose path has its segment after the version. */
export interface Tag {
  readonly segment: string;
  readonly name: string;
  readonly description: string;
}

/** A change that no commit of the engine tells of. */
export interface ChangeNote {
  readonly scope: Scope;
  readonly resource: string;
  /** The permission for seeing the resource; null for every member and key of the workspace. */
  readonly permission: Permission | null;
  readonly id: string | null;
}

/** A kind of actors that a module owns, with the rules about it that other parts of the service follow. */
export interface ModuleKind {
  readonly kind: Kind;
  /** The permission to see its actors in the live view: the one that the API requires to read them. */
  readonly permission: Permission;
  /** The resource that shows them, as the addresses of the API begin: its pages hear of changes. */
  readonly resource: string;
  /** The processes that carry out the orders of its actors; those with the role `engine` when absent. */
  readonly carriedOutBy?: CarriedOutBy;
  /** True for actors that never end, such as domains: their histories are cut. */
  readonly isLongLived?: boolean;
  /** Checks its actors in `posthorn audit`. Without it only the checks of every actor are made. */
  readonly audit?: (audit: Audit, quotas: QuotaLedger) => Promise<void>;
  /** Explains in words why an actor is in its state. Without it the machine's own descriptions are shown. */
  readonly explain?: Explain;
  /** The texts that tell its actors apart in a list of the live view; without it their ids do. */
  readonly label?: LabelSql;
  /** The machines of its definitions, for the live view; a kind that has definitions has this. */
  readonly definitions?: OwnDefinitions;
}

/**
 * A module's conditions and rows for inserts of another kind: in the same statement, so that neither is there
 * without the other.
 */
export interface InsertRule extends SpawnRule {
  readonly of: string;
}

/** The parts that every module may be built from: the service without its modules. */
export interface ModuleParts {
  readonly config: Config;
  readonly database: Database;
  /** For lists and figures, never for decisions: a replica may answer. */
  readonly reads: Reads;
  /** The workspaces that lie together where the tables lie on several nodes. Null on one server. */
  readonly shards: Shards | null;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly secretKeys: ServedKeys;
  readonly sealer: Sealer;
  readonly signer: Signer;
  /** The store of large contents outside the database; null where they lie in it. */
  readonly bodies: BodyStore | null;
  readonly version: string;
  readonly metrics: Metrics | null;
  /** Null where no collector is named. */
  readonly tracing: Tracing | null;
  /** The trusted certificate authorities in PEM; null for the runtime's own list. */
  readonly ca: string | null;
  readonly mailReader: MailReader;
  readonly senderChecks: SenderChecks;
  readonly spamFilter: SpamFilters['spamFilter'];
  readonly spamAssassin: SpamFilters['spamAssassin'];
  readonly markdown: MarkdownRenderer;
  readonly admission: Omit<AdmissionDeps, 'session'>;
  readonly authenticator: { noteUse(): Promise<void> };
  readonly sessions: Sessions;
}

/** The parts that exist once the engine does. */
export interface Wiring {
  readonly engine: Engine;
  /** The instances that live. */
  readonly roster: KnownInstances;
  readonly kinds: readonly ModuleKind[];
}

/** A module that is connected to the engine. */
export interface ConnectedModule<Deps, Api> {
  /** The dependencies of its endpoints. */
  readonly deps: Deps;
  /** The functions that it gives to other modules. */
  readonly api: Api;
  readonly duties?: readonly Duty[];
  /** Hears of the changes that requests to this instance make. */
  noteChange?(noted: ChangeNote): void;
  /** Hears of every answered request whose caller is known. */
  noteRequest?(answered: AnsweredRequest): void;
  /** Opens its listeners besides HTTP, and logs what an operator should know at the start. */
  start?(): Promise<void>;
  /** The ports of those listeners by name; null for one that is not configured. */
  ports?(): Readonly<Record<string, number | null>>;
  /** Answers the requests that wait for something to happen, because the service stops. */
  endWaits?(): void;
  close?(): Promise<void> | void;
}

/** A module that has been opened. Nothing of it runs yet. */
export interface OpenModule<Deps, Needs, Api> {
  /** Its kinds, with the performers of their orders. */
  readonly registrations?: readonly Registration[];
  /** `needs` are the functions of other modules; those of a module that is connected later are closures. */
  connect(wiring: Wiring, needs: Needs): ConnectedModule<Deps, Api>;
}

/**
 * The manifest of a module: everything that the service, its tools and its documentation need to know about
 * it. `Deps` are the dependencies of its endpoints, `Needs` the functions that it takes from other modules,
 * `Api` those that it gives to them.
 */
export interface Module<Deps = undefined, Needs = object, Api = undefined, Parts = ModuleParts> {
  readonly name: string;
  readonly tags?: readonly Tag[];
  readonly kinds?: readonly ModuleKind[];
  /** The children of its kinds that are created in the commits of another kind, which `of` names. */
  readonly children?: readonly { readonly of: string; readonly child: ChildSpec }[];
  /** The statements that it adds to the commits of another kind, which `of` names. */
  readonly follows?: readonly { readonly of: string; readonly write: FollowingWrite }[];
  /**
   * The conditions and the extra rows where actors of another kind, named by `of`, are created on its behalf.
   */
  readonly insertRules?: readonly InsertRule[];
  /** Checks in `posthorn audit` what it keeps beside its actors. */
  readonly audit?: (audit: Audit) => Promise<void>;
  /** Its documented endpoints. Tools list them without dependencies, so only a handler may use `deps`. */
  routes?(deps: Deps): readonly Route[];
  /** Endpoints for browsers and providers, which the API reference leaves out. */
  pages?(deps: Deps): readonly Route[];
  open(parts: Parts): OpenModule<Deps, Needs, Api>;
}
