import { Type } from '@sinclair/typebox';
import { findBrand } from '../../accounts/workspace/queries.ts';
import { type PublicCall, type RawResponse, type Route, route } from '../../http/request/route.ts';
import type { Failure } from '../../platform/errors/failure.ts';
import { findAudienceRow } from '../audiences/queries.ts';
import {
  type ConfirmationLink,
  type Recipient,
  readConfirmationToken,
  readPreferencesToken,
} from './links.ts';
import { html, recipientPage } from './page.ts';
import {
  type Choice,
  choose,
  confirmAudience,
  findPerson,
  findQuestion,
  type Person,
  type PreferenceDeps,
} from './person.ts';
import { badLink, textsFor } from './queries.ts';
import type { PageTexts } from './texts/en.ts';

/** The form has a field for every audience that it shows, and one for every choice. */
const FORM_BYTES = 65_536;
const FORM_TYPES = ['application/x-www-form-urlencoded', 'multipart/form-data'];

type Visit = PublicCall<{ readonly token: string }>;
type PageCall = PublicCall<{ readonly token: string }, unknown, Uint8Array>;

/** The pages of recipients: public, valid for ever, and impossible to guess. A GET changes nothing. */
export function preferenceRoutes(deps: PreferenceDeps): readonly Route[] {
  const params = { token: { text: 'The signed token of the recipient.' } };
  const nothing = Type.Unsafe<never>({});
  const brandOf = ({ workspaceId }: Recipient) => findBrand(deps.database, workspaceId, deps.publicUrl);

  const preferences = async (recipient: Recipient, call: Visit, said: LastAction): Promise<RawResponse> => {
    const texts = textsFor(call.headers, recipient.language);
    const [person, brand] = await Promise.all([findPerson(deps, recipient), brandOf(recipient)]);
    const body = bodyOf(texts, recipient, person, said);
    return recipientPage({ texts, brand, title: texts.preferences, body });
  };

  const confirmation = async (
    invited: ConfirmationLink,
    call: Visit,
    write: (texts: PageTexts, name: string) => { readonly title: string; readonly body: string },
  ): Promise<RawResponse | Failure> => {
    const audience = await findAudienceRow(deps, invited, invited.audienceId);
    if (!audience) return badLink(call.headers);
    const texts = textsFor(call.headers, invited.language);
    return recipientPage({ texts, brand: await brandOf(invited), ...write(texts, audience.name) });
  };

  return [
    route('GET /p/:token', {
      permission: 'public',
      summary: 'Show the preference page of a recipient',
      params,
      response: nothing,
      failures: ['INVALID_TOKEN'],
      handle: (call) => {
        const recipient = readPreferencesToken(deps.signer, call.params.token);
        return recipient ? preferences(recipient, call, null) : badLink(call.headers);
      },
    }),
    route('POST /p/:token', {
      permission: 'public',
      summary: 'Change the preferences of a recipient',
      params,
      mediaTypes: FORM_TYPES,
      body: Type.Unsafe<Uint8Array>({ type: 'string' }),
      bodyLimit: FORM_BYTES,
      response: nothing,
      failures: ['INVALID_TOKEN'],
      handle: async (call) => {
        const recipient = readPreferencesToken(deps.signer, call.params.token);
        if (!recipient) return badLink(call.headers);
        const choice = await readChoice(call);
        if (choice) await choose(deps, recipient, choice, call.now);
        return preferences(recipient, call, choice?.action ?? null);
      },
    }),
    route('GET /c/:token', {
      permission: 'public',
      summary: 'Show the page that confirms a subscription',
      params,
      response: nothing,
      failures: ['INVALID_TOKEN'],
      handle: async (call) => {
        const invited = readConfirmationToken(deps.signer, call.params.token);
        if (!invited || (await findQuestion(deps, invited)) === null) return badLink(call.headers);
        return confirmation(invited, call, (texts, name) => ({
          title: texts.confirm,
          body: `<p>${html(texts.askConfirm(name))}</p><form method="post"><button class="main">${html(texts.confirm)}</button></form>`,
        }));
      },
    }),
    route('POST /c/:token', {
      permission: 'public',
      summary: 'Confirm a subscription',
      params,
      mediaTypes: FORM_TYPES,
      body: Type.Unsafe<Uint8Array>({ type: 'string' }),
      bodyLimit: 4_096,
      response: nothing,
      failures: ['INVALID_TOKEN'],
      handle: async (call) => {
        const invited = readConfirmationToken(deps.signer, call.params.token);
        if (!invited || !(await confirmAudience(deps, invited, call.now))) return badLink(call.headers);
        return confirmation(invited, call, (texts, name) => ({
          title: texts.confirmed,
          body: `<p>${html(texts.confirmedHint(name))}</p>`,
        }));
      },
    }),
  ];
}

/** The choice that the page confirms at its top; null for none. */
type LastAction = Choice['action'] | null;

async function readChoice({ body, headers }: PageCall): Promise<Choice | null> {
  const type = headers.get('content-type') ?? '';
  const form = await new Response(Uint8Array.from(body), { headers: { 'content-type': type } })
    .formData()
    .catch(() => null);
  const action = form?.get('action');
  if (!form || (action !== 'save' && action !== 'off' && action !== 'again')) return null;
  return {
    action,
    shown: new Set(form.getAll('shown').map(String)),
    chosen: new Set(form.getAll('audience').map(String)),
  };
}

/** Enough of an address for its owner to know it. */
const masked = (key: string): string => `${key.slice(0, 1)}…${key.slice(key.lastIndexOf('@'))}`;

const button = (action: Choice['action'], label: string, isMain = false): string =>
  `<button${isMain ? ' class="main"' : ''} name="action" value="${action}">${html(label)}</button>`;

function bodyOf(
  texts: PageTexts,
  { key }: Recipient,
  { contact, offered, suppressed }: Person,
  said: LastAction,
): string {
  const intro = `<p class="soft">${html(texts.forAddress(masked(key)))}</p>`;
  const status = contact?.status ?? suppressed ?? (said === 'off' ? 'unsubscribed' : 'subscribed');
  const off = `<form method="post"><p class="soft">${html(texts.offHint)}</p>${button('off', texts.everythingOff)}</form>`;
  if (status === 'complained') return `${intro}<p role="status">${html(texts.isBlocked)}</p>`;
  // The workspace can lift these, so that the person may leave as well.
  if (status === 'bounced' || status === 'manual')
    return said === 'off'
      ? `${intro}<p role="status">${html(texts.isOff)}</p>`
      : `${intro}<p role="status">${html(texts.isBlocked)}</p>${off}`;
  const choices = choicesOf(texts, offered);
  if (status === 'unsubscribed') {
    const back =
      contact === null ? '' : `<form method="post">${choices}${button('again', texts.again)}</form>`;
    return `${intro}<p role="status">${html(texts.isOff)}</p><p>${html(texts.offHint)}</p>${back}`;
  }
  const notice = said === 'save' ? texts.saved : said === 'again' && contact ? texts.isBack : null;
  const lists =
    choices === '' ? '' : `<form method="post">${choices}${button('save', texts.save, true)}</form>`;
  return `${intro}${notice === null ? '' : `<p role="status">${html(notice)}</p>`}${lists}${off}`;
}

/** The audiences as boxes to tick; empty where there is none. */
function choicesOf(texts: PageTexts, offered: Person['offered']): string {
  const choices = offered
    .map(
      ({ id, name, description, isIn }) =>
        `<label><input type="checkbox" name="audience" value="${id}"${isIn ? ' checked' : ''}><span>${html(name)}${description === null ? '' : `<small>${html(description)}</small>`}</span></label><input type="hidden" name="shown" value="${id}">`,
    )
    .join('');
  return choices === '' ? '' : `<fieldset><legend>${html(texts.whatYouGet)}</legend>${choices}</fieldset>`;
}
