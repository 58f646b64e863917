/** Answers that a header offers: `Subscribed (Y/N)`. */
const ANSWERS =
  /(?<![\p{L}\p{N}])(?:yes ?[/|] ?no|y ?[/|] ?n|yn|ja ?[/|] ?nein|j ?[/|] ?n|oui ?[/|] ?non|o ?[/|] ?n|s[ií] ?[/|] ?no|s ?[/|] ?n|true ?[/|] ?false|t ?[/|] ?f|1 ?[/|] ?0|0 ?[/|] ?1)(?![\p{L}\p{N}])/giu;

/** A header without the answers that it offers. */
export const withoutAnswers = (header: string): string => header.replace(ANSWERS, ' ');

const words = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/));

/**
 * The words, folded, of which a question about email to a person is made. With any other word it is about
 * something else too.
 */
const QUESTION_WORDS = words(`
  is are was do does did don t can cannot could may might should would we i he she they you me us our to be been by via per for with the a
  this and of from in out opt on or wish wishes want wants wanted like likes get gets send sent request requests requested receive receives receiving received
  allow allows allowed accept accepts accepted permit permits permitted permission agree agrees agreed consent consents consented
  happy ok okay yes subscribe subscribes subscribed subscription subscriptions subscriber subscribers status state flag
  email emails e mail mails emailed mailed mailing mailings emailable mailable contactable marketable contact contacts contacted
  newsletter newsletters marketing marketed promotional promo commercial bulk news updates offers communication communications messages
  customer customers user users member members person people recipient lead leads profile
  not no never non un stop
  darf durfen duerfen erlaubt erlaubnis erhalten erhalt empfangen bekommen angeschrieben kontaktiert werden mochte moechte will per
  recevoir recoit veut souhaite accepte accepter autorise les des le la par courriel courriels
  recibir recibe quiere acepta autoriza correo correos los las por electronico electronicos
  ricevere riceve vuole accetta posta ontvangen ontvangt`);

const LONGEST_WORD = 16;

const isMadeOf = (word: string): boolean => {
  const reached = [true];
  for (let end = 1; end <= word.length; end++)
    for (let begin = Math.max(0, end - LONGEST_WORD); begin < end && !reached[end]; begin++)
      reached[end] = reached[begin] === true && QUESTION_WORDS.has(word.slice(begin, end));
  return reached[word.length] === true;
};

/** The longest name that is a question. */
const LONGEST_NAME = 80;
const MAIL =
  /mail|^(?:can|may|ok to|okay to) (?:be )?contact|newsletter|marketing|marketable|contact(?:able|ed)|angeschrieben|courriel|correo|posta/;
const ASKS =
  /\bcan\b|\bmay\b|\bok(?:ay)?\b|allow|accept|permi|receiv|\bwant|\bwish|\blikes?\b|\bgets?\b|\bsend\b|agree|happy|able\b|consent|subscri|\bopt (?:in|out)\b|email ?marketing|darf|durfen|erlaub|erhalt|empfang|bekomm|recevoir|recoit|autoris|recibi|recibe|acepta|autoriza|ricev|accetta|ontvang/;
const REFUSES =
  /\b(?:no|not|never|non|without|cannot|stop|dont|don t|un)\b|\b(?:cannot|dont|stop|un(?:e?mail|contact|market)able)|opt out|donot/;
const SHORT_REFUSALS = /^(?:dnc|dne|dnm)$/;

/** The reading of a column whose header is a question. `weak`: the cells decide. */
interface QuestionColumn {
  readonly to: 'status';
  readonly reads: 'subscribed' | 'unsubscribed';
  readonly weak?: true;
}

/** The consent for which a header asks in words; null for every other header. `parts`: its words, folded. */
export function questionColumn(parts: readonly string[]): QuestionColumn | null {
  const text = parts.join(' ');
  if (text.length > LONGEST_NAME) return null;
  const rest = parts.filter((part) => !SHORT_REFUSALS.test(part));
  const isShort = rest.length < parts.length;
  if (!rest.every(isMadeOf)) return null;
  if (isShort) return { to: 'status', reads: 'unsubscribed' };
  if (!MAIL.test(text)) return null;
  const glued = /^(?:can|may|ok|get|send|want|wish|like)/.test(text) || /(?:ok|okay)$/.test(text);
  const refuses = REFUSES.test(text);
  if (!refuses && !glued && !ASKS.test(text)) return null;
  return { to: 'status', reads: refuses ? 'unsubscribed' : 'subscribed', weak: true };
}

/** Words in a name that may be about consent, also beside other subjects. */
const MAY_BE_CONSENT =
  /subscri|suscri|abonn|einwillig|zustimm|unsub|(?<![a-z])opt(?:ed|s|ing)?[^a-z]?(?:in|out)(?![a-z])|opt(?:ed)?(?:in|out)(?!ion|al)|consent|mailable|contactable|marketable|donot(?:e?mail|contact)|(?:mail|contact|communication)preference|preferences?$|mailfrequency|mailfrequenz|mailnotification|bulkmail|^werbung$/;

/** True for a folded name with a word about consent, so that yes and no in its cells may not be read over. */
export const mayBeConsent = (name: string): boolean => MAY_BE_CONSENT.test(name);
