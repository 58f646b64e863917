/** The consent that a cell states. `never`: the person has not agreed, and has not left either. */
export type Meaning = 'subscribed' | 'never' | 'unsubscribed' | 'bounced' | 'complained' | 'yes' | 'no';

const list = (text: string): readonly string[] => text.trim().split(/\s+/);

/**
 * The words that services and people write, folded: English, German, French, Spanish, and the usual ones of
 * their neighbours. The table in docs/imports.md shows them.
 */
export const WORDS: Readonly<Record<Meaning, readonly string[]>> = {
  subscribed:
    list(`allow allowed subscribed active confirmed enabled optin optedin optedinconfirmed doubleoptin singleoptin express expressconsent
    explicit implied marketingcontact marketable unengagedmarketable whitelisted resubscribed abonniert angemeldet bestaetigt bestatigt aktiv eingetragen aktiviert
    abonne inscrit actif confirme suscrito suscripto activo confirmado alta inscrito iscritto attivo confermato ativo inscrita
    geabonneerd actief`),
  never:
    list(`nonsubscribed notsubscribed neversubscribed unconfirmed notconfirmed pending pendingconfirmation pendingoptin waiting
    validating notset noconsent none unknown transactional transactionalonly nonmarketingcontact nonmarketing nonmarketable unengagednonmarketable unactivated notactivated held onhold disabled archived deleted removed softbounce
    softbounced temporarilyhold unbestaetigt unbestatigt ausstehend offen wartend archiviert geloscht geloescht nonconfirme enattente
    nonabonne noninscrit pendiente noconfirmado nosuscrito inattesa nonconfermato pendente`),
  unsubscribed:
    list(`donotallow notallowed disallow disallowed unsubscribed unsubscribe unsubscribes unsub optout optedout optedoutofemail inactive left cancelled canceled
    blocklisted blocklist blacklisted blacklist blocked suppressed excluded donotmail donotemail donotcontact nomail noemail noemails unsubscribers optouts suppressionlist suspended suspend
    withdrawn revoked
    denied declined manuallyunsubscribed listunsubscribed globallyunsubscribed abgemeldet abbestellt ausgetragen gekuendigt gekundigt
    gesperrt blockiert inaktiv deaktiviert widerrufen widersprochen desabonne desinscrit inactif bloque resilie oppose desuscrito
    desuscripto cancelado inactivo bloqueado baja dadodebaja disiscritto annullato inattivo bloccato descadastrado inativo
    afgemeld uitgeschreven inactief wypisany avregistrerad`),
  bounced:
    list(`bounced bounce bounces bouncing bounceback bouncebacked bybounces hardbounce hardbounced hardbounces cleaned undeliverable invalid invalidemail
    nonexistent unreachable unzustellbar nichtzustellbar ungueltig ungultig bereinigt rejete invalide rebond rebotado rebote invalido noentregable
    rimbalzato nonvalido`),
  complained:
    list(`complained complaint complaints spammed abused complainer spam spamcomplaint spamcomplaints spamreport spamreported markedasspam
    reportedspam contactflaggedasspam junk abuse abusecomplaint beschwerde beschwert spambeschwerde plainte signalecommespam queja
    denunciado`),
  yes: list(`yes y true t 1 on x checked ja j wahr oui o vrai si s verdadero cierto vero sim verdadeiro waar tak prawda kylla ano igen
    evet да ✓ ✔ ☑`),
  no: list(`no n false f 0 off unchecked nein falsch non faux falso nao nee onwaar nie falsz nej nei ei ne nem hayir never niemals jamais
    nunca нет ✗ ✘ ☐`),
};

const MEANINGS = new Map<string, Meaning>(
  Object.entries(WORDS).flatMap(([meaning, words]) =>
    words.map((word): [string, Meaning] => [word, meaning as Meaning]),
  ),
);

/** `Désabonné(e)` → `desabonnee`: letters, digits and check marks alone, without case and marks. */
export const folded = (text: string): string =>
  text
    .replaceAll('ß', 'ss')
    .normalize('NFD')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}✓✔☑✗✘☐]/gu, '');

/** The words of a header, folded: `emailOptOut` → `email`, `opt`, `out`. */
export const wordsOf = (header: string): readonly string[] =>
  header
    .replace(/(\p{Ll})(\p{Lu})|(\p{Lu})(?=\p{Lu}\p{Ll})/gu, '$1$3 $2')
    .split(/[^\p{L}\p{N}]+/u)
    .map(folded)
    .filter((word) => word !== '');

/** Parts of longer texts that always mean the same. Nothing is ever taken for consent by a part of it. */
const PARTS: readonly (readonly [RegExp, Meaning])[] = [
  [/soft.?bounce|temporar|transient/, 'never'],
  [/complain|spam|abuse|beschwer|plainte|queja/, 'complained'],
  [
    /un-?subscri|opt(?:ed)?[ _-]?out|abgemeldet|abmeldung|abbestell|ausgetragen|d[ée]sabonn|d[ée]sinscri|desuscri|de baja|block ?list|black ?list|do not (?:e-?)?mail|suppress/,
    'unsubscribed',
  ],
  [
    /bounce|\bcleaned\b|undeliver|unzustellbar|does ?n.t exist|does not exist|unknown user|user unknown|rebot/,
    'bounced',
  ],
];

/** `never complained`: a part of such a text says the opposite of what the text says. */
const NEGATION =
  /(?<!do )\b(?:not|no|never|non|without|nicht|kein\w*|nie|niemals|ohne|pas|jamais|sans|sin|nunca)\b(?! such|.*exist)/;

/** The longest text that is looked through for what it says. */
const LONGEST_SENTENCE = 1_000;

/**
 * A word of the table, folded. `Nicht-Marketing-Kontakt` and `Contacto no de marketing` are the
 * `Non-marketing contact` that HubSpot translates.
 */
function tableWord(text: string): string {
  const word = folded(text);
  if (!/marketing/.test(word) || !/kontakt|contact|contat/.test(word)) return word;
  const rest = word.replace(/marketing|kontakt|contacto?|contatto|contato/g, '');
  if (/^(?:de|di|do)?$/.test(rest)) return 'marketingcontact';
  const isNone = /^(?:que)?(?:nicht|kein|non?|niet|geen|nao|not)(?:es?|relacionadoa)?(?:de|di|do)?$/.test(
    rest,
  );
  return isNone ? 'nonmarketingcontact' : word;
}

/** The meaning of a word or a phrase of the table; null for every other text. */
export const wordMeaning = (text: string): Meaning | null =>
  text.length > 64 ? null : (MEANINGS.get(tableWord(text)) ?? null);

/** The consent that a text states, as a word or in a part of it; null when the table does not know it. */
export function meaningOf(text: string): Meaning | null {
  const word = wordMeaning(text);
  if (word) return word;
  const lower = text.slice(0, LONGEST_SENTENCE).toLowerCase();
  return NEGATION.test(lower) ? null : (PARTS.find(([pattern]) => pattern.test(lower))?.[1] ?? null);
}

/**
 * The meaning of a text about failed mail, also by its reply code (RFC 5321, 4.2; RFC 3463). In other columns
 * such a code is a number.
 */
export function reasonMeaning(text: string): Meaning | null {
  const lower = text.slice(0, LONGEST_SENTENCE).toLowerCase();
  if (/^(?:hard|permanent)$/.test(lower)) return 'bounced';
  if (/^soft\b|^4\d\d\b|\b4\.\d{1,3}\.\d{1,3}\b/.test(lower)) return 'never';
  const said = meaningOf(text);
  if (said) return said;
  const isDead =
    /^5\d\d\b|\b5\.\d{1,3}\.\d{1,3}\b|does ?n.t exist|does not exist|no such (?:user|mailbox)/.test(lower);
  return isDead ? 'bounced' : null;
}

/** True for a text that means no value: `NULL`, `n/a`, `-`, `[]`, and the date of zeros that MySQL writes. */
export const isBlank = (text: string): boolean =>
  /^(?:[-–—._/\s]*|\[\]|\{\})$/.test(text) ||
  (text.length <= 64 && /^(?:null|nil|na|nan|undefined|0{8,})$/.test(folded(text)));

/**
 * Words that tell of a list and of nothing else: `cancelled`, `inactive` and `left` tell of orders, accounts
 * and hands as well.
 */
const OF_LISTS = new Set(
  list(`unsubscribed unsubscribe unsubscribes unsub optout optedout optedoutofemail donotmail donotemail donotcontact
    manuallyunsubscribed listunsubscribed globallyunsubscribed blocklisted blacklisted nomail noemail noemails unsubscribers optouts suppressionlist nonmarketingcontact nonsubscribed notsubscribed neversubscribed
    abgemeldet abbestellt ausgetragen desabonne desinscrit desuscrito desuscripto dadodebaja disiscritto descadastrado afgemeld
    uitgeschreven wypisany avregistrerad nonabonne noninscrit nosuscrito`),
);

/**
 * Words that tell of mail to a person, unless the name of their column has another subject, such as a
 * payment.
 */
const OF_MAIL = new Set(
  list(`suppressed cleaned bounced hardbounce hardbounced hardbounces undeliverable invalidemail unzustellbar nichtzustellbar
    rebotado noentregable complained complaint complainer spamcomplaint spamcomplaints spamreport spamreported markedasspam reportedspam
    contactflaggedasspam abusecomplaint beschwert spambeschwerde signalecommespam noconsent blocklist blacklist`),
);

/** True for a word that can only mean that a person has left a list, or was never on it. */
export const isListWord = (text: string): boolean => text.length <= 64 && OF_LISTS.has(tableWord(text));

/** True for a word by which a person may not be written to, in a column about the person. */
export const isLeavingWord = (text: string): boolean =>
  text.length <= 64 && (OF_LISTS.has(folded(text)) || OF_MAIL.has(folded(text)));

/** True for a text that begins with such a word: `Unsubscribed by admin`, `Do not contact (2024)`. */
export function beginsWithLeaving(text: string): boolean {
  const [one = '', two = '', three = ''] = text.slice(0, 64).split(/[^\p{L}\p{N}]+/u, 3);
  return isLeavingWord(text) || [one, one + two, one + two + three].some(isListWord);
}

/** The words that a person's leaving is stored by, the weakest first. */
export const LEAVINGS = ['unsubscribed', 'bounced', 'complained'] as const;
export type LeaveReason = (typeof LEAVINGS)[number];

/** The stronger of two; null is none. */
export const stronger = (one: LeaveReason | null, other: LeaveReason | null): LeaveReason | null =>
  (one ? LEAVINGS.indexOf(one) : -1) >= (other ? LEAVINGS.indexOf(other) : -1) ? one : other;

/**
 * The statuses of a contact. Further right is stronger: only the person's consent leads back, and never from
 * a complaint.
 */
export const CONTACT_STATUSES = ['subscribed', ...LEAVINGS] as const;
