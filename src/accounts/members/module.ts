import { untilDone } from '../../engine/duties/batches.ts';
import type { Duty, DutyDeps } from '../../engine/duties/duty.ts';
import { Passwords } from '../../http/auth/passwords/passwords.ts';
import { SlowDown } from '../../http/auth/passwords/slow-down.ts';
import { demandsTwoFactor } from '../../http/auth/roles.ts';
import type { Module } from '../../http/module.ts';
import { hasSmtpCertificate } from '../../platform/config/config.ts';
import { revokeKeysOf as revoke } from '../api-keys/commands.ts';
import type { SendServiceEmail } from '../service-emails.ts';
import {
  createWithin,
  createWorkspace,
  deleteUnusedWorkspace,
  renameWorkspace,
} from '../workspace/commands.ts';
import type { MembersApi } from './api.ts';
import { draftPruner, type EditorDraftDeps, editorDraftRoutes } from './editor-drafts.ts';
import type { InvitationDeps } from './invitations.ts';
import { memberRoutes } from './member-routes.ts';
import { isMember, type RemovalDeps } from './members.ts';
import { savedViewRoutes } from './saved-views.ts';
import { selectedExportRoutes } from './selected-exports.ts';
import { accountRoutes } from './sign-in/account-routes.ts';
import { entryRoutes } from './sign-in/entry-routes.ts';
import { Passkeys } from './sign-in/passkeys.ts';
import { resetMailer, resetTokensOf } from './sign-in/reset.ts';
import { sessionRoutes } from './sign-in/session-routes.ts';
import { setupTokensOf } from './sign-in/setup.ts';
import { type WorkspaceRouteDeps, workspaceRoutes } from './workspace-routes.ts';

const BATCH = 5_000;
const PRUNE = `delete from browser_sessions where id in (
  select id from browser_sessions where expires_at < $1::text::timestamptz
  order by expires_at limit ${BATCH} for update skip locked
) returning 1 as one`;

/** Removes sessions that have ended. */
const sessionPruner = ({ database, clock }: DutyDeps): Duty => ({
  name: 'sessionPruner',
  pattern: '45 */10 * * * *',
  goesByAge: true,
  async run(stop) {
    await untilDone(database, PRUNE, [new Date(clock.now()).toISOString()], BATCH, stop);
  },
});

/** The functions of other modules that members need. */
interface MemberNeeds {
  readonly sendServiceEmail: SendServiceEmail;
}

/** Members, invitations, sign-in, and the workspaces of a person. */
export const membersModule: Module<
  WorkspaceRouteDeps & InvitationDeps & RemovalDeps & EditorDraftDeps,
  MemberNeeds,
  MembersApi
> = {
  name: 'members',
  tags: [
    { segment: 'members', name: 'Members', description: 'The people of the workspace and their roles.' },
  ],
  routes: memberRoutes,
  pages: (deps) => [
    ...sessionRoutes(deps),
    ...accountRoutes(deps),
    ...entryRoutes(deps),
    ...workspaceRoutes(deps),
    ...savedViewRoutes(deps),
    ...editorDraftRoutes(deps),
    ...selectedExportRoutes(),
  ],
  open({ config, database, clock, logger, sealer, sessions }) {
    const { publicUrl, signup, simulatorDomain, defaultPlan: plan, requireTwoFactor } = config;
    const { transport: transports, stripeSecretKey } = config;
    const now = () => clock.now();
    let mail: SendServiceEmail | undefined;
    const send: SendServiceEmail = async (email) => mail?.(email);
    const resetTokens = resetTokensOf(database, now);
    const deps: WorkspaceRouteDeps & InvitationDeps & EditorDraftDeps = {
      database,
      sealer,
      sessions,
      publicUrl,
      signup,
      simulatorDomain,
      log: logger,
      transports,
      takesPayments: stripeSecretKey !== null,
      receiving: {
        port: config.inboundSmtpPort !== null,
        tls: hasSmtpCertificate(config),
        sesUrl: config.sesInboundTopics === null ? null : `${publicUrl}/callbacks/ses/inbound`,
      },
      passwords: new Passwords(),
      slowDown: new SlowDown(clock.monotonic),
      mail: send,
      mailResetLink: resetMailer({ database, resetTokens, publicUrl, mail: send }),
      passkeys: new Passkeys({ database, now, publicUrl }),
      setupTokens: setupTokensOf(database, now),
      resetTokens,
      createWorkspace: (name, at) => createWorkspace(database, { name, plan, owner: null }, at),
      createOwnWorkspace: (name, owner, most, at) => createWithin(database, { name, plan, owner, most }, at),
      renameWorkspace,
      ownersNeedTwoFactor: demandsTwoFactor(requireTwoFactor, 'owner'),
      deleteUnusedWorkspace: (id) => deleteUnusedWorkspace(database, id),
    };
    return {
      connect({ engine }, { sendServiceEmail }) {
        mail = sendServiceEmail;
        const revokeKeysOf: RemovalDeps['revokeKeysOf'] = (call, memberId) =>
          revoke({ database, sealer, engine }, call, memberId);
        return {
          api: { isMember: (workspaceId, addressKey) => isMember(database, workspaceId, addressKey) },
          deps: { ...deps, revokeKeysOf },
          duties: [sessionPruner({ database, clock }), draftPruner({ database, clock })],
        };
      },
    };
  },
};
