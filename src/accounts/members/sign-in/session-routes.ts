import type { AuthenticationResponseJSON } from '@simplewebauthn/server';
import { Type } from '@sinclair/typebox';
import { eq } from 'drizzle-orm';
import type { Principal } from '../../../http/auth/principal.ts';
import { isFromOwnPage, OTHER_SITE } from '../../../http/auth/sessions/same-origin.ts';
import { type Call, DASHBOARD_API, RawResponse, type Route, route } from '../../../http/request/route.ts';
import type { EnabledTransports } from '../../../platform/config/transport-names.ts';
import { type Database, PREPARED } from '../../../platform/db/database.ts';
import { members } from '../../../platform/db/schema/accounts.ts';
import { workspaces } from '../../../platform/db/schema/workspaces.ts';
import { Failure } from '../../../platform/errors/failure.ts';
import { zones } from '../../../platform/zones/zones.ts';
import { languagesOf } from '../../member-language.ts';
import { accountById } from '../accounts.ts';
import { Code, Email, Password } from '../model.ts';
import type { Passkeys } from './passkeys.ts';
import { openFor, type SignInDeps, signIn } from './sign-in.ts';

/** The dependencies of the dashboard's sign-in routes. */
export interface SessionRouteDeps extends SignInDeps {
  readonly passkeys: Passkeys;
  readonly publicUrl: string;
  /** The domain of test emails whose address chooses the outcome. */
  readonly simulatorDomain: string;
  /** The transports of live email, the default one first. */
  readonly transports: EnabledTransports;
  /** True where plans can be bought. */
  readonly takesPayments: boolean;
  /** The ways by which live mail comes in. */
  readonly receiving: InboundWays;
}

/** The ways by which live mail comes in, besides mailboxes. */
interface InboundWays {
  /** True where this instance opens a port for mail servers. */
  readonly port: boolean;
  /** STARTTLS is offered at the port. */
  readonly tls: boolean;
  /** The address that takes what Amazon SES receives; null where no topic is taken. */
  readonly sesUrl: string | null;
}

/** Attempts per minute from one address, for any purpose. The slow-down of wrong passwords comes on top. */
export const SIGN_IN_PER_MINUTE = 60;
/** The byte limit of a form from an unknown sender. */
export const FORM_LIMIT = 16_384;

/**
 * A form of a visitor who is not signed in. It must come from one of the service's own pages as well;
 * otherwise another site could sign a browser in.
 */
export const PUBLIC_FORM = {
  permission: 'public',
  ipLimitPerMinute: SIGN_IN_PER_MINUTE,
  bodyLimit: FORM_LIMIT,
} as const;

/** An endpoint for the person behind a session, whatever the role. */
export const OF_MEMBER = {
  permission: 'any key',
  credential: 'session',
  principals: ['member'],
} as const;

/** Endpoints of the dashboard are described by its own types, and no document lists them. */
export const of = <T>() => Type.Unsafe<T>({});

/** An answer that sets a cookie. */
export const withCookie = (cookie: string, status: number, data: object): RawResponse =>
  new RawResponse('application/json', JSON.stringify({ data }), {
    status,
    headers: { 'set-cookie': cookie, 'cache-control': 'no-store' },
  });

/** The refusal of a form from another site; null for a form of the service's own page. */
export const foreignForm = ({ headers }: { readonly headers: Headers }, publicUrl: string): Failure | null =>
  isFromOwnPage(headers, publicUrl) ? null : OTHER_SITE;

/** The calling member. The route accepts no other caller. */
export function memberOf(caller: Principal): Extract<Principal, { kind: 'member' }> {
  if (caller.kind !== 'member') throw new Error('A route for members was called by another principal.');
  return caller;
}

/** The account of the calling member. @throws UnavailableError */
export async function accountOf(database: Database, caller: Principal) {
  const account = await accountById(database, memberOf(caller).accountId);
  if (!account) throw new Error('A session belongs to an account that does not exist.');
  return account;
}

/** The dashboard shows no times beyond this range: a contact of long ago, a run that waits for years. */
const SHOWN_MS = 10 * 365 * 86_400_000;

/** The dashboard's description of a session. @throws UnavailableError */
async function describe(
  {
    database,
    simulatorDomain,
    transports,
    takesPayments,
    receiving,
  }: Pick<SessionRouteDeps, 'database' | 'simulatorDomain' | 'transports' | 'takesPayments' | 'receiving'>,
  caller: Principal,
  now: number,
) {
  const member = memberOf(caller);
  const account = await accountOf(database, caller);
  const { name, archivedAt, timeZone: zone, language: workspaceLanguage } = workspaces;
  const [workspace] = await database.read(
    (orm) =>
      orm
        .select({ name, archivedAt, zone, workspaceLanguage, language: members.language })
        .from(workspaces)
        .leftJoin(members, eq(members.id, member.id))
        .where(eq(workspaces.id, caller.workspaceId)),
    PREPARED,
  );
  const timeZone = workspace?.zone ?? 'UTC';
  return {
    account: { id: account.id, email: account.email, name: account.name },
    member: {
      id: member.id,
      role: member.role,
      needsSecondFactor: member.needsSecondFactor,
      ...languagesOf(workspace?.language ?? null, workspace?.workspaceLanguage ?? null),
    },
    permissions: caller.permissions,
    plan: caller.plan,
    simulatorDomain,
    transports,
    takesPayments,
    receiving,
    workspace: {
      id: caller.workspaceId,
      name: workspace?.name ?? '',
      archived: workspace != null && workspace.archivedAt !== null,
    },
    clock: { timeZone, changes: zones.changesOf(timeZone, now - SHOWN_MS, now + SHOWN_MS) },
    twoFactor: { totp: account.totp !== null, passkeys: account.passkeys },
  };
}

const path = `${DASHBOARD_API}/session`;

/** Signing in and out. */
export const sessionRoutes = (deps: SessionRouteDeps): readonly Route[] => [
  route(`POST ${path}`, {
    ...PUBLIC_FORM,
    summary: 'Sign in',
    body: Type.Object({ email: Email, password: Password, code: Type.Optional(Code) }),
    response: of<object>(),
    handle: async ({ body, headers, client, now, requestId }) => {
      const foreign = foreignForm({ headers }, deps.publicUrl);
      const cookie = foreign ?? (await signIn(deps, body, { headers, client, now, requestId }));
      return cookie instanceof Failure ? cookie : withCookie(cookie, 200, {});
    },
  }),
  route(`GET ${path}`, {
    ...OF_MEMBER,
    summary: 'Get the current session',
    response: of<object>(),
    handle: async ({ caller, now, requestId }) => {
      try {
        await deps.sessions.remember(memberOf(caller));
      } catch (err) {
        // A page opens on a database that takes no writes, too.
        deps.log.warn({ requestId, err }, 'The workspace of a session could not be remembered');
      }
      return await describe(deps, caller, now);
    },
  }),
  route(`GET ${DASHBOARD_API}/time-zones`, {
    ...OF_MEMBER,
    summary: 'List the names of all time zones',
    response: of<readonly string[]>(),
    handle: async () => zones.names,
  }),
  route(`DELETE ${path}`, {
    permission: 'public',
    bodyLimit: FORM_LIMIT,
    summary: 'Sign out',
    response: of<object>(),
    handle: async ({ headers }) =>
      foreignForm({ headers }, deps.publicUrl) ?? withCookie(await deps.sessions.end(headers), 200, {}),
  }),
  route(`POST ${path}/passkey/options`, {
    ...PUBLIC_FORM,
    summary: 'Get the challenge for signing in with a passkey',
    response: of<object>(),
    handle: async (call) => foreignForm(call, deps.publicUrl) ?? (await deps.passkeys.signInOptions()),
  }),
  route(`POST ${path}/passkey`, {
    ...PUBLIC_FORM,
    summary: 'Sign in with a passkey',
    body: Type.Object({ response: AnyPasskeyAnswer<AuthenticationResponseJSON>() }),
    response: of<object>(),
    handle: async (call) => foreignForm(call, deps.publicUrl) ?? (await signInByPasskey(deps, call)),
  }),
];

/** The response of an authenticator. Its package checks it; here it is only an object with an id. */
export function AnyPasskeyAnswer<Answer>() {
  return Type.Unsafe<Answer>(
    Type.Object({ id: Type.String({ maxLength: 1_400 }) }, { additionalProperties: true }),
  );
}

async function signInByPasskey(
  deps: SessionRouteDeps,
  {
    body,
    headers,
    client,
    now,
    requestId,
  }: Pick<
    Call<unknown, unknown, { response: AuthenticationResponseJSON }>,
    'body' | 'headers' | 'client' | 'now' | 'requestId'
  >,
): Promise<RawResponse | Failure> {
  const account = await deps.passkeys.prove(body.response);
  const cookie =
    account instanceof Failure ? account : await openFor(deps, account, { headers, client, now, requestId });
  return cookie instanceof Failure ? cookie : withCookie(cookie, 200, {});
}
