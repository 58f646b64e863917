import type { PausedReason } from '../../machines/campaign/context.ts';
import type { Role } from '../http/auth/roles.ts';
import type { Database } from '../platform/db/database.ts';

/**
 * The kinds of emails that the service itself sends. A workspace can turn each off; those about a person's
 * own sign-in belong to no workspace.
 */
export const MUTABLE_EMAILS = ['invitation', 'domainLost', 'webhookDisabled', 'campaignPaused'] as const;

/** A kind that a workspace can turn off. */
export type MutableEmail = (typeof MUTABLE_EMAILS)[number];

/** A change of a person's sign-in methods, or an attempt with one of them. */
export type SignInChange =
  | 'passwordChanged'
  | 'passwordReset'
  | 'authenticatorAdded'
  | 'authenticatorRemoved'
  | 'passkeyAdded'
  | 'passkeyRemoved'
  | 'codeRepeated';

/** The results of attempts to post to an endpoint that are the same. */
export interface WebhookAnswer {
  /** 0 when there was no answer. */
  readonly httpStatus: number;
  /** The code of an attempt without a complete answer; null for a complete one. */
  readonly error: string | null;
  readonly count: number;
}

/** The subject of an email of the service. Links are valid while their emails are tried. */
export type ServiceEmail =
  | {
      readonly kind: 'invitation';
      readonly to: string;
      readonly workspaceId: string;
      readonly role: Role;
      readonly url: string;
      /** Epoch milliseconds. */
      readonly expiresAt: number;
      /** The language that the inviter has chosen; null leaves it to the workspace. */
      readonly language: string | null;
    }
  | {
      readonly kind: 'passwordReset';
      readonly to: string;
      /** The workspace whose sender may be used; null for a person without one. */
      readonly workspaceId: string | null;
      readonly url: string;
      readonly expiresAt: number;
    }
  | {
      readonly kind: 'signInChanged';
      /** The person whose sign-in it is. */
      readonly to: string;
      readonly workspaceId: string | null;
      readonly change: SignInChange;
      /** Epoch milliseconds. */
      readonly changedAt: number;
    }
  | { readonly kind: 'domainLost'; readonly workspaceId: string; readonly domain: string }
  | {
      readonly kind: 'webhookDisabled';
      readonly workspaceId: string;
      readonly webhookId: string;
      readonly livemode: boolean;
      readonly url: string;
      readonly failures: number;
      /**
       * The last results; empty where they were not stored. A text in emails that an earlier version has
       * stored.
       */
      readonly answers: string | readonly WebhookAnswer[];
      readonly disabledAt: number;
    }
  | {
      readonly kind: 'campaignPaused';
      readonly workspaceId: string;
      readonly campaign: string;
      readonly reason: Exclude<PausedReason, 'manual'>;
      /** Recipients that it has not reached. */
      readonly remaining: number;
    };

/**
 * Sends an email of the service. It is durable when this resolves; warnings go to every owner and admin of
 * the workspace. @throws UnavailableError
 */
export type SendServiceEmail = (email: ServiceEmail) => Promise<void>;

/** An actor whose admins must be warned. */
export interface WarningSubject {
  readonly id: string;
  readonly workspaceId: string;
  /** The time of the commit that causes the warning. */
  readonly revision: number;
}

/** A change of an actor that causes a warning of its workspace. */
export interface Warning {
  readonly kind: { readonly name: string; readonly table: string; readonly journal: string };
  /** The actor came from one of these states into this one, and is still in it. */
  readonly from: readonly string[];
  readonly to: string;
  /** A further condition, as SQL over the actor `a`. */
  readonly where?: string;
  /** The email; null for an actor that was just removed. @throws UnavailableError */
  readonly email: (database: Database, warned: WarningSubject) => Promise<ServiceEmail | null>;
}
