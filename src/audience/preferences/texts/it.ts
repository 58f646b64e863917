import { WAY_OUT_WORDS } from '../../../mail/html/way-out-words.ts';
import type { PageTexts } from './en.ts';

export const it: PageTexts = {
  language: 'it',
  preferences: 'Preferenze e-mail',
  forAddress: (address) => `Per ${address}`,
  whatYouGet: 'Che cosa desidera ricevere',
  nothingOffered: 'Non ci sono liste tra cui scegliere.',
  save: 'Salva',
  saved: 'La sua scelta è stata salvata.',
  everythingOff: 'Annulla tutte le iscrizioni',
  offHint: 'Continuerà a ricevere ciò che richiede personalmente, come ricevute e nuove password.',
  isOff: 'Ha annullato tutte le iscrizioni.',
  again: 'Ricevi di nuovo le e-mail',
  isBack: 'Riceve di nuovo le e-mail.',
  isBlocked:
    'A questo indirizzo non vengono inviate e-mail, perché è stato segnalato come irraggiungibile o come non interessato a riceverle.',
  unsubscribe: WAY_OUT_WORDS.it,
  askUnsubscribe: 'Desidera non ricevere più queste e-mail?',
  unsubscribed: 'Iscrizione annullata',
  noMore: 'Non riceverà più queste e-mail. Può chiudere questa pagina.',
  isTest: 'Questo è un test',
  isTestHint:
    'Questo link si trova in un’e-mail di prova e non disiscrive nessuno. Nell’e-mail inviata a un pubblico disiscrive il destinatario.',
  chooseInstead: 'Scegli che cosa ricevere',
  confirm: 'Conferma',
  askConfirm: (list) => `Desidera ricevere «${list}»?`,
  confirmed: 'Iscrizione confermata',
  confirmedHint: (list) => `Da ora riceve «${list}». Può chiudere questa pagina.`,
  badLink: 'Questo link non è valido',
  badLinkHint: 'Lo apra di nuovo dall’e-mail, completo e senza modifiche.',
  mailSubject: (list) => `Confermi, per favore: ${list}`,
  mailText: (list, sender, url) =>
    `Questo indirizzo è stato inserito per ricevere «${list}» da ${sender}.\n\nPer confermare, apra questa pagina e prema il pulsante:\n${url}\n\nSe la richiesta non è sua, ignori questa e-mail: non verrà inviato nulla.\n`,
};
