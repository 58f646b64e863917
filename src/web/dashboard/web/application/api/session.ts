import type { Permission } from '../../../../../http/auth/permissions.ts';
import type { Role } from '../../../../../http/auth/roles.ts';
import type { PlanName } from '../../../../../platform/config/plans.ts';
import type { PageLanguage } from '../../../../../platform/text/language.ts';
import { ownZone, setClock, type ZoneClock } from '../ui/display/clock.ts';
import { RequestError, request, showWorkspace } from './requests.ts';

/** A way that live email leaves by. */
export type Transport = 'capture' | 'smtp' | 'direct' | 'ses';

/** The account that is signed in, its workspace and its permissions there. */
export interface Session {
  readonly account: { readonly id: string; readonly email: string; readonly name: string };
  readonly member: {
    readonly id: string;
    readonly role: Role;
    readonly needsSecondFactor: boolean;
    /** The language that the member has chosen for emails of the service; null leaves it to the workspace. */
    readonly language: string | null;
    readonly emailLanguage: PageLanguage;
  };
  readonly permissions: readonly Permission[];
  readonly plan: PlanName;
  readonly simulatorDomain: string;
  /** The ways that live email may leave by, the default one first. */
  readonly transports: readonly Transport[];
  /** True where plans can be bought. */
  readonly takesPayments: boolean;
  /** The ways by which live mail comes in, besides mailboxes. */
  readonly receiving: {
    readonly port: boolean;
    /** STARTTLS is offered at the port. */
    readonly tls: boolean;
    readonly sesUrl: string | null;
  };
  readonly workspace: { readonly id: string; readonly name: string; readonly archived: boolean };
  /** The clock of the workspace, by which pages show times. */
  readonly clock: ZoneClock;
}

/**
 * Signs in. The service mentions the second factor only in the message; here the message is shown at the
 * field of the code. @throws RequestError
 */
async function signIn(form: object): Promise<void> {
  try {
    await request('POST', 'session', { body: form });
  } catch (error) {
    if (!(error instanceof RequestError) || error.status !== 401 || !/second factor|code/.test(error.message))
      throw error;
    const { status, message, suggestion } = error;
    throw new RequestError(status, message, suggestion, [{ path: '/body/code', message }]);
  }
}

/**
 * Tells who is signed in. From now on, requests name the workspace, and its clock shows times; null is the
 * workspace that the session was last used in. @throws RequestError 404 where the person is no member of it
 */
async function session(workspaceId: string | null): Promise<Session> {
  const { data } = await request<Session>('GET', 'session', { workspaceId });
  showWorkspace(data.workspace.id);
  setClock(data.clock);
  return data;
}

/** Gives a new workspace the time zone of this computer, unless the service does not know it. */
export async function takeOwnZone(workspaceId: string | null = null): Promise<void> {
  await request('PATCH', 'test/workspace', { body: { timeZone: ownZone() }, workspaceId }).catch(() => {});
}

/** True where the browser has passkeys for this address. */
export const takesPasskeys = (): boolean => 'PublicKeyCredential' in window && isSecureContext;

/**
 * Signs in with a passkey of the device or the password manager. @throws RequestError, or in the browser's
 * words
 */
async function signInByPasskey(): Promise<void> {
  const path = 'session/passkey';
  const { data } = await request<PublicKeyCredentialRequestOptionsJSON>('POST', `${path}/options`, {
    body: {},
  });
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(data);
  const found = await navigator.credentials.get({ publicKey });
  if (!(found instanceof PublicKeyCredential))
    throw new Error('This device has no passkey for this service.');
  await request('POST', path, { body: { response: found.toJSON() } });
}

/** An invitation, as its link shows it. */
export interface InvitationDetails {
  readonly email: string;
  readonly role: Role;
  readonly workspaceName: string;
  readonly invitedBy: string | null;
  readonly expiresAt: string;
}

/** The requests that need no session. */
export const entry = {
  signIn,
  signInByPasskey,
  isSetUp: async () => (await request<{ isSetUp: boolean }>('GET', 'setup')).data.isSetUp,
  session,
  send: (path: 'setup' | 'invitation' | 'password-reset', form: object) =>
    request<object>('POST', path, { body: form }),
  /** The invitation of a link. @throws RequestError */
  invitation: async (token: string): Promise<InvitationDetails> =>
    (await request<InvitationDetails>('POST', 'invitation/details', { body: { token } })).data,
  signOut: () => request<object>('DELETE', 'session', { body: {} }),
};
