import type { RegistrationResponseJSON } from '@simplewebauthn/server';
import { Type } from '@sinclair/typebox';
import { and, desc, eq } from 'drizzle-orm';
import { problemOfPassword } from '../../../http/auth/passwords/passwords.ts';
import { type Call, DASHBOARD_API, type Route, route } from '../../../http/request/route.ts';
import { PREPARED } from '../../../platform/db/database.ts';
import { timeOfId } from '../../../platform/db/ids.ts';
import { browserSessions } from '../../../platform/db/schema/accounts.ts';
import { Failure, invalidAt, notFound } from '../../../platform/errors/failure.ts';
import type { SignInChange } from '../../service-emails.ts';
import { type Account, endSessions, setPassword } from '../accounts.ts';
import { changeOwnLanguage } from '../members.ts';
import { Code, Password, PatchAccount, PersonName } from '../model.ts';
import { tellOfChange } from './notice.ts';
import { beginTotp, confirmTotp, removeTotp } from './second-factor.ts';
import {
  AnyPasskeyAnswer,
  accountOf,
  FORM_LIMIT,
  memberOf,
  OF_MEMBER,
  of,
  type SessionRouteDeps,
} from './session-routes.ts';
import { confirmPassword, WRONG_PASSWORD } from './sign-in.ts';

const path = `${DASHBOARD_API}/account`;
const FORM = { ...OF_MEMBER, bodyLimit: FORM_LIMIT } as const;

/** The changes of a person's own sign-in: authenticator, passkeys, sessions and password. */
export const accountRoutes = (deps: SessionRouteDeps): readonly Route[] => [
  ...secondFactorRoutes(deps),
  ...ownSessionRoutes(deps),
  route(`PATCH ${path}`, {
    ...FORM,
    summary: 'Choose the language of emails, in all workspaces',
    body: PatchAccount,
    audit: { action: 'account.changed', details: ({ body }) => ({ ...(body as object) }) },
    handle: ({ caller, body }) => changeOwnLanguage(deps.database, memberOf(caller).accountId, body.language),
  }),
  route(`PUT ${path}/password`, {
    ...FORM,
    summary: 'Change the password, and end all other sessions',
    body: Type.Object({ current: Password, new: Password }),
    audit: { action: 'account.passwordChanged' },
    handle: async ({ caller, body, now, requestId }) => {
      const account = await accountOf(deps.database, caller);
      const problem = problemOfPassword(body.new, [account.email, account.name]);
      if (problem !== null) return invalidAt('/body/new', problem);
      const refusal = await confirmPassword(deps, account, body.current);
      if (refusal) return refusal;
      const hash = await deps.passwords.hash(body.new);
      // Of several changes at the same time, one wins: the password sent with the others is no longer the
      // current one.
      if (!(await setPassword(deps.database, account, hash, memberOf(caller).sessionId)))
        return WRONG_PASSWORD;
      deps.sessions.ends.tell({ accountId: account.id, except: memberOf(caller).sessionId });
      await tellOfChange(deps, account, 'passwordChanged', { now, requestId });
      return null;
    },
  }),
];

/** Changes the caller's account, and notifies the person when the change was made. */
async function toldOf<Done>(
  deps: SessionRouteDeps,
  { caller, now, requestId }: Pick<Call, 'caller' | 'now' | 'requestId'>,
  change: SignInChange,
  make: (account: Account) => Promise<Done>,
): Promise<Done> {
  const account = await accountOf(deps.database, caller);
  const done = await make(account);
  // Without an authenticator, there was none to remove.
  const isChanged = change !== 'authenticatorRemoved' || account.totp !== null;
  if (isChanged && !(done instanceof Failure)) await tellOfChange(deps, account, change, { now, requestId });
  return done;
}

const secondFactorRoutes = (deps: SessionRouteDeps): readonly Route[] => [
  route(`POST ${path}/totp`, {
    ...FORM,
    summary: 'Start setting up an authenticator',
    response: of<object>(),
    handle: async ({ caller }) => beginTotp(deps, await accountOf(deps.database, caller)),
  }),
  route(`POST ${path}/totp/confirm`, {
    ...FORM,
    summary: 'Confirm the authenticator with its first code',
    body: Type.Object({ code: Code }),
    response: of<object>(),
    audit: { action: 'account.totpAdded' },
    handle: (call) =>
      toldOf(deps, call, 'authenticatorAdded', (account) =>
        confirmTotp(deps, account, call.body.code, call.now),
      ),
  }),
  route(`DELETE ${path}/totp`, {
    ...FORM,
    summary: 'Remove the authenticator, with one of its codes',
    body: Type.Object({ code: Code }),
    audit: { action: 'account.totpRemoved' },
    handle: (call) =>
      toldOf(deps, call, 'authenticatorRemoved', (account) =>
        removeTotp(deps, account, call.body.code, call),
      ),
  }),
  route(`POST ${path}/passkeys/options`, {
    ...FORM,
    summary: 'Get the challenge for creating a passkey, with the password',
    // A passkey opens the account by itself, so a session that was left open must not be enough to add one.
    body: Type.Object({ password: Password }),
    response: of<object>(),
    handle: async ({ caller, body }) => {
      const account = await accountOf(deps.database, caller);
      const refusal = await confirmPassword(deps, account, body.password);
      return refusal ?? (await deps.passkeys.enrolmentOptions(account));
    },
  }),
  route(`POST ${path}/passkeys`, {
    ...FORM,
    summary: 'Add a passkey',
    body: Type.Object({ name: PersonName, response: AnyPasskeyAnswer<RegistrationResponseJSON>() }),
    response: of<object>(),
    status: 201,
    audit: { action: 'account.passkeyAdded' },
    handle: (call) =>
      toldOf(deps, call, 'passkeyAdded', (account) =>
        deps.passkeys.add(account, call.body.name, call.body.response),
      ),
  }),
  route(`GET ${path}/passkeys`, {
    ...OF_MEMBER,
    summary: 'List the passkeys',
    response: of<readonly object[]>(),
    handle: async ({ caller }) => deps.passkeys.list(await accountOf(deps.database, caller)),
  }),
  route(`DELETE ${path}/passkeys/:id`, {
    ...FORM,
    summary: 'Remove a passkey',
    params: { id: { prefix: 'psk', resource: 'passkey' } },
    audit: { action: 'account.passkeyRemoved' },
    handle: (call) =>
      toldOf(deps, call, 'passkeyRemoved', (account) => deps.passkeys.remove(account, call.params.id)),
  }),
];

const ownSessionRoutes = ({ database, sessions }: SessionRouteDeps): readonly Route[] => [
  route(`GET ${path}/sessions`, {
    ...OF_MEMBER,
    summary: 'List the active sessions',
    response: of<readonly object[]>(),
    handle: ({ caller }) => listSessions(database, caller),
  }),
  route(`DELETE ${path}/sessions/:id`, {
    ...FORM,
    summary: 'End one session',
    params: { id: { prefix: 'ses', resource: 'session' } },
    handle: async ({ caller, params }) => {
      const ended = await database.read((orm) =>
        orm
          .delete(browserSessions)
          .where(and(isOf(memberOf(caller).accountId), eq(browserSessions.id, params.id)))
          .returning({ id: browserSessions.id }),
      );
      if (ended.length === 0) return notFound('session');
      sessions.ends.tell({ sessionId: params.id });
      return null;
    },
  }),
  route(`DELETE ${path}/sessions`, {
    ...FORM,
    summary: 'End all other sessions',
    audit: { action: 'account.signedOutElsewhere' },
    handle: async ({ caller }) => {
      const { accountId, sessionId } = memberOf(caller);
      await endSessions(database, accountId, sessionId);
      sessions.ends.tell({ accountId, except: sessionId });
      return null;
    },
  }),
];

/** The condition of the sessions of an account. */
const isOf = (accountId: string) =>
  and(eq(browserSessions.kind, 'account'), eq(browserSessions.subjectId, accountId));

async function listSessions(database: SessionRouteDeps['database'], caller: Call['caller']) {
  const { accountId, sessionId } = memberOf(caller);
  const { id, userAgent, client, seenAt } = browserSessions;
  const rows = await database.read(
    (orm) =>
      orm
        .select({ id, userAgent, client, seenAt })
        .from(browserSessions)
        .where(isOf(accountId))
        .orderBy(desc(id))
        .limit(100),
    PREPARED,
  );
  return rows.map((row) => ({
    id: row.id,
    userAgent: row.userAgent,
    client: row.client,
    createdAt: new Date(timeOfId(row.id)).toISOString(),
    lastSeenAt: row.seenAt.toISOString(),
    current: row.id === sessionId,
  }));
}
