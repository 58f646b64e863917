import type { Asking, Told } from './ask.ts';
import type { RealService } from './real-service.ts';

/** The address under which the service of a test knows itself. */
export const ORIGIN = 'http://localhost:3000';
/** A password that every rule accepts. */
export const PASSWORD = 'correct horse battery staple';

/** The status of an answer and the code of its refusal. */
export const codeOf = ({ status, body }: { status: number; body: { error?: { code: string } } | null }) => [
  status,
  body?.error?.code,
];

let browsers = 0;

/** A browser at the dashboard: it keeps its cookie, and says from which page it asks. */
export class Browser {
  cookie = '';
  /** A separate address, for a service that trusts one proxy. */
  readonly #client = `192.0.2.${++browsers % 250}`;

  constructor(
    private readonly service: Pick<RealService, 'ask'>,
    private readonly origin: string = ORIGIN,
  ) {}

  /** Asks under `/app/api`; a body makes it a POST. */
  async ask(
    path: string,
    body?: unknown,
    method = body === undefined ? 'GET' : 'POST',
    headers: Asking['headers'] = {},
  ): Promise<Told> {
    const told = await this.service.ask({
      method,
      path: `/app/api${path}`,
      ...(method !== 'GET' && { body: body ?? {} }),
      headers: {
        'x-forwarded-for': this.#client,
        ...(this.cookie !== '' && { cookie: this.cookie }),
        ...(method !== 'GET' && { origin: this.origin, 'content-type': 'application/json' }),
        ...headers,
      },
    });
    const set = told.headers.get('set-cookie');
    if (set !== null) this.cookie = set.includes('Max-Age=0') ? '' : (set.split(';')[0] ?? '');
    return told;
  }

  /** Signs in. */
  signIn(email: string, password = PASSWORD, code?: string): Promise<Told> {
    return this.ask('/session', { email, password, ...(code !== undefined && { code }) });
  }
}

/** Makes the first owner of a service, and returns the browser that is signed in. */
export async function setUpOwner(service: RealService, email = 'ada@acme.example'): Promise<Browser> {
  const browser = new Browser(service);
  const token = await setupToken(service);
  const told = await browser.ask('/setup', { token, email, password: PASSWORD, name: 'Ada Lovelace' });
  if (told.status !== 201) throw new Error(told.text);
  return browser;
}

/** Sets the service up as its owner, and adds an account that belongs to no workspace of the owner's. */
export async function setUpOwnerAndSomebody(service: RealService, email: string): Promise<Browser> {
  const owner = await setUpOwner(service);
  const form = { email, password: PASSWORD, name: 'Bob' };
  const { status } = await new Browser(service).ask('/signup', form);
  if (status !== 201) throw new Error(`The sign-up of ${email} answered ${status}.`);
  return owner;
}

/** The token of a setup link. */
export async function setupToken({ service, workspaceId }: RealService): Promise<string> {
  const { setupLink } = await import('../../src/accounts/members/sign-in/setup.ts');
  const link = await setupLink(service.database, workspaceId, { publicUrl: ORIGIN, now: () => Date.now() });
  return link?.split('#token=')[1] ?? '';
}

let invited = 0;

/** Invites a person with that role and returns the browser of who accepted. */
export async function inviteMember(
  service: RealService,
  owner: Browser,
  role: string,
  email = `person${++invited}@acme.example`,
): Promise<{ browser: Browser; email: string; id: string }> {
  const { body } = await owner.ask('/live/members/invitations', { email, role });
  const browser = new Browser(service);
  const token = body.data.url.split('#token=')[1];
  const told = await browser.ask('/invitation', { token, name: `Person ${invited}`, password: PASSWORD });
  if (told.status !== 201) throw new Error(told.text);
  const { data } = (await browser.ask('/session')).body;
  return { browser, email, id: data.member.id };
}
