import { WAY_OUT_WORDS } from '../../../mail/html/way-out-words.ts';
import type { PageTexts } from './en.ts';

export const pt: PageTexts = {
  language: 'pt',
  preferences: 'Preferências de e-mail',
  forAddress: (address) => `Para ${address}`,
  whatYouGet: 'O que você quer receber',
  nothingOffered: 'Não há listas para escolher.',
  save: 'Salvar',
  saved: 'Sua escolha foi salva.',
  everythingOff: 'Cancelar todas as inscrições',
  offHint: 'Você continuará recebendo o que pedir pessoalmente, como recibos e novas senhas.',
  isOff: 'Você cancelou todas as inscrições.',
  again: 'Voltar a receber e-mails',
  isBack: 'Você voltou a receber e-mails.',
  isBlocked:
    'Nenhum e-mail é enviado para este endereço, porque foi informado que ele está inacessível ou que os e-mails não são desejados.',
  unsubscribe: WAY_OUT_WORDS.pt,
  askUnsubscribe: 'Você quer deixar de receber estes e-mails?',
  unsubscribed: 'Inscrição cancelada',
  noMore: 'Você não receberá mais estes e-mails. Pode fechar esta página.',
  isTest: 'Isto é um teste',
  isTestHint:
    'Este link está num e-mail de teste e não cancela a subscrição de ninguém. No e-mail enviado a um público, cancela a subscrição do destinatário.',
  chooseInstead: 'Escolher o que você recebe',
  confirm: 'Confirmar',
  askConfirm: (list) => `Você quer receber “${list}”?`,
  confirmed: 'Você está na lista',
  confirmedHint: (list) => `A partir de agora, você recebe “${list}”. Pode fechar esta página.`,
  badLink: 'Este link não é válido',
  badLinkHint: 'Abra-o novamente a partir do e-mail, completo e sem alterações.',
  mailSubject: (list) => `Confirme, por favor: ${list}`,
  mailText: (list, sender, url) =>
    `Este endereço foi informado para receber “${list}” de ${sender}.\n\nPara confirmar, abra esta página e clique no botão:\n${url}\n\nSe o pedido não foi seu, ignore este e-mail: nada será enviado.\n`,
};
