import { HAS_MAIL } from './consent-vocabulary.ts';
import { folded, isBlank, wordMeaning, wordsOf } from './consent-words.ts';

/**
 * A column about the record of a person: `ended` tells that it has ended or does not work, such as
 * `deleted_at` of Ghost and `disabled` of phpList; `standing` that it still does, such as `enabled` of
 * Acymailing.
 */
export type RecordState = 'ended' | 'standing';

const words = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/));

/** Words, folded, by which a record has ended, is held, or has an address that does not work. */
const ENDED = words(`
  deleted removed disabled disable deactivated deactivation inactive inactivated cancelled canceled cancellation stop stopped ended terminated
  left suspended suspend blocked banned paused archived held hold onhold hidden deletion removal excluded invalid bad undeliverable unreachable
  quarantine quarantined deceased withdrawn revoked closed
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
/** Words beside them that give the name no other subject. */
const BESIDE = words(`
  is has was be been ist wurde est el la le the of from by for de du des del von vom am at on in time timestamp date datum since seit depuis
  zeit zeitpunkt fecha data heure quando flag state status account konto user users benutzer contact kontakt contacto contatto subscriber
  member mitglied membre recipient empfaenger empfanger person profile profil record email mail e address adresse reason cause grund raison
  motivo marketing`);

/** Names that may be a place or a thing as well: their cells have to say more. */
const NOUNS = words('stop hold archive left');

const anyOf = (set: ReadonlySet<string>): string => [...set].join('|');
/** `deletedat`, `isactive` and `useractive`, in one word. */
const IN_ONE_WORD = new RegExp(
  `^(?:is|has|was|user|contact|subscriber|member|account|e?mail)?(?:(${anyOf(ENDED)})|(${anyOf(STANDING)}))(?:at|on|am|le|date|datum|time|since|reason|flag)?$`,
);

function stateOfWord(word: string): RecordState | null {
  const [, ended, standing] = IN_ONE_WORD.exec(word) ?? [];
  return ended !== undefined ? 'ended' : standing !== undefined ? 'standing' : null;
}

/** The state of a person's record that the name of a column tells; null where it tells of anything else. */
function recordStateOf(header: string): RecordState | null {
  let state: RecordState | null = null;
  for (const word of wordsOf(header)) {
    const told = stateOfWord(word);
    if (told === 'ended' || (told && !state)) state = told;
    else if (!told && !BESIDE.has(word.replace(/\d+$/, ''))) return null;
  }
  return state;
}

/** The cells of a column as far as a question about it needs them. */
interface Cells {
  /** Different values; null where they are too many to tell. */
  readonly values: ReadonlyMap<string, number> | null;
  readonly rows: number;
  /** Cells that are empty or 0. */
  readonly blanks: number;
}

const denies = (value: string): boolean => {
  const meaning = wordMeaning(value);
  return meaning !== null && meaning !== 'yes' && meaning !== 'subscribed';
};

/** True for a column about the record of a person, in which a cell says that it has ended. */
export function endsRecords(header: string, { values, rows, blanks }: Cells): boolean {
  const state = recordStateOf(header);
  if (state === null) return false;
  if (blanks === rows) return false;
  const isNoun = NOUNS.has(folded(header));
  if (state === 'standing') return blanks > 0 || [...(values?.keys() ?? [])].some(denies);
  if (values === null) return true;
  return [...values.keys()].some((value) => {
    const meaning = wordMeaning(value);
    if (isNoun && meaning === null && !/^\d/.test(value)) return false;
    return !isBlank(value) && folded(value) !== 'none' && meaning !== 'no' && meaning !== 'subscribed';
  });
}

/** Words of names whose values are states of a person or of a subscription. */
const OF_STATES = words(`
  status state type kind statut etat estado tipo stato zustand typ art subscriber subscribers subscription member recipient reception
  abonnent empfaenger empfanger`);
/** Values that are states of anything. */
const OF_ANYTHING = words('none unknown notset waiting validating wartend offen');

/** True for a value such as `unconfirmed` or `removed` in a column of states, such as `Type` or `State`. */
export function isStateOut(header: string, value: string): boolean {
  if (!HAS_MAIL.test(folded(header)) && !wordsOf(header).some((word) => OF_STATES.has(word))) return false;
  return denies(value) && wordMeaning(value) !== 'no' && !OF_ANYTHING.has(folded(value));
}
