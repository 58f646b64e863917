import { WAY_OUT_WORDS } from '../../../mail/html/way-out-words.ts';
import type { PageTexts } from './en.ts';

export const sv: PageTexts = {
  language: 'sv',
  preferences: 'E-postinställningar',
  forAddress: (address) => `För ${address}`,
  whatYouGet: 'Vad du vill få',
  nothingOffered: 'Det finns inga listor att välja mellan.',
  save: 'Spara',
  saved: 'Ditt val har sparats.',
  everythingOff: 'Avsluta alla prenumerationer',
  offHint: 'Du får fortfarande det som du själv begär, till exempel kvitton och nya lösenord.',
  isOff: 'Du har avslutat alla prenumerationer.',
  again: 'Få e-post igen',
  isBack: 'Du får e-post igen.',
  isBlocked:
    'Ingen e-post skickas till den här adressen, eftersom den har rapporterats som onåbar eller e-post dit som oönskad.',
  unsubscribe: WAY_OUT_WORDS.sv,
  askUnsubscribe: 'Vill du inte längre få de här mejlen?',
  unsubscribed: 'Prenumerationen är avslutad',
  noMore: 'Du får inte fler sådana mejl. Du kan stänga den här sidan.',
  isTest: 'Det här är ett test',
  isTestHint:
    'Den här länken finns i ett testmejl och avregistrerar ingen. I mejlet till en målgrupp avregistrerar den mottagaren.',
  chooseInstead: 'Välj vad du får',
  confirm: 'Bekräfta',
  askConfirm: (list) => `Vill du få ”${list}”?`,
  confirmed: 'Du finns på listan',
  confirmedHint: (list) => `Från och med nu får du ”${list}”. Du kan stänga den här sidan.`,
  badLink: 'Länken är inte giltig',
  badLinkHint: 'Öppna den igen från mejlet, hel och oförändrad.',
  mailSubject: (list) => `Bekräfta: ${list}`,
  mailText: (list, sender, url) =>
    `Den här adressen har angetts för att få ”${list}” från ${sender}.\n\nBekräfta genom att öppna den här sidan och trycka på knappen:\n${url}\n\nOm det inte var du kan du bortse från det här mejlet: ingenting skickas.\n`,
};
