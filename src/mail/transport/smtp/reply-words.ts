/**
 * The words of servers without enhanced codes, or with codes that say little. Every quantifier is bounded,
 * because the other server chose the text.
 */
import type { SubType } from '../transport.ts';

/**
 * The kind of failure of a fixed sentence of a large provider, whose status says something else; undefined
 * for any other.
 */
export const kindOfSentence = (text: string): SubType | undefined =>
  NO_MAILBOX.test(text.slice(0, LONGEST_TEXT)) ? 'NoEmail' : undefined;

// Microsoft 365, for an address that is not in the directory; Cisco's gateways; Yandex and others.
const NO_MAILBOX =
  /\b5\.4\.1 (?:\S{1,320} )?recipient address rejected: access denied|#5\.1\.0 address rejected|\b5\.7\.\d{1,3} (?:(?:\S{1,320} )?recipient address rejected: user unknown|no such user|unknown recipient|no mail ?box found)\b/i;

/** The kind of failure that the words of a reply name; undefined when they name none. */
export const kindOfWords = (text: string): SubType | undefined => {
  if (BLOCK_LIST.test(text.slice(0, LONGEST_TEXT))) return 'PolicyRejected';
  const words = wordsOf(text);
  return WORDS.find(([pattern]) => pattern.test(words))?.[1];
};

/** True when the words say that temporary failures lasted too long. */
export const saysTimeIsOver = (text: string): boolean => TIME_IS_OVER.test(wordsOf(text));

/** True for the bare words, without any of the reasons that servers add. */
export const saysUserUnknown = (text: string): boolean =>
  /\b(?:unknown user|user unknown)\b/i.test(wordsOf(text));

const LONGEST_TEXT = 2_000;

// Some servers say no more than the address of the list.
const BLOCK_LIST =
  /\b(?:spamhaus|spamcop|barracudacentral|sorbs|uceprotect|mailspike|abuseat)\.(?:org|net|com)\b/i;

// The codes at the beginning of each line interrupt sentences. Addresses, links and host names are chosen by
// others: the mailbox `unknown@receiver.example` and the server `spam-filter.receiver.example` say nothing
// about the reason.
const wordsOf = (text: string): string =>
  text
    .slice(0, LONGEST_TEXT)
    .replace(/\b[245]\d\d[- ](?:[245]\.\d{1,3}\.\d{1,3}(?![\d.]))?/g, ' ')
    .replace(/https?:\/\/\S{1,500}/gi, ' ')
    .replace(/<[^<>\s]{1,320}>/g, ' ')
    .replace(/[^\s@]{0,64}@\S{1,255}/g, ' ')
    .replace(/\b(?:[\w-]{1,63}\.){1,6}[a-z]{2,24}\b/g, ' ')
    .replace(/[\s_]+/g, ' ');

// Reasons that speak against a dead address come first. "550 user unknown" and "550 sender verification
// failed: user unknown" share most of their words, and taking the second for the first would suppress a
// person for a fault of the sender.
const WORDS: readonly (readonly [RegExp, SubType])[] = [
  [
    /\b(?:remitente|remetente|mittente|exp[eé]diteur|emetteur|absender)\b|émetteur|\bsender\b.{0,40}(?:reject|denied|refused|unknown|invalid|verif|not |n't |domain|block|disabled|fail)|(?:verif|reject|invalid|unknown|block|unauthori[sz]ed)\w{0,9} (?:the )?(?:envelope )?sender/i,
    'PolicyRejected',
  ],
  [
    /\b(?:(?:helo|ehlo) (?:command|name|argument)|rdns|ptr|callback|callout|return.?path|mail from)\b|reverse (?:dns|lookup)|client host|\byour (?:ips?|host|domain|(?:mail )?server|account|network)\b|\binvalid dns\b|\bresource record\b/i,
    'PolicyRejected',
  ],
  [
    /\b(?:mail ?box|recipient(?:'s)? account) (?:is |has been |was |currently ){0,2}(?:blocked|locked|frozen)\b/i,
    'MailboxDisabled',
  ],
  [
    /spamhaus|spamcop|\b(?:dns)?(?:rbl|bl)\b|\bblock(?:ed|ing|list\w{0,4})?\b|black ?list|(?<!not )\blisted (?:by|in|on|at)\b|reputation|\bspf\b|\bdkim\b|\bdmarc\b/i,
    'PolicyRejected',
  ],
  [
    /\brelay(?:ing)?\b (?:access )?(?:is )?(?:denied|not|prohibited|disabled|refused)|\b(?:not|cannot|can't|won't|unable to) relay|\bno such domain (?:here|at this location)\b/i,
    'PolicyRejected',
  ],
  [
    /access denied|\bnot (?:authori[sz]ed|allowed|permitted)|n't (?:authori[sz]ed|allowed|permitted)|unauthori[sz]ed|unauthenticated|\bpermission|\bpolic(?:y|ies)\b|prohibited|\bbanned\b|administrati|restricted|will not accept (?:delivery|mail)|recipient preferences/i,
    'PolicyRejected',
  ],
  [
    /rate.?limit|throttl|gr[ae]y.?list|try (?:again )?later|try again in|too (?:quickly|fast)|at a rate|unusual rate|frequency limit|(?:sending|relay|hourly|daily) (?:sending |relay |message |mail )?(?:quota|limit)|too many (?:connections|messages|recipients|sessions|errors|invalid|concurrent|simultaneous|e?mails)/i,
    'RateLimited',
  ],
  [
    /quota|(?:mail ?box|inbox|account|user|recipient|storage|disk|maildir|mail ?folder).{0,30}\b(?:is |was )?full\b|mail ?box exceed|(?:mail ?box|buzón|casilla|casella|bo[iî]te|postfach)\b.{0,30}\b(?:llen[oa]|pien[ao]|cheia|pleine?|voll)\b|mail ?box size|storage (?:limit|allocation)|out of (?:storage|space|disk)|(?:insufficient|not enough|no) .{0,20}(?:storage|space)/i,
    'MailboxFull',
  ],
  [
    /too (?:large|big)\b|exceed\w{0,3} .{0,40}\bsize|\bsize\b.{0,40}exceed|size limit|maximum (?:message |mail )?size/i,
    'MessageTooLarge',
  ],
  [
    /\b(?:spam|junk|unsolicited|bulk|virus|malware|phishing|infected|content|attachments?|headers?|reply-to|message-?id)\b|\bfrom:? (?:address|domain|field)\b/i,
    'ContentRejected',
  ],
  // A temporary condition proves nothing, such as a name server without an answer: "Host not found, try
  // again".
  [/temporar|\bfound, try again|verification in progress/i, 'General'],
  [
    /\bdomain\b.{0,40}(?:not (?:be )?found|does ?n[o']t exist|does not exist|unknown|not accept)|\b(?:unknown|no such|non-?existent) (?:domain|host)\b|\bhost\b (?:or domain name )?(?:not found|unknown)|\bhost\b .{0,10}not found|any host named|\bnxdomain\b|null ?mx|doesn't receive email|no smtp service|not accept (?:any )?mail|unroute?able domain/i,
    'DomainNotFound',
  ],
  [
    /(?:account|mail ?box|user|recipient|address|inbox)\b.{0,40}\b(?:disabled|inactive|suspended|deactivated|discontinued|terminated|no longer (?:active|in use|valid|available|accept\w{0,3}|in service)|closed)\b|\b(?:disabled|inactive|suspended|deactivated|discontinued) (?:account|mail ?box|user|recipient|address)/i,
    'MailboxDisabled',
  ],
  [
    /\b(?:no such|unknown|invalid|non-?exist(?:ent|ing)|unrecogni[sz]ed|undeliverable|illegal) (?:or illegal )?(?:local )?(?:user|recipient|mail ?box|address|account|alias|person|customer|local.?part)/i,
    'NoEmail',
  ],
  [
    /\b(?:user(?: ?name)?|recipient|rcpt|mail ?box|address|account|inbox|alias|addressee|person|customer|local.?part)\b.{0,60}\b(?:unknown|not (?:be )?(?:found|known|listed|recogni[sz]ed|valid|exist)|(?:does|do|did)(?:n[o']t| not) (?:exist|have)|no longer exists?|non-?existent|unavailable|invalid|undeliverable)/i,
    'NoEmail',
  ],
  [
    /\bno (?:mail ?box|account|user|recipient) (?:here|by|with|found|named|available)|(?:does(?:n't| not)|do not) have an? .{0,20}account|not our (?:customer|user)|invalid final delivery userid|unroute?able address|user lookup success but no user record|\brecip(?:ient)?not ?found|not (?:a )?(?:valid|known) (?:user|recipient|mail ?box|address)/i,
    'NoEmail',
  ],
  // Spanish, Portuguese, Italian, French, German and Polish.
  [
    /\b(?:usuario|usuário|destinatario|destinatário|utente|utilisateur|destinataire|benutzer|empf(?:ä|ae)nger)\b.{0,40}(?:desconocid|desconhecid|sconosciut|inconnu|unbekannt|nicht bekannt|inesistent|inexistent|n[oã]o? existe|non esiste|n'existe pas|existiert nicht)|\b(?:indirizzo|adresse|dirección) (?:inesistente|inconnue|unbekannt|inexistente|desconocida)|\bnie ma takiego (?:konta|u[zż]ytkownika)/i,
    'NoEmail',
  ],
  [
    /timed? ?out|connection (?:refused|reset|closed|lost)|lost connection|unreachable|network is down|host is down|no route|retry time|could not connect|can(?:'t|not) connect|not reachable|not responding|not accept our requests to connect/i,
    'ConnectionFailed',
  ],
];

const TIME_IS_OVER =
  /retry time(?:out)? (?:exceeded|not reached)|(?:envelope|message|delivery|mail|queue|time)\b.{0,20}\bexpired|expired\b.{0,20}\bqueue|too long in .{0,10}queue|(?:in the|on the) queue (?:for )?too long|\b(?:gave|given|giving) up after|retries? (?:exhausted|ended|ran out)|(?:could not|cannot|unable to|not) (?:be )?deliver(?:ed)?\b.{0,40}\b(?:for|within|after|in) (?:more than |the last )?\d+ (?:second|minute|hour|day)|hosts have been failing for a long time|after (?:multiple|several|many) (?:retries|attempts|tries)|delivery timeout|timeout was exceeded|message timed? ?out/i;
