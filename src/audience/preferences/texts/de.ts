import { WAY_OUT_WORDS } from '../../../mail/html/way-out-words.ts';
import type { PageTexts } from './en.ts';

export const de: PageTexts = {
  language: 'de',
  preferences: 'E-Mail-Einstellungen',
  forAddress: (address) => `Für ${address}`,
  whatYouGet: 'Was Sie bekommen möchten',
  nothingOffered: 'Es gibt keine Listen zur Auswahl.',
  save: 'Speichern',
  saved: 'Ihre Auswahl ist gespeichert.',
  everythingOff: 'Alles abbestellen',
  offHint: 'Was Sie selbst anfordern, etwa Belege oder neue Passwörter, bekommen Sie weiterhin.',
  isOff: 'Sie haben alles abbestellt.',
  again: 'Wieder E-Mails bekommen',
  isBack: 'Sie bekommen wieder E-Mails.',
  isBlocked:
    'An diese Adresse gehen keine E-Mails, weil sie als unerreichbar oder unerwünscht gemeldet wurde.',
  unsubscribe: WAY_OUT_WORDS.de,
  askUnsubscribe: 'Möchten Sie diese E-Mails nicht mehr bekommen?',
  unsubscribed: 'Sie sind abgemeldet',
  noMore: 'Sie bekommen keine dieser E-Mails mehr. Sie können diese Seite schließen.',
  isTest: 'Das ist ein Test',
  isTestHint:
    'Dieser Link steht in einer Test-E-Mail und meldet niemanden ab. In der E-Mail an eine Zielgruppe meldet er deren Empfänger ab.',
  chooseInstead: 'Auswählen, was Sie bekommen',
  confirm: 'Bestätigen',
  askConfirm: (list) => `Möchten Sie „${list}“ bekommen?`,
  confirmed: 'Sie stehen auf der Liste',
  confirmedHint: (list) => `Ab jetzt bekommen Sie „${list}“. Sie können diese Seite schließen.`,
  badLink: 'Dieser Link ist nicht gültig',
  badLinkHint: 'Öffnen Sie ihn noch einmal aus der E-Mail, ganz und unverändert.',
  mailSubject: (list) => `Bitte bestätigen: ${list}`,
  mailText: (list, sender, url) =>
    `Jemand, hoffentlich Sie selbst, möchte, dass diese Adresse „${list}“ von ${sender} bekommt.\n\nZum Bestätigen öffnen Sie diese Seite und drücken den Knopf:\n${url}\n\nWenn Sie das nicht waren, ignorieren Sie diese E-Mail: Es wird nichts gesendet.\n`,
};
