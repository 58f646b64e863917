/** The kinds of emails that the service itself sends. A workspace can do without each; that of a new password is no workspace's. */
export const MUTABLE_EMAILS = ['invitation', 'domainLost', 'webhookDisabled', 'campaignPaused'] as const;

/** One that a workspace can do without. */
export type MutableEmail = (typeof MUTABLE_EMAILS)[number];

/** What an email of the service is about. Links hold for as long as their emails are tried. */
export type ServiceEmail =
  | {
      readonly kind: 'invitation';
      readonly to: string;
      readonly workspaceId: string;
      readonly role: string;
      readonly url: string;
      /** Epoch milliseconds. */
      readonly expiresAt: number;
    }
  | {
      readonly kind: 'passwordReset';
      readonly to: string;
      /** Whose sender it may leave from; null where the person is in none. */
      readonly workspaceId: string | null;
      readonly url: string;
      readonly expiresAt: number;
    }
  | { readonly kind: 'domainLost'; readonly workspaceId: string; readonly domain: string }
  | {
      readonly kind: 'webhookDisabled';
      readonly workspaceId: string;
      readonly url: string;
      readonly failures: number;
    }
  | {
      readonly kind: 'campaignPaused';
      readonly workspaceId: string;
      readonly campaign: string;
      /** As `pausedReason` of the campaign has it. */
      readonly reason: string;
      /** Recipients that it has not reached. */
      readonly remaining: number;
    };

/** Sends an email of the service. It is durable when this resolves; warnings go to every owner and admin of the workspace. @throws Unavailable */
export type SendServiceEmail = (email: ServiceEmail) => Promise<void>;
