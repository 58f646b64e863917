import { Type } from '@sinclair/typebox';
import type { OneTimeTokens } from '../../../http/auth/passwords/one-time-tokens.ts';
import { problemOfPassword } from '../../../http/auth/passwords/passwords.ts';
import { type Call, DASHBOARD_API, RawResponse, type Route, route } from '../../../http/request/route.ts';
import type { Database } from '../../../platform/db/database.ts';
import { type Detail, Failure, invalid, invalidAt } from '../../../platform/errors/failure.ts';
import { type Address, isProblem, parseAddress } from '../../../platform/text/address.ts';
import { hasUnseen } from '../../../platform/text/characters.ts';
import {
  type Account,
  accountByEmail,
  accountById,
  createAccount,
  homeOf,
  isSetUp,
  type NewAccount,
  setPassword,
} from '../accounts.ts';
import { acceptInvitation, findInvitation, type PendingInvitation } from '../invitations.ts';
import { MOST_WORKSPACES, TOO_MANY_WORKSPACES } from '../members.ts';
import { Code, Email, Password, PersonName, Token } from '../model.ts';
import { tellOfChange } from './notice.ts';
import { type ResetSubject, stampOf } from './reset.ts';
import { foreignForm, of, PUBLIC_FORM, type SessionRouteDeps, withCookie } from './session-routes.ts';
import type { SetupSubject } from './setup.ts';
import { openFor, prove, tooSoon } from './sign-in.ts';

export interface EntryDeps extends SessionRouteDeps {
  readonly setupTokens: OneTimeTokens<SetupSubject>;
  readonly resetTokens: OneTimeTokens<ResetSubject>;
  /** Mails a link for a new password to the address, if an account has it. */
  mailResetLink(email: string): Promise<void>;
  readonly signup: 'closed' | 'open';
  /** Creates a workspace for a new account and returns its id. */
  createWorkspace(name: string, now: number): Promise<string>;
  renameWorkspace(database: Database, workspaceId: string, name: string): Promise<unknown>;
  /** Removes a workspace that was never used. */
  deleteUnusedWorkspace(workspaceId: string): Promise<void>;
}

const SPENT = new Failure('INVALID_TOKEN', 'This link was already used, or it has expired.', {
  suggestion: 'Ask the person who sent you the link for another one.',
});
const EXISTS = new Failure('CONFLICT', 'An account with this address already exists.', {
  suggestion: 'Sign in with it, then open the link again.',
});
const CLOSED = new Failure('FORBIDDEN', 'Signing up needs an invitation.', {
  suggestion: 'Ask a member for an invitation. The operator can open sign-up with SIGNUP=open.',
});

type Form<Body> = Pick<Call<unknown, unknown, Body>, 'headers' | 'client' | 'now' | 'requestId' | 'body'>;
type Answer = Promise<RawResponse | Failure>;

/** The ways to a first session: setup, sign-up, invitation and a forgotten password. */
export const entryRoutes = (deps: EntryDeps): readonly Route[] => {
  const own = async <Body>(call: Form<Body>, work: (call: Form<Body>) => Answer): Answer =>
    foreignForm(call, deps.publicUrl) ?? (await work(call));
  return [
    route(`GET ${DASHBOARD_API}/setup`, {
      permission: 'public',
      summary: 'Get whether the first owner exists',
      response: Type.Object({ isSetUp: Type.Boolean() }),
      handle: async () => ({ isSetUp: await isSetUp(deps.database) }),
    }),
    route(`POST ${DASHBOARD_API}/setup`, {
      ...PUBLIC_FORM,
      summary: 'Create the first owner, with the link printed at the first start',
      body: Type.Object({
        token: Token,
        email: Email,
        password: Password,
        name: PersonName,
        workspaceName: Type.Optional(PersonName),
      }),
      response: of<object>(),
      status: 201,
      handle: (call) => own(call, (form) => setUp(deps, form)),
    }),
    route(`POST ${DASHBOARD_API}/signup`, {
      ...PUBLIC_FORM,
      summary: 'Create an account with its own workspace, where the operator allows it',
      body: Type.Object({ email: Email, password: Password, name: PersonName }),
      response: of<object>(),
      status: 201,
      handle: (call) => own(call, (form) => signUp(deps, form)),
    }),
    route(`POST ${DASHBOARD_API}/invitation/details`, {
      ...PUBLIC_FORM,
      summary: 'Show an invitation to who has its link',
      body: Type.Object({ token: Token }),
      response: of<object>(),
      handle: async (call) => foreignForm(call, deps.publicUrl) ?? (await showInvitation(deps, call)),
    }),
    route(`POST ${DASHBOARD_API}/invitation`, {
      ...PUBLIC_FORM,
      summary: 'Accept an invitation',
      body: Type.Object({
        token: Token,
        name: Type.Optional(PersonName),
        password: Type.Optional(Password),
        code: Type.Optional(Code),
      }),
      response: of<object>(),
      status: 201,
      handle: (call) => own(call, (form) => accept(deps, form)),
    }),
    route(`POST ${DASHBOARD_API}/password-reset/link`, {
      ...PUBLIC_FORM,
      summary: 'Request a mailed link for a new password, where mail works',
      body: Type.Object({ email: Email }),
      response: of<object>(),
      handle: (call) => own(call, (form) => askForLink(deps, form)),
    }),
    route(`POST ${DASHBOARD_API}/password-reset`, {
      ...PUBLIC_FORM,
      summary: 'Set a new password with a link that was mailed or printed by the operator',
      body: Type.Object({ token: Token, password: Password }),
      response: of<object>(),
      handle: (call) => own(call, (form) => reset(deps, form)),
    }),
  ];
};

interface Person {
  readonly email: string;
  readonly password: string;
  readonly name: string;
}

/** Reads the form of a new person, and reports all problems at once. */
function readPerson({ email, password, name }: Person): Address | Failure {
  const details: Detail[] = [];
  const address = parseAddress(email);
  if (isProblem(address)) details.push({ path: '/body/email', message: address.problem });
  else if (address.name !== null)
    details.push({ path: '/body/email', message: 'Must be an address without a name.' });
  if (hasUnseen(name)) details.push({ path: '/body/name', message: 'Must not hold invisible characters.' });
  const problem = problemOfPassword(password, [email, email.split('@')[0] ?? '', name]);
  if (problem !== null) details.push({ path: '/body/password', message: problem });
  return details.length > 0 ? invalid(details) : (address as Address);
}

async function newAccount({ passwords }: EntryDeps, address: Address, person: Person): Promise<NewAccount> {
  const password = await passwords.hash(person.password);
  return { email: address.address, emailKey: address.key, name: person.name.trim(), password };
}

async function signedIn(
  deps: EntryDeps,
  accountId: string,
  workspaceId: string,
  form: Form<unknown>,
): Answer {
  const cookie = await openFor(deps, { id: accountId }, form, { workspace: workspaceId });
  return cookie instanceof Failure ? cookie : withCookie(cookie, 201, { workspaceId });
}

async function setUp(
  deps: EntryDeps,
  form: Form<Person & { token: string; workspaceName?: string }>,
): Answer {
  const { body, now } = form;
  const address = readPerson(body);
  if (address instanceof Failure) return address;
  if (hasUnseen(body.workspaceName ?? ''))
    return invalidAt('/body/workspaceName', 'Must not hold invisible characters.');
  // A hash takes a core for a tenth of a second, so a guessed token does not get one.
  if (!(await deps.setupTokens.holds(body.token))) return SPENT;
  // Each start prints a link. Left-over links create no owner, even after all members have left.
  if (await isSetUp(deps.database)) return SPENT;
  const account = await newAccount(deps, address, body);
  const redeemed = await deps.setupTokens.redeem(body.token);
  if (!redeemed) return SPENT;
  const { workspaceId } = redeemed;
  const id = await createAccount(deps.database, account, { workspaceId, role: 'owner', isFirst: true }, now);
  if (id === null) return SPENT;
  if (body.workspaceName !== undefined)
    await deps.renameWorkspace(deps.database, workspaceId, body.workspaceName.trim());
  return signedIn(deps, id, workspaceId, form);
}

async function signUp(deps: EntryDeps, form: Form<Person>): Answer {
  const { body, now } = form;
  if (deps.signup === 'closed' || !(await isSetUp(deps.database))) return CLOSED;
  const address = readPerson(body);
  if (address instanceof Failure) return address;
  const account = await newAccount(deps, address, body);
  if (await accountByEmail(deps.database, address.key)) return EXISTS;
  const workspaceId = await deps.createWorkspace(body.name.trim(), now);
  const id = await createAccount(deps.database, account, { workspaceId, role: 'owner' }, now);
  if (id !== null) return signedIn(deps, id, workspaceId, form);
  await deps.deleteUnusedWorkspace(workspaceId);
  return EXISTS;
}

/**
 * The refusal of any caller but the account's person; null for that person. A person without a workspace
 * cannot open a session, so the password is the proof.
 */
async function unlessOwn(
  deps: EntryDeps,
  known: Account,
  form: Form<{ password?: string; code?: string }>,
): Promise<Failure | null> {
  const session = await deps.sessions.find(form.headers);
  if (session?.subject.kind === 'account' && session.subject.id === known.id) return null;
  const { password, code } = form.body;
  if (password === undefined || (await homeOf(deps.database, known.id)) !== null) return EXISTS;
  const given = { email: known.email, password, ...(code !== undefined && { code }) };
  const proved = await prove(deps, given, form);
  return proved instanceof Failure ? proved : null;
}

/** The token alone opens it: 256 random bits that were sent to its address. */
async function showInvitation(
  { database }: EntryDeps,
  { body, now }: Pick<Form<{ token: string }>, 'body' | 'now'>,
): Promise<Omit<PendingInvitation, 'emailKey'> | Failure> {
  const invitation = await findInvitation(database, body.token, now);
  if (!invitation) return SPENT;
  const { emailKey: _, ...shown } = invitation;
  return shown;
}

async function accept(
  deps: EntryDeps,
  form: Form<{ token: string; name?: string; password?: string; code?: string }>,
): Answer {
  const { body, now } = form;
  const invited = await findInvitation(deps.database, body.token, now);
  if (!invited) return SPENT;
  const known = await accountByEmail(deps.database, invited.emailKey);
  if (known) {
    const refusal = await unlessOwn(deps, known, form);
    // The account may be one that this same invitation has just created for a faster request.
    if (refusal) return (await findInvitation(deps.database, body.token, now)) ? refusal : SPENT;
    const joined = await acceptInvitation(deps.database, body.token, known.id, MOST_WORKSPACES, now);
    if (joined === 'full') return TOO_MANY_WORKSPACES;
    return joined ? signedIn(deps, joined.accountId, joined.workspaceId, form) : SPENT;
  }
  const person = { email: invited.email, name: body.name ?? '', password: body.password ?? '' };
  if (person.name === '') return invalidAt('/body/name', 'This is required.');
  const address = readPerson(person);
  if (address instanceof Failure) return address;
  const account = await newAccount(deps, address, person);
  const joined = await acceptInvitation(deps.database, body.token, account, MOST_WORKSPACES, now);
  if (joined === 'full') return TOO_MANY_WORKSPACES;
  return joined ? signedIn(deps, joined.accountId, joined.workspaceId, form) : SPENT;
}

/**
 * Every caller gets the same answer at the same time, with or without an account: the work comes after it.
 */
async function askForLink(deps: EntryDeps, { body, client, requestId }: Form<{ email: string }>): Answer {
  const { waitSeconds } = deps.slowDown.begin([`reset ${client}`]);
  if (waitSeconds > 0) return tooSoon(waitSeconds);
  deps
    .mailResetLink(body.email)
    .catch((error: unknown) =>
      deps.log.warn({ requestId, err: error }, 'A link for a new password could not be mailed'),
    );
  return DONE();
}

const DONE = (): RawResponse =>
  new RawResponse('application/json', '{"data":{}}', { headers: { 'cache-control': 'no-store' } });

async function reset(
  deps: EntryDeps,
  { body, now, requestId }: Form<{ token: string; password: string }>,
): Answer {
  const problem = problemOfPassword(body.password, []);
  if (problem !== null) return invalidAt('/body/password', problem);
  if (!(await deps.resetTokens.holds(body.token))) return SPENT;
  const hash = await deps.passwords.hash(body.password);
  const subject = await deps.resetTokens.redeem(body.token);
  const account = subject && (await accountById(deps.database, subject.accountId));
  // A link for an earlier password is invalid.
  if (!account || stampOf(account) !== subject.stamp) return SPENT;
  if (!(await setPassword(deps.database, account, hash, null))) return SPENT;
  deps.sessions.ends.tell({ accountId: account.id });
  if (subject.withoutSecondFactor)
    await deps.database.query(
      `with keys as (delete from passkeys where account_id = $1),
         codes as (delete from recovery_codes where account_id = $1)
       update accounts set totp = null, totp_confirmed_at = null where id = $1`,
      [account.id],
    );
  await tellOfChange(deps, account, 'passwordReset', { now, requestId });
  return DONE();
}
