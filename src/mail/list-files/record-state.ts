import { withoutAnswers } from './consent-questions.ts';
import { HAS_MAIL, NEGATIONS } from './consent-vocabulary.ts';
import { folded, isBlank, wordMeaning, wordsOf } from './consent-words.ts';

/**
 * The state of the record of a person: `ended` tells that it has ended or does not work, such as `deleted_at`
 * of Ghost and `disabled` of phpList; `standing` that it still does, such as `enabled` of Acymailing.
 */
type RecordState = 'ended' | 'standing';

const words = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/));

/** Words, folded, by which a record has ended, is held, or has an address that does not work. */
const ENDED = words(`
  deleted removed disabled disable deactivated deactivation inactive inactivated cancelled canceled cancellation stop stopped ended terminated
  left suspended suspend blocked banned paused archived held hold onhold hidden deletion removal excluded invalid bad undeliverable unreachable
  quarantine quarantined deceased withdrawn revoked closed expired
  geloescht geloscht loeschung loschung entfernt deaktiviert deaktivierung inaktiv storniert stornierung beendet gestoppt blockiert gesperrt
  sperrung pausiert archiviert ausgetreten austritt ausgeschieden gekuendigt gekundigt kuendigung kundigung ungueltig ungultig verstorben
  geloschtam geloeschtam loschdatum loeschdatum austrittsdatum kuendigungsdatum kundigungsdatum
  supprime suppression desactive desactivation inactif annule annulation resilie resiliation bloque arrete archive invalide decede radie
  eliminado eliminacion borrado desactivado inactivo cancelado cancelacion anulado bloqueado suspendido archivado invalido fallecido
  eliminato eliminazione cancellato cancellazione rimosso disattivato disattivazione inattivo bloccato sospeso archiviato deceduto
  verwijderd gedeactiveerd uitgeschakeld inactief geblokkeerd opgezegd opzegdatum overleden
  removido excluido desativado inativo`);
/** Words, folded, by which a record still counts, or its address works. */
const STANDING = words(`
  enabled enable active activated activation accept accepted valid verified deliverable reachable alive
  aktiv aktiviert aktivierung gueltig gultig verifiziert zustellbar erreichbar
  actif active activation valide verifie activo activado valido verificado attivo attivato verificato actief geactiveerd geldig
  ativo ativado`);
/** Words, folded, of a person, of the record, and of the list that it is on. */
const OF_PEOPLE = words(`
  account konto user users benutzer contact kontakt contacto contatto subscriber member mitglied membre recipient empfaenger empfanger
  person profile profil record email mail address adresse list liste mailing newsletter marketing`);
/** Words beside them that give the name no other subject. */
const BESIDE = words(`
  is has was be been ist wurde est el la le the of from by for de du des del von vom am at on in e time timestamp date datum since seit depuis
  zeit zeitpunkt fecha data heure quando flag state status reason cause grund raison motivo code longer mehr`);

/** Words that are a place, a thing or an event as well: alone they tell too little. */
const NOUNS = words('stop hold archive left hidden removal closed');
/** Words of deals and cards too, unless the name has a word about people beside them. */
const OF_DEALS = words('closed expired');

const anyOf = (set: ReadonlySet<string>): string => [...set].join('|');
/** `deletedat`, `isactive`, `useractive` and `unverified`, in one word. */
const IN_ONE_WORD = new RegExp(
  `^(?:is|has|was|user|contact|subscriber|member|account|e?mail)?(un|not|non|nicht)?(?:(${anyOf(ENDED)})|(${anyOf(STANDING)}))(?:at|on|am|le|date|datum|time|since|reason|flag)?$`,
);

const OPPOSITE = { ended: 'standing', standing: 'ended' } as const;

function stateOfWord(word: string): RecordState | null {
  const [found, not, ended] = IN_ONE_WORD.exec(word) ?? [];
  if (found === undefined) return null;
  const state = ended !== undefined ? 'ended' : 'standing';
  return not === undefined ? state : OPPOSITE[state];
}

const isOfPeople = (word: string): boolean => OF_PEOPLE.has(word.replace(/\d+$/, ''));

/** The state of a record that a text tells, in a name or a cell; null where it tells of anything else. */
function stateOf(text: string): RecordState | null {
  let state: RecordState | null = null;
  let isNegated = false;
  for (const word of wordsOf(text)) {
    const told = stateOfWord(word);
    const meant = told && isNegated ? OPPOSITE[told] : told;
    if (meant === 'ended' || (meant && !state)) state = meant;
    else if (word === 'no' || NEGATIONS.has(word)) isNegated = true;
    else if (!meant && !isOfPeople(word) && !BESIDE.has(word)) return null;
  }
  return state;
}

/** The cells of a column as far as a question about it needs them. */
interface Cells {
  /** Different values; null where they are too many to tell. */
  readonly values: ReadonlyMap<string, number> | null;
  readonly rows: number;
  readonly blanks: number;
  readonly zeros: number;
  /** True where the numbers count something: they answer nothing. */
  readonly isFigures: boolean;
}

/** The state that a cell tells. `yes` and `no` answer its name; null is any other text. */
function cellSays(value: string, isFigures = false): RecordState | 'yes' | 'no' | null {
  if (isFigures && /^\d+$/.test(value)) return null;
  // Programs that know numbers alone write `1.0` and `0.0`.
  const meaning = wordMeaning(value.replace(/^([01])\.0$/, '$1'));
  if (meaning === 'yes' || meaning === 'no') return meaning;
  if (meaning !== null) return meaning === 'subscribed' ? 'standing' : 'ended';
  return NOUNS.has(folded(value)) ? null : stateOf(value);
}

/** A day, or the seconds of one. */
const DAY =
  /^(?:\d{4}[-./]\d\d?[-./]\d\d?|\d\d?[-./]\d\d?[-./](?:\d\d)?\d\d|\d\d?[-. ]+\p{L}+[-. ]+\d{4})(?!\d)|^[1-9]\d{8,}$/u;

/** True for a column about the record of a person, in which a cell says that it has ended. */
export function endsRecords(header: string, { values, rows, blanks, zeros, isFigures }: Cells): boolean {
  const name = withoutAnswers(header);
  const state = stateOf(name);
  const parts = wordsOf(name);
  if (state === null || (parts.some((word) => OF_DEALS.has(word)) && !parts.some(isOfPeople))) return false;
  const cells = [...(values?.keys() ?? [])].filter((value) => !isBlank(value));
  const said = cells.map((value) => cellSays(value, isFigures));
  if (state === 'standing') {
    if (said.includes('no') || said.includes('ended')) return true;
    if (values === null && zeros > 0 && !isFigures) return true;
    // Beside a yes an empty cell is a no. Beside a date it tells little: `Active since` may be filled in by
    // hand. A verification is written by a program, and without its date the address was never verified.
    const isVerification = /verifi/.test(folded(name)) && !parts.includes('by');
    return (
      blanks > 0 && blanks < rows && (isVerification || said.includes('yes') || said.includes('standing'))
    );
  }
  if (values === null) return true;
  // A `Mail Stop` is a place as well.
  const isNoun = NOUNS.has(folded(name).replace(/^mail/, ''));
  return cells.some((value, at) => {
    const says = said[at] ?? null;
    if (says === null) return !isNoun || DAY.test(value);
    return says === 'yes' || (says === 'ended' && folded(value) !== 'none');
  });
}

/** Words of names whose values are states of a person or of a subscription. */
const OF_STATES = words(`
  status state type kind statut etat estado tipo stato zustand typ art subscriber subscribers subscription member recipient
  reception abonnent empfaenger empfanger`);
/** Words beside them that leave open whether a subscription ends with the state: `Customer status`. */
const OF_RELATIONS = words(`
  customer customers client kunde kunden cliente membership mitgliedschaft registration signup verification confirmation`);
/** `statecode` of Dynamics and `Mitgliedsstatus`, in one word. */
const STATE_IN_ONE_WORD = new RegExp(
  `^(?:(?:${anyOf(OF_PEOPLE)}|${anyOf(OF_RELATIONS)})s?)?(?:${anyOf(OF_STATES)})(?:code)?$`,
);
/** Values that are states of anything. */
const OF_ANYTHING = words('none unknown notset waiting validating wartend offen');

/** True for a name of states whose other words, if any, are about people: `Seat type` is not one. */
function isOfStates(header: string): boolean {
  const parts = wordsOf(header);
  const isOfState = (word: string): boolean => STATE_IN_ONE_WORD.test(word);
  const isBeside = (word: string): boolean => isOfPeople(word) || OF_RELATIONS.has(word) || BESIDE.has(word);
  return parts.some(isOfState) && parts.every((word) => isOfState(word) || isBeside(word));
}

/** True for a value such as `unconfirmed` or `removed` in a column of states, such as `Type` or `State`. */
export const isStateOut = (header: string, value: string): boolean =>
  (HAS_MAIL.test(folded(header)) || isOfStates(header)) &&
  cellSays(value) === 'ended' &&
  !OF_ANYTHING.has(folded(value));
