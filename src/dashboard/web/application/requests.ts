import type { Permission } from '../../../auth/permissions.ts';
import type { PlanName } from '../../../auth/plans.ts';
import type { Role } from '../../../auth/roles.ts';
import type { Detail } from '../../../http/failure.ts';
import type { ApiKeyView, NewApiKey } from '../../../modules/api-keys/model.ts';

/** Whose mail and keys are shown: real ones, or those that never leave. */
export type Environment = 'test' | 'live';

/** Who is signed in, where, and what they may do there. */
export interface Session {
  readonly account: { readonly id: string; readonly email: string; readonly name: string };
  readonly member: { readonly id: string; readonly role: Role };
  readonly permissions: readonly Permission[];
  readonly plan: PlanName;
  readonly simulatorDomain: string;
  readonly workspace: { readonly id: string; readonly name: string; readonly archived: boolean };
}

/** What a page needs of whoever looks at it. */
export interface Viewer {
  readonly session: Session;
  readonly environment: Environment;
  readonly may: (permission: Permission) => boolean;
}

/** A refusal of the service, in its own words. Status 0: it did not answer. */
export class Refused extends Error {
  constructor(
    readonly status: number,
    message: string,
    readonly suggestion: string | null = null,
    readonly details: readonly Detail[] = [],
  ) {
    super(message);
  }
}

interface Answer<T> {
  readonly data?: T;
  readonly error?: {
    readonly message: string;
    readonly suggestion?: string;
    readonly details?: readonly Detail[];
  };
}

/** Requests under `/app/api`. @throws Refused */
async function ask<T>(method: string, path: string, body?: object, workspaceId?: string): Promise<T> {
  const headers = {
    ...(body && { 'content-type': 'application/json' }),
    // Another tab may work in another workspace by now: then the service refuses.
    ...(workspaceId !== undefined && { 'x-svc-workspace': workspaceId }),
  };
  const sent = { method, headers, ...(body && { body: JSON.stringify(body) }) };
  const response = await fetch(`/app/api/${path}`, sent).catch(() => null);
  if (!response) throw new Refused(0, 'The service does not answer.', 'Look whether it runs, and try again.');
  const { data, error } = ((await response.json().catch(() => null)) ?? {}) as Answer<T>;
  if (response.ok) return data as T;
  const message = error?.message ?? `The service answered ${response.status}.`;
  throw new Refused(response.status, message, error?.suggestion ?? null, error?.details ?? []);
}

/** Signs in. The service asks for a second factor in words alone; here they belong to the field of the code. @throws Refused */
async function signIn(form: object): Promise<void> {
  try {
    await ask('POST', 'session', form);
  } catch (error) {
    if (!(error instanceof Refused) || error.status !== 401 || !/second factor|code/.test(error.message))
      throw error;
    const { status, message, suggestion } = error;
    throw new Refused(status, message, suggestion, [{ path: '/body/code', message }]);
  }
}

/** What somebody may ask who is not signed in. */
export const entry = {
  signIn,
  isSetUp: async () => (await ask<{ isSetUp: boolean }>('GET', 'setup')).isSetUp,
  session: () => ask<Session>('GET', 'session'),
  send: (path: 'setup' | 'invitation' | 'password-reset', form: object) => ask<object>('POST', path, form),
  signOut: () => ask<object>('DELETE', 'session', {}),
};

/** An email, as far as it is shown. */
interface SentEmail {
  readonly id: string;
  readonly status: string;
}

/** What a member asks of one environment of a workspace; `onExpired` hears that the session has ended. */
export const requestsOf = (workspaceId: string, environment: Environment, onExpired: () => void) => {
  const on = async <T>(method: string, path: string, body?: object): Promise<T> => {
    try {
      return await ask<T>(method, `${environment}/${path}`, body, workspaceId);
    } catch (error) {
      if (error instanceof Refused && error.status === 401) onExpired();
      throw error;
    }
  };
  return {
    keys: async () =>
      (await on<readonly ApiKeyView[]>('GET', 'api-keys')).filter(({ env }) => env === environment),
    createKey: (key: Omit<NewApiKey, 'env'>) =>
      on<ApiKeyView & { key: string }>('POST', 'api-keys', { ...key, env: environment }),
    revokeKey: (id: string) => on<ApiKeyView>('DELETE', `api-keys/${id}`, {}),
    send: (email: object) => on<SentEmail>('POST', 'emails', email),
    email: (id: string) => on<SentEmail>('GET', `emails/${id}`),
  };
};

/** What a page asks with. */
export type Requests = ReturnType<typeof requestsOf>;
