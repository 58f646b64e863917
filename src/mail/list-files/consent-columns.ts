import { mayBeConsent, questionColumn, withoutAnswers } from './consent-questions.ts';
import { CONSENT_VOCABULARY, HAS_MAIL, isEnding, NEGATIONS } from './consent-vocabulary.ts';
import { folded, wordsOf } from './consent-words.ts';

/** The way in which the cells of a column show consent. */
export const STATUS_READINGS = ['status', 'subscribed', 'unsubscribed', 'bounced', 'complained'] as const;
export type StatusReading = (typeof STATUS_READINGS)[number];

/**
 * The cells that a column is understood by. `words`: only words that state it. `flags`: yes and no as well,
 * but no dates. `anything`: every text means that the person has left, such as a reason. `confirmation`: no
 * is not a leaving, since the person has not answered yet. Without one: words, yes and no, and dates.
 */
export type CellRule = 'words' | 'flags' | 'anything' | 'confirmation';

/** The consent that the name of a column shows. */
export type ConsentColumn =
  /** `weak`: the name has other words in it, so that the values decide. */
  | { readonly to: 'status'; readonly reads: StatusReading; readonly cells?: CellRule; readonly weak?: true }
  | { readonly to: 'unsubscribedAt' | 'consentSource' | 'consentAt' };

/** Names that state a status in words. */
const STATUS_NAMES = new Set(
  `status globalstatus liststatus mailingliststatus emailstatus mailstatus contactstatus subscriberstatus subscriptionstatus emailsubscriptionstatus memberstatus
  membershipstatus emailmarketingstatus marketingstatus marketingcontactstatus mailingstatus newsletterstatus optinstatus
  emailoptinstatus emailpermissionstatus permissionstatus consentstatus emailconsentstatus statut statutabonnement statutemail
  statutdelabonnement estado estadosuscripcion estadodesuscripcion estadodelasuscripcion stato abostatus abonnementstatus
  kontaktstatus empfaengerstatus empfangerstatus anmeldestatus newsletterabostatus situacao`.split(/\s+/),
);

/** Names that state consent by themselves. */
const SUBSCRIBED_NAMES = new Set(
  `subscribed issubscribed subscribedtoemails emailsubscribed optin emailoptin optedin isoptedin doubleoptin marketingoptin
  emailmarketing emailmarketingconsent emailconsent marketingconsent consent acceptsmarketing acceptsemailmarketing acceptsemail
  newsletter newsletterabo newsletteroptin newslettersubscribed receivesnewsletter mailinglist permission emailpermission
  abonniert angemeldet einwilligung newslettereinwilligung werbeeinwilligung zustimmung abonne inscrit inscritnewsletter
  consentement suscrito suscripto inscrito consentimiento aceptamarketing boletin iscritto consenso marketingallowed
  marketingemails emailupdates mailversand newsletterversand werbungerlaubt werbeerlaubnis kontakterlaubnis`.split(
    /\s+/,
  ),
);

/** Names of a status of HubSpot in its languages: `Statut du contact marketing`. */
const isMarketingStatus = (name: string): boolean =>
  /status|statut|estado|stato/.test(name) &&
  name.includes('marketing') &&
  /^(?:status|statut|estado|stato|marketing|kontakts?|contact|contacto|contatto|contato|de[ls]?|d[uoi])+$/.test(
    name,
  );
/** Names of a status as a code or a number, which no table explains. */
const STATUS_CODE = /(?:id|code|nr|no|number)$/;

/** True for the code of a status, such as `member_status_id` of Emma, where `o` has opted out. */
export function isStatusCode(header: string): boolean {
  const name = folded(header);
  return STATUS_CODE.test(name) && STATUS_NAMES.has(name.replace(STATUS_CODE, ''));
}

/** Names of what a person answers by a link. */
const CONFIRMATIONS = new Set(
  'confirmed isconfirmed emailconfirmed confirmedemail bestaetigt bestatigt confirme confirmado'.split(' '),
);

/**
 * Parts of names. They decide only where the rest of the name has no other subject (`CONSENT_VOCABULARY`).
 */
const NEGATIVE =
  /unsub|opt(?:ed|s)?out|donote?mail|donotcontact|donotsend|^noe?mails?$|blacklist|blocklist|suppress|isexcludedfrom|emaildisabled|deaktiviert|deactivated|abgemeldet|abmeld|abbestell|ausgetragen|austrag|gesperrt|widerspr|widerruf|desabon|desinscri|desuscri|dadodebaja|fechadebaja|noenviar|excluded|disiscri|revoked|withdrawn|kuendig|kundig|donotallow|uitgeschreven|uitschrij|afgemeld|afmeld|(?:werbe|mail|newsletter)sperre/;
/** Names of a list of those who want no mail, and of its German sentence. */
const STOP_LIST =
  /^robinson$|robinsonliste?|(?:sperr|schwarze)liste|liste(?:noire|rouge)|listanegra|werbeverbot|keine?n?(?:werbung|mailversand|newsletterversand)/;
/** Consent that was never given, or has ended. */
const NOT_AGREED =
  /^(?:is|has|was)?(?:nolonger|not|never|non|nicht(?:mehr)?|keine?|pas|ex|former)(?:e?mail|newsletter|marketing)?(?:subscri|opt(?:ed)?in|consent|einwillig|zustimm|abonn|angemeldet|inscri|suscri|permission)|(?:consent|permission|optin|einwilligung|zustimmung|consentement|consentimiento)(?:was|is)?(?:cancell?ed|ended|declined|refused|denied|rejected|expired|abgelehnt|verweigert|beendet|refuse|retire|rechazado|revocado)/;
/** A subscription that has ended may be to a list, or paid for. */
const SUBSCRIPTION_ENDED =
  /(?:subscription|abo|abonnement)(?:was|is)?(?:cancell?ed|ended|expired|beendet|resilie)/;
/** Names that tell of a list by themselves. The other ones tell of orders, contracts and accounts as well. */
const ABOUT_LISTS =
  /unsub|opt(?:ed|s)?out|donot|^noe?mails?$|blacklist|blocklist|abgemeldet|abmeld|abbestell|ausgetragen|desabon|desinscri|desuscri|baja|disiscri|noenviar|mail|newsletter|campaign|kampagne|consent|permission|marketing|werb|einwillig|zustimm|optin|courriel|correo|uitgeschreven|uitschrij|afgemeld|afmeld|sperre/;
/** The beginning of a name that states a leaving, whatever kind of email the rest of it names (HubSpot). */
const LEFT_A_KIND = /^(?:opt(?:ed)?outof|unsubscribedfrom)(?:all)?(?:marketing|newsletter)?e?mails?/;
const BOUNCE = /bounce|unzustellbar|undeliver|^clean(?:time|campaign|ed)|rebote|rebotad|rebond/;
const CERTAIN_BOUNCE = /bounced|hard|global|portal|clean|unzustellbar|undeliver|rebotad/;
const HARD_BOUNCE = /hard|clean|undeliverab/;
const COMPLAINT =
  /complain|spamreport|(?:marked|reported|flagged)(?:e?mails?)?as(?:spam|abuse|junk)|beschwer|plainte|queja|abusereport/;
const CERTAIN_COMPLAINT = /complained|complaining|complainer|spam|abuse|junk|beschwert/;
const POSITIVE =
  /subscri|opt(?:ed)?in(?!ion|al)|consent|einwillig|zustimm|abonn|anmeld|inscri|suscri|newsletter|permission|gdpr|dsgvo|rgpd|acceptsm|mailingok/;
const CONFIRMED = /^confirm/;
const CONSENT =
  /newsletter|consent|einwillig|zustimm|opt(?:ed)?in|permission|gdpr|dsgvo|rgpd|acceptsm|mail|marketing/;
/** Names of values that every contact may have, also one who has left. */
const FOR_EVERYONE = /(?:link|url|uri|page|token|hash|key)$/;

const words = (text: string): ReadonlySet<string> => new Set(text.split(' '));

const TIMES = words('at time timestamp date datum on zeit zeitpunkt am fecha heure horodatage data');
/** The ends of compounds: `Abmeldedatum`, `unsubscribedate`. */
const TIME = /(?:datum|(?<!up)date|zeitpunkt|timestamp)$/;
const SOURCES = words('source quelle herkunft origen origine fuente form');
const REASONS = words('reason grund raison motivo campaign kampagne title by ip method mode type');
const REASON = /(?:grund|reason|raison|motivo)$/;
const MAY_LAST = words('end ends ende expired');
const FIGURES = words('count number anzahl total rate score rating quote nombre numero');
const TELEPHONES = words('sms whatsapp phone telefon telephone mobile mobil push');
const OTHER_CHANNELS = words(
  'sms whatsapp phone telefon telephone mobile mobil push fax post postal letter brief call calls',
);
const OTHERS = words('id ip ids url plan tier price product produkt level email mail link page');

const LONGEST_WORD = Math.max(...[...CONSENT_VOCABULARY].map((word) => word.length));

/** True for `emailblacklisted`, which is made of words of the vocabulary, and false for `Kündigungsfrist`. */
function isMadeOfVocabulary(word: string): boolean {
  const reached = [true];
  for (let end = 1; end <= word.length; end++)
    for (let begin = Math.max(0, end - LONGEST_WORD); begin < end && !reached[end]; begin++)
      reached[end] = reached[begin] === true && CONSENT_VOCABULARY.has(word.slice(begin, end));
  return reached[word.length] === true;
}

const isAboutOneOf = (channels: ReadonlySet<string>, header: string): boolean =>
  !HAS_MAIL.test(folded(header)) && wordsOf(header).some((word) => channels.has(word));
const isOfAnotherChannel = (header: string): boolean => isAboutOneOf(OTHER_CHANNELS, header);

const OF_MESSAGES =
  /status|subscri|opt(?:ed)?(?:in|out)|consent|permission|channel|kanal|campaign|kampagne|einwillig|zustimm/;
/**
 * True for a name about messages to a telephone and not about mail as well: words of lists in its cells are
 * of those messages. `Letter` and `Last call` may be about any kind, and in a column of numbers someone may
 * have noted anything.
 */
export const isOfTelephone = (header: string): boolean =>
  isAboutOneOf(TELEPHONES, header) && OF_MESSAGES.test(folded(header));

const status = (reads: StatusReading, more: { weak?: true; cells?: CellRule } = {}): ConsentColumn => ({
  to: 'status',
  reads,
  ...more,
});

const WEAK = { weak: true, cells: 'words' } as const;
const FLAGS = { weak: true, cells: 'flags' } as const;

/** The consent that the name of a column shows; null where it shows none. */
export function consentColumnOf(asWritten: string): ConsentColumn | null {
  const header = withoutAnswers(asWritten);
  const name = folded(header);
  if (STATUS_NAMES.has(name) || isMarketingStatus(name)) return status('status');
  if (SUBSCRIBED_NAMES.has(name)) return status('subscribed');
  if (CONFIRMATIONS.has(name)) return status('subscribed', { cells: 'confirmation' });
  if (LEFT_A_KIND.test(name)) return status('unsubscribed');
  // French services mark a dead address so (n'habite pas à l'adresse indiquée).
  if (name === 'npai') return status('bounced');
  const parts = wordsOf(header);
  const last = parts.at(-1) ?? '';
  const some = (set: ReadonlySet<string>): boolean => parts.some((word) => set.has(word));
  if (FOR_EVERYONE.test(name) || some(FIGURES)) return null;
  if (isOfAnotherChannel(header)) return null;
  const isStopList = STOP_LIST.test(name);
  const isOpposite = some(NEGATIONS) && !/donot/.test(name) && !NOT_AGREED.test(name) && !isStopList;
  const isCertain =
    !isOpposite &&
    parts.every((word, at) => isMadeOfVocabulary(word) || (word === 'id' && parts[at - 1] === 'campaign'));
  const isTime = TIMES.has(last) || TIME.test(last);
  const isReason = some(REASONS) || REASON.test(last);
  if (isStopList || NEGATIVE.test(name) || NOT_AGREED.test(name) || parts.includes('baja')) {
    if (!isCertain) return status('unsubscribed', WEAK);
    if (!isStopList && !ABOUT_LISTS.test(name) && !NOT_AGREED.test(name))
      return status('unsubscribed', parts.length === 1 ? FLAGS : WEAK);
    if (isTime) return { to: 'unsubscribedAt' };
    return status('unsubscribed', isReason ? { cells: 'anything' } : {});
  }
  if (SUBSCRIPTION_ENDED.test(name)) return status('unsubscribed', WEAK);
  if (COMPLAINT.test(name)) {
    if (!isCertain || isReason) return status('complained', WEAK);
    return status('complained', CERTAIN_COMPLAINT.test(name) ? {} : FLAGS);
  }
  if (BOUNCE.test(name)) {
    if (/soft|emailsbounced/.test(name)) return null;
    if (!isCertain) return status('bounced', WEAK);
    if (isReason) return status('bounced', HARD_BOUNCE.test(name) ? { cells: 'anything' } : WEAK);
    return status('bounced', CERTAIN_BOUNCE.test(name) ? {} : FLAGS);
  }
  const question = questionColumn(parts);
  if (question) return question;
  if (POSITIVE.test(name) || CONFIRMED.test(name)) {
    // A consent that is pending is none, and its person has not left.
    if (/pending|ausstehend|enattente|pendiente/.test(name)) return status('unsubscribed', WEAK);
    const endings = parts.filter(isEnding);
    // `Subscription No.` is a number; without the dot it may deny one.
    if (/\bno\.\s*$/i.test(header)) return null;
    if (endings.length > 0) {
      // Words that deny one another, and those of other subjects, are left to the person who imports.
      const isClear =
        endings.length === 1 && parts.every((word) => isEnding(word) || isMadeOfVocabulary(word));
      // The end of a consent may be to come.
      const mayLast = isTime && endings.some((word) => MAY_LAST.has(word));
      if (!isClear || mayLast || !ABOUT_LISTS.test(name)) return status('unsubscribed', WEAK);
      return isTime ? { to: 'unsubscribedAt' } : status('unsubscribed');
    }
    if (isTime) return { to: 'consentAt' };
    if (some(SOURCES)) return { to: 'consentSource' };
    if (some(OTHERS) && !/optin|consent/.test(name)) return null;
    if (isCertain) return status('subscribed', { weak: true });
    // Someone may have no annual subscription, and no consent to one thing, without having left anything.
    return status('subscribed', CONSENT.test(name) ? { weak: true, cells: 'confirmation' } : WEAK);
  }
  return null;
}

/** Subjects of columns whose values are words such as `confirmed` and `cancelled` too. */
const OTHER_SUBJECTS =
  /phone|^tel|telefon|mobil|handy|^fax|order|bestell|auftrag|commande|pedido|pric|preis|prix|precio|amount|betrag|summe|deposit|invoice|rechnung|factur|payment|zahlung|paiement|pago|deliver(?!ab)|liefer|shipping|shipment|versand|ticket|task|^case|lead|deal|project|projekt|account|konto|booking|buchung|reserv|appointment|termin|event|rsvp|attend|vat|tax|steuer|iban|hand$|licen[cs]e|lizenz|contract|vertrag|machine|device|vehicle|fahrzeug|product|produkt|course|kurs|note$|notes$|comment|notiz|remark/;

/**
 * True for a name that may ask for consent beside another subject, so that the answers in its cells may not
 * be read over.
 */
export function looksLikeConsent(header: string): boolean {
  const name = folded(withoutAnswers(header));
  const parts = wordsOf(header);
  const some = (set: ReadonlySet<string>): boolean => parts.some((word) => set.has(word));
  if (FOR_EVERYONE.test(name) || some(FIGURES) || isOfAnotherChannel(header)) return false;
  // `1` in a column of ids is no answer.
  if (parts.at(-1) === 'id') return false;
  const column = consentColumnOf(header);
  const isOfLists = ABOUT_LISTS.test(name) || STOP_LIST.test(name);
  const leavesLists = column?.to === 'status' && column.reads === 'unsubscribed' && isOfLists;
  return mayBeConsent(name) || leavesLists || (parts.includes('marketing') && !isAboutSomethingElse(header));
}

/** True for a column whose name has a subject that no word in its cells makes consent. */
export const isAboutSomethingElse = (header: string): boolean => OTHER_SUBJECTS.test(folded(header));

/** The status of all people in a file, by the columns that a service writes only for such files. */
export function everyoneByHeaders(headers: readonly string[]): 'unsubscribed' | 'bounced' | null {
  const names = new Set(headers.map(folded));
  if (names.has('cleantime')) return 'bounced';
  return names.has('unsubtime') ? 'unsubscribed' : null;
}

/** `contacts-without-bounces.csv` is the list of those who are left. */
const WITHOUT = words(
  'no not non never without excluding except exclude minus removed ohne keine nicht sans sin senza sem',
);

/** `Deleted newsletter subscribers` are people all the same. */
const OF_LISTS = /^(?:e|mail|email|mailing|newsletter)$/;
const RECORDS_OUT =
  /^(?:deleted|deactivated|disabled|inactive|unconfirmed|notcon|suspended|archived|junk|removals|geloescht\w*|geloscht\w*|inaktiv\w*|deaktiviert\w*)$/;
const PEOPLE =
  /^(?:members?|subscribers?|contacts?|recipients?|audience|list|liste|abonnenten|kontakte|empf(?:ae|a)nger)$/;
/** `Active and inactive contacts`, `Reactivate inactive contacts`; ActiveCampaign is a service. */
const STAND_TOO = /\b(?:re ?)?a[ck]tiv(?!e ?campaign)/;

/**
 * `Deleted subscribers.csv`: people whom a service no longer writes to. In `Suspended Coffee members.csv` the
 * word is about something else. `held.csv` of Lyris has no other word beside `held`, which is a surname too;
 * `Held 2024.csv` may be either one, and in doubt its people have not agreed.
 */
function isOfRecordsOut(parts: readonly string[]): boolean {
  const names = parts.filter((word) => !/^\d*$|^(?:csv|txt|export)$/.test(word));
  const [first = '', second] = names;
  if (second === undefined) return first === 'held' || RECORDS_OUT.test(first);
  if (STAND_TOO.test(names.join(' '))) return false;
  const told = names.filter((word) => !OF_LISTS.test(word));
  return told.some(
    (word, at) =>
      RECORDS_OUT.test(word) && (PEOPLE.test(told[at - 1] ?? '') || PEOPLE.test(told[at + 1] ?? '')),
  );
}

/**
 * The status of all people in a file, by the name that a service gives to it; `never`: they have not agreed.
 */
export function everyoneByFilename(
  filename: string,
): 'unsubscribed' | 'bounced' | 'complained' | 'never' | null {
  const parts = wordsOf(filename.split(/[\\/]/).at(-1) ?? '');
  const some = (pattern: RegExp): boolean => parts.some((word) => pattern.test(word));
  const isMailchimp = parts.includes('export') && (parts.includes('members') || parts.includes('audience'));
  const [first = '', second = ''] = parts;
  if (isMailchimp && (first === 'nonsubscribed' || (first === 'non' && second === 'subscribed')))
    return 'never';
  if (parts.some((word) => WITHOUT.has(word))) return null;
  // `contacts cleaned.csv` is what people call a list that they have tidied up.
  const isBounced = (isMailchimp && first === 'cleaned') || some(/^(?:hard)?bounce[sd]$/);
  if (isBounced && !parts.includes('soft')) return 'bounced';
  if (some(/^complaints?$|^spamreports?$/)) return 'complained';
  const hasLeft = some(
    /^unsub|^optouts?$|^blocklist|^blacklist|^suppress|^abgemeldet|^abmeld|^uitgeschreven|^desabonn|^desinscri/,
  );
  if (hasLeft) return 'unsubscribed';
  return isOfRecordsOut(parts) ? 'never' : null;
}

/**
 * True where a file is the list of opt-outs of HubSpot, in which every further column names a kind of email.
 */
export const isOptOutList = (headers: readonly string[]): boolean =>
  headers.some((header) => folded(header) === 'portalunsubscribe');
