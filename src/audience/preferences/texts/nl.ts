import { WAY_OUT_WORDS } from '../../../mail/html/way-out-words.ts';
import type { PageTexts } from './en.ts';

export const nl: PageTexts = {
  language: 'nl',
  preferences: 'E-mailvoorkeuren',
  forAddress: (address) => `Voor ${address}`,
  whatYouGet: 'Wat u wilt ontvangen',
  nothingOffered: 'Er zijn geen lijsten om uit te kiezen.',
  save: 'Opslaan',
  saved: 'Uw keuze is opgeslagen.',
  everythingOff: 'Afmelden voor alles',
  offHint: 'Wat u zelf aanvraagt, zoals bonnen en nieuwe wachtwoorden, blijft u ontvangen.',
  isOff: 'U bent overal voor afgemeld.',
  again: 'Weer e-mails ontvangen',
  isBack: 'U ontvangt weer e-mails.',
  isBlocked:
    'Naar dit adres worden geen e-mails gestuurd, omdat is gemeld dat het onbereikbaar is of dat er geen e-mails gewenst zijn.',
  unsubscribe: WAY_OUT_WORDS.nl,
  askUnsubscribe: 'Wilt u deze e-mails niet meer ontvangen?',
  unsubscribed: 'U bent afgemeld',
  noMore: 'U ontvangt deze e-mails niet meer. U kunt deze pagina sluiten.',
  isTest: 'Dit is een test',
  isTestHint:
    'Deze link staat in een testmail en meldt niemand af. In de mail aan een doelgroep meldt hij de ontvanger af.',
  chooseInstead: 'Kiezen wat u ontvangt',
  confirm: 'Bevestigen',
  askConfirm: (list) => `Wilt u ‘${list}’ ontvangen?`,
  confirmed: 'U staat op de lijst',
  confirmedHint: (list) => `Vanaf nu ontvangt u ‘${list}’. U kunt deze pagina sluiten.`,
  badLink: 'Deze link is niet geldig',
  badLinkHint: 'Open hem opnieuw vanuit de e-mail, volledig en ongewijzigd.',
  mailSubject: (list) => `Bevestig alstublieft: ${list}`,
  mailText: (list, sender, url) =>
    `Dit adres is opgegeven om ‘${list}’ van ${sender} te ontvangen.\n\nOpen deze pagina en klik op de knop om te bevestigen:\n${url}\n\nHebt u dit niet gedaan? Negeer dan deze e-mail: er wordt niets verstuurd.\n`,
};
