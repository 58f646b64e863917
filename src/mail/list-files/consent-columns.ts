import { folded } from './consent-words.ts';

/** How the cells of a column say who may be written to. */
export const STATUS_READINGS = ['status', 'subscribed', 'unsubscribed', 'bounced', 'complained'] as const;
export type StatusReading = (typeof STATUS_READINGS)[number];

/** What the name of a column tells of consent. */
export type ConsentColumn =
  /** `weak`: only its values decide that it is one. `details`: every text in it means that the person has left. */
  | { readonly to: 'status'; readonly reads: StatusReading; readonly weak?: true; readonly details?: true }
  | { readonly to: 'unsubscribedAt' | 'consentSource' | 'consentAt' };

/** Names that state a status in words. */
const STATUS_NAMES = new Set(
  `status emailstatus mailstatus contactstatus subscriberstatus subscriptionstatus emailsubscriptionstatus memberstatus
  membershipstatus emailmarketingstatus marketingstatus marketingcontactstatus mailingstatus newsletterstatus optinstatus
  emailoptinstatus emailpermissionstatus permissionstatus consentstatus emailconsentstatus statut statutabonnement statutemail
  statutdelabonnement estado estadosuscripcion estadodesuscripcion estadodelasuscripcion stato abostatus abonnementstatus
  kontaktstatus empfaengerstatus empfangerstatus anmeldestatus newsletterabostatus situacao`.split(/\s+/),
);

/** Names that state consent by themselves. */
const SUBSCRIBED_NAMES = new Set(
  `subscribed issubscribed subscribedtoemails emailsubscribed optin emailoptin optedin isoptedin doubleoptin marketingoptin
  emailmarketing emailmarketingconsent emailconsent marketingconsent consent acceptsmarketing acceptsemailmarketing acceptsemail
  newsletter newsletterabo newsletteroptin newslettersubscribed receivesnewsletter mailinglist confirmed permission emailpermission
  abonniert angemeldet einwilligung newslettereinwilligung werbeeinwilligung zustimmung abonne inscrit inscritnewsletter
  consentement suscrito suscripto inscrito consentimiento aceptamarketing boletin iscritto consenso marketingallowed
  marketingemails emailupdates`.split(/\s+/),
);

const NEGATIVE =
  /unsub|opt(?:ed)?out|donote?mail|donotcontact|donotsend|noe?mails?$|blacklist|blocklist|suppress|isexcludedfrom|emaildisabled|deaktiviert|deactivatedat|abgemeldet|abmeld|abbestell|ausgetragen|austrag|gesperrt|widerspr|widerruf|desabon|desinscri|desuscri|dadodebaja|fechadebaja|noenviar|excluded|disiscri|revoked|withdrawn|kuendig|kundig/;
const BOUNCE = /bounce|unzustellbar|undeliver|^clean(?:time|campaign|ed)|rebote|rebond|hardbounced/;
const COMPLAINT = /complain|spamreport|markedasspam|beschwerde|plainte|queja|abusereport/;
const POSITIVE =
  /subscri|opt(?:ed)?in(?!ion|al)|consent|einwillig|zustimm|abonn|anmeld|inscri|suscri|newsletter|permission|gdpr|dsgvo|rgpd|acceptsm|mailingok/;
const CONFIRMED = /^confirm/;

const TIMES = new Set(
  'at time timestamp date datum on zeit zeitpunkt am fecha heure horodatage data'.split(' '),
);
const SOURCES = new Set('source quelle herkunft origen origine fuente form'.split(' '));
const REASONS = new Set(
  'reason grund raison motivo campaign kampagne title id by ip method link type'.split(' '),
);
const FIGURES = new Set('count number anzahl total rate score rating quote nombre numero'.split(' '));
const OTHER_CHANNELS = new Set(
  'sms whatsapp phone telefon telephone mobile mobil push fax post postal letter brief call calls'.split(' '),
);
const OTHERS = new Set('id ip ids url plan tier price product produkt level email mail link page'.split(' '));

const wordsOf = (header: string): readonly string[] =>
  header
    .replace(/(\p{Ll})(\p{Lu})|(\p{Lu})(?=\p{Lu}\p{Ll})/gu, '$1$3 $2')
    .split(/[^\p{L}\p{N}]+/u)
    .map(folded)
    .filter((word) => word !== '');

const status = (reads: StatusReading, more: { weak?: true; details?: true } = {}): ConsentColumn => ({
  to: 'status',
  reads,
  ...more,
});

/** What the name of a column tells of consent; null where it tells nothing. */
export function consentColumnOf(header: string): ConsentColumn | null {
  const name = folded(header);
  if (STATUS_NAMES.has(name)) return status('status');
  if (SUBSCRIBED_NAMES.has(name)) return status('subscribed');
  const words = wordsOf(header);
  const last = words.at(-1) ?? '';
  const some = (set: ReadonlySet<string>): boolean => words.some((word) => set.has(word));
  if (some(FIGURES) || (some(OTHER_CHANNELS) && !name.includes('mail'))) return null;
  const isTime = TIMES.has(last);
  const isDetail = isTime || some(REASONS);
  if (NEGATIVE.test(name) || words.includes('baja')) {
    if (isTime) return { to: 'unsubscribedAt' };
    return status('unsubscribed', isDetail ? { details: true } : {});
  }
  if (COMPLAINT.test(name)) return status('complained');
  if (BOUNCE.test(name)) return /soft|emailsbounced/.test(name) ? null : status('bounced');
  if (POSITIVE.test(name) || CONFIRMED.test(name)) {
    if (isTime) return { to: 'consentAt' };
    if (some(SOURCES)) return { to: 'consentSource' };
    return some(OTHERS) && !/optin|consent/.test(name) ? null : status('subscribed', { weak: true });
  }
  return null;
}

/** What everyone in a file has done, by the columns that a service writes for them alone. */
export function everyoneByHeaders(headers: readonly string[]): 'unsubscribed' | 'bounced' | null {
  const names = new Set(headers.map(folded));
  if (names.has('cleantime')) return 'bounced';
  return names.has('unsubtime') ? 'unsubscribed' : null;
}

/** What everyone in a file has done, by the name that a service gives to it; `never`: they have not agreed. */
export function everyoneByFilename(
  filename: string,
): 'unsubscribed' | 'bounced' | 'complained' | 'never' | null {
  const words = wordsOf(filename.split(/[\\/]/).at(-1) ?? '');
  const isMailchimp = words.includes('export') && (words.includes('members') || words.includes('audience'));
  const [first = '', second = ''] = words;
  if (isMailchimp && (first === 'nonsubscribed' || (first === 'non' && second === 'subscribed')))
    return 'never';
  // `contacts cleaned.csv` is what people call a list that they have tidied up.
  if ((isMailchimp && first === 'cleaned') || words.some((word) => /^(?:hard)?bounce[sd]$/.test(word)))
    return words.includes('soft') ? null : 'bounced';
  if (words.some((word) => /^complaints?$|^spamreports?$/.test(word))) return 'complained';
  return words.some((word) =>
    /^unsub|^optouts?$|^blocklist|^blacklist|^abgemeldet|^desabonn|^desinscri/.test(word),
  )
    ? 'unsubscribed'
    : null;
}

/** True where a file is the list of opt-outs of HubSpot, in which every further column names a kind of email. */
export const isOptOutList = (headers: readonly string[]): boolean =>
  headers.some((header) => folded(header) === 'portalunsubscribe');
