import { counted } from '../../../../../../platform/text/plurals.ts';
import type { EntranceWords } from './en.ts';

export const de: EntranceWords = {
  language: 'de',
  invited: 'Sie sind zu Posthorn eingeladen',
  join: (workspace) => `Einladung zu ${workspace}`,
  invitation: ({ by, workspace, role, email, until }) =>
    `${by === null ? 'Sie sind' : `${by} hat Sie`} mit der Rolle „${role}“ in den Arbeitsbereich ${workspace} eingeladen. Die Einladung gilt für ${email} und endet am ${until}.`,
  signedInAs: (email) => `Sie sind als ${email} angemeldet.`,
  accept: 'Einladung annehmen',
  cannotAccept: 'Diese Einladung kann nicht angenommen werden',
  cannotShow: 'Die Einladung kann gerade nicht angezeigt werden',
  signInInstead: 'Stattdessen mit einem bestehenden Konto anmelden',
  createInstead: 'Stattdessen ein Konto anlegen',
  name: 'Ihr Name',
  email: 'E-Mail-Adresse',
  password: 'Passwort',
  passwordHint: 'Mindestens 12 Zeichen. Am besten sind einige Wörter ohne Zusammenhang.',
  code: 'Code der Authenticator-App',
  codeHint: 'Die sechs Ziffern Ihrer Authenticator-App oder ein Wiederherstellungscode.',
  signIn: 'Anmelden',
  signInTitle: 'Bei Posthorn anmelden',
  passkey: 'Mit einem Passkey anmelden',
  liveView: 'Live-Ansicht mit einem API-Schlüssel öffnen',
  lockedOut: 'Ausgesperrt?',
  newPasswordBy:
    'Der Betreiber des Servers kann einen Link für ein neues Passwort ausgeben. Dafür ist keine E-Mail nötig:',
  lostFactorBy:
    'Wenn die Authenticator-App verloren und kein Wiederherstellungscode übrig ist, ergänzen Sie den Befehl um:',
  choosePassword: 'Neues Passwort wählen',
  choosePasswordHint: 'Sie werden überall abgemeldet. Melden Sie sich mit dem neuen Passwort an.',
  setPassword: 'Passwort festlegen',
  openAgain: 'Öffnen Sie den Link noch einmal',
  openAgainHint:
    'Der geheime Teil des Links wurde aus der Adresse dieser Seite entfernt, damit er geheim bleibt. Öffnen Sie den ganzen Link noch einmal.',
  invitationNeedsLink: 'Für eine Einladung brauchen Sie den Link, den Sie bekommen haben.',
  resetNeedsLink: 'Für ein neues Passwort brauchen Sie den Link, den Sie bekommen haben.',
  toSignIn: 'Zur Anmeldung',
  why: {
    signedOut: 'Sie sind abgemeldet.',
    sessionEnded: 'Ihre Sitzung ist beendet. Melden Sie sich wieder an.',
    passwordSet: 'Das Passwort ist geändert. Melden Sie sich damit an.',
    alreadySetUp: 'Das erste Konto gibt es schon.',
  },
  form: {
    working: 'Bitte warten …',
    showPassword: 'Passwort anzeigen',
    strengths: ['Schwach: leicht zu erraten', 'Mittel: Ein längeres Passwort ist sicherer', 'Gut', 'Stark'],
  },
  problems: {
    spent:
      'Dieser Link wurde schon benutzt oder ist abgelaufen. Bitten Sie die Person, die ihn geschickt hat, um einen neuen.',
    taken:
      'Ein Konto mit dieser Adresse gibt es schon. Melden Sie sich damit an und öffnen Sie den Link dann noch einmal.',
    full: 'Sie gehören zu so vielen Arbeitsbereichen, wie eine Person haben kann. Verlassen oder löschen Sie zuerst einen davon.',
    noWorkspace: 'Dieses Konto gehört zu keinem Arbeitsbereich. Bitten Sie um eine Einladung.',
    credentials: 'Die Adresse oder das Passwort ist falsch.',
    code: 'Geben Sie einen neuen Code Ihrer Authenticator-App oder einen Wiederherstellungscode ein. Jeder funktioniert einmal.',
    tooSoon: (seconds) =>
      counted('de', seconds, {
        one: 'Zu viele Versuche. Versuchen Sie es in # Sekunde erneut.',
        other: 'Zu viele Versuche. Versuchen Sie es in # Sekunden erneut.',
      }),
    name: 'Geben Sie Ihren Namen ein, ohne unsichtbare Zeichen.',
    password:
      'Verwenden Sie 12 bis 128 Zeichen, keine Reihe wie 1234, kein häufiges Passwort und mehr als Ihren Namen und Ihre Adresse.',
    away: 'Der Dienst ist nicht erreichbar. Versuchen Sie es später erneut.',
  },
};
