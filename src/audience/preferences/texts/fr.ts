import { WAY_OUT_WORDS } from '../../../mail/html/way-out-words.ts';
import type { PageTexts } from './en.ts';

export const fr: PageTexts = {
  language: 'fr',
  preferences: 'Préférences d’e-mail',
  forAddress: (address) => `Pour ${address}`,
  whatYouGet: 'Ce que vous souhaitez recevoir',
  nothingOffered: 'Il n’y a aucune liste à choisir.',
  save: 'Enregistrer',
  saved: 'Votre choix est enregistré.',
  everythingOff: 'Se désabonner de tout',
  offHint:
    'Vous recevrez toujours ce que vous avez demandé vous-même, par exemple des reçus ou de nouveaux mots de passe.',
  isOff: 'Vous avez annulé tous vos abonnements.',
  again: 'Recevoir à nouveau des e-mails',
  isBack: 'Vous recevez à nouveau des e-mails.',
  isBlocked:
    'Aucun e-mail n’est envoyé à cette adresse, car elle a été signalée comme injoignable ou comme ne souhaitant pas recevoir d’e-mails.',
  unsubscribe: WAY_OUT_WORDS.fr,
  askUnsubscribe: 'Souhaitez-vous ne plus recevoir ces e-mails ?',
  unsubscribed: 'Votre désabonnement est enregistré',
  noMore: 'Vous ne recevrez plus ces e-mails. Vous pouvez fermer cette page.',
  isTest: 'Ceci est un test',
  isTestHint:
    'Ce lien se trouve dans un e-mail de test et ne désabonne personne. Dans l’e-mail envoyé à une audience, il désabonne son destinataire.',
  chooseInstead: 'Choisir ce que vous recevez',
  confirm: 'Confirmer',
  askConfirm: (list) => `Souhaitez-vous recevoir « ${list} » ?`,
  confirmed: 'Votre inscription est confirmée',
  confirmedHint: (list) => `À partir de maintenant, vous recevez « ${list} ». Vous pouvez fermer cette page.`,
  badLink: 'Ce lien n’est pas valide',
  badLinkHint: 'Ouvrez-le à nouveau depuis l’e-mail, en entier et sans modification.',
  mailSubject: (list) => `Veuillez confirmer : ${list}`,
  mailText: (list, sender, url) =>
    `Cette adresse a été saisie pour recevoir « ${list} » de ${sender}.\n\nPour confirmer, ouvrez cette page et appuyez sur le bouton :\n${url}\n\nSi ce n’était pas vous, ignorez cet e-mail : rien ne sera envoyé.\n`,
};
