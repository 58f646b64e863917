import { counted } from '../../../../../../platform/text/plurals.ts';
import type { EntranceWords } from './en.ts';

export const it: EntranceWords = {
  language: 'it',
  invited: 'Invito a Posthorn',
  join: (workspace) => `Invito a ${workspace}`,
  invitation: ({ by, workspace, role, email, until }) =>
    `${by === null ? 'Ha ricevuto un invito' : `${by} la invita`} all’area di lavoro ${workspace} con il ruolo «${role}». L’invito è per ${email}. Scadenza: ${until}.`,
  signedInAs: (email) => `Ha effettuato l’accesso come ${email}.`,
  accept: 'Accetta l’invito',
  cannotAccept: 'Questo invito non può essere accettato',
  cannotShow: 'Al momento l’invito non può essere mostrato',
  signInInstead: 'Accedi invece con un account esistente',
  createInstead: 'Crea invece un account',
  name: 'Il suo nome',
  email: 'Indirizzo e-mail',
  password: 'Password',
  passwordHint: 'Almeno 12 caratteri. Alcune parole senza legame tra loro sono la scelta migliore.',
  code: 'Codice dell’app di autenticazione',
  codeHint: 'Le sei cifre della sua app di autenticazione o un codice di recupero.',
  signIn: 'Accedi',
  signInTitle: 'Accedi a Posthorn',
  passkey: 'Accedi con una passkey',
  liveView: 'Apri la vista in tempo reale con una chiave API',
  lockedOut: 'Non riesce ad accedere?',
  newPasswordBy:
    'Il gestore del server può mostrare un link per una nuova password. Non serve nessuna e-mail:',
  lostFactorBy:
    'Se l’app di autenticazione è andata persa e non resta nessun codice di recupero, aggiunga questo al comando:',
  choosePassword: 'Scelga una nuova password',
  choosePasswordHint: 'Tutte le sue sessioni vengono chiuse. Acceda con la nuova password.',
  setPassword: 'Imposta la password',
  openAgain: 'Apra di nuovo il link',
  openAgainHint:
    'La parte segreta del link è stata tolta dall’indirizzo di questa pagina perché resti riservata. Apra di nuovo il link completo.',
  invitationNeedsLink: 'Per un invito serve il link che ha ricevuto.',
  resetNeedsLink: 'Per una nuova password serve il link che ha ricevuto.',
  toSignIn: 'Vai all’accesso',
  why: {
    signedOut: 'La sessione è stata chiusa.',
    sessionEnded: 'La sua sessione è terminata. Acceda di nuovo.',
    passwordSet: 'La password è stata cambiata. La usi per accedere.',
    alreadySetUp: 'Il primo account esiste già.',
  },
  form: {
    working: 'Attenda…',
    showPassword: 'Mostra la password',
    strengths: [
      'Debole: facile da indovinare',
      'Discreta: una password più lunga è più sicura',
      'Buona',
      'Ottima',
    ],
  },
  problems: {
    spent:
      'Questo link è già stato usato o è scaduto. Ne chieda un altro alla persona che glielo ha inviato.',
    taken: 'Esiste già un account con questo indirizzo. Acceda con quello e poi apra di nuovo il link.',
    full: 'Fa parte del numero massimo di aree di lavoro. Prima ne abbandoni o ne elimini una.',
    noWorkspace: 'Questo account non fa parte di nessuna area di lavoro. Chieda un invito.',
    credentials: 'L’indirizzo o la password non sono corretti.',
    code: 'Inserisca un nuovo codice della sua app di autenticazione o un codice di recupero. Ciascuno funziona una volta.',
    tooSoon: (seconds) =>
      counted('it', seconds, {
        one: 'Troppi tentativi. Riprovi tra # secondo.',
        many: 'Troppi tentativi. Riprovi tra # di secondi.',
        other: 'Troppi tentativi. Riprovi tra # secondi.',
      }),
    name: 'Inserisca il suo nome, senza caratteri invisibili.',
    password:
      'Usi da 12 a 128 caratteri, senza sequenze né password comuni, e non solo il suo nome e il suo indirizzo.',
    away: 'Il servizio non è raggiungibile. Riprovi più tardi.',
  },
};
