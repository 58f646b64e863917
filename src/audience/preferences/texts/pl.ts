import { WAY_OUT_WORDS } from '../../../mail/html/way-out-words.ts';
import type { PageTexts } from './en.ts';

export const pl: PageTexts = {
  language: 'pl',
  preferences: 'Ustawienia e-maili',
  forAddress: (address) => `Dla adresu ${address}`,
  whatYouGet: 'Co chcesz otrzymywać',
  nothingOffered: 'Nie ma list do wyboru.',
  save: 'Zapisz',
  saved: 'Wybór został zapisany.',
  everythingOff: 'Zrezygnuj ze wszystkiego',
  offHint: 'Nadal będziesz otrzymywać to, o co prosisz osobiście, na przykład potwierdzenia i nowe hasła.',
  isOff: 'Zrezygnowano z otrzymywania wszystkich e-maili.',
  again: 'Otrzymuj e-maile ponownie',
  isBack: 'Znowu otrzymujesz e-maile.',
  isBlocked:
    'Na ten adres nie są wysyłane e-maile, ponieważ zgłoszono, że jest nieosiągalny lub że e-maile są niepożądane.',
  unsubscribe: WAY_OUT_WORDS.pl,
  askUnsubscribe: 'Czy nie chcesz już otrzymywać tych e-maili?',
  unsubscribed: 'Subskrypcja została anulowana',
  noMore: 'Nie otrzymasz już tych e-maili. Możesz zamknąć tę stronę.',
  isTest: 'To jest test',
  isTestHint:
    'Ten link znajduje się w wiadomości testowej i nikogo nie wypisuje. W wiadomości wysłanej do grupy odbiorców wypisuje odbiorcę.',
  chooseInstead: 'Wybierz, co chcesz otrzymywać',
  confirm: 'Potwierdź',
  askConfirm: (list) => `Czy chcesz otrzymywać „${list}”?`,
  confirmed: 'Jesteś na liście',
  confirmedHint: (list) => `Od teraz otrzymujesz „${list}”. Możesz zamknąć tę stronę.`,
  badLink: 'Ten link jest nieprawidłowy',
  badLinkHint: 'Otwórz go ponownie z e-maila, w całości i bez zmian.',
  mailSubject: (list) => `Prosimy o potwierdzenie: ${list}`,
  mailText: (list, sender, url) =>
    `Ten adres podano, aby otrzymywać „${list}” od nadawcy ${sender}.\n\nAby potwierdzić, otwórz tę stronę i naciśnij przycisk:\n${url}\n\nJeśli to nie Twoja prośba, zignoruj ten e-mail: nic nie zostanie wysłane.\n`,
};
