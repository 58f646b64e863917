import { counted } from '../../../../../../platform/text/plurals.ts';
import type { EntranceWords } from './en.ts';

export const pl: EntranceWords = {
  language: 'pl',
  invited: 'Masz zaproszenie do Posthorn',
  join: (workspace) => `Zaproszenie do ${workspace}`,
  invitation: ({ by, workspace, role, email, until }) =>
    `${by === null ? 'Masz zaproszenie' : `${by} zaprasza Cię`} do przestrzeni roboczej ${workspace} z rolą „${role}”. Zaproszenie jest dla adresu ${email} i wygasa ${until}.`,
  signedInAs: (email) => `Używasz teraz konta ${email}.`,
  accept: 'Przyjmij zaproszenie',
  cannotAccept: 'Nie można przyjąć tego zaproszenia',
  cannotShow: 'Nie można teraz wyświetlić zaproszenia',
  signInInstead: 'Zaloguj się na istniejące konto',
  createInstead: 'Utwórz konto',
  name: 'Imię i nazwisko',
  email: 'Adres e-mail',
  password: 'Hasło',
  passwordHint: 'Co najmniej 12 znaków. Najlepsze jest kilka niepowiązanych słów.',
  code: 'Kod z aplikacji uwierzytelniającej',
  codeHint: 'Sześć cyfr z Twojej aplikacji uwierzytelniającej lub kod odzyskiwania.',
  signIn: 'Zaloguj się',
  signInTitle: 'Zaloguj się do Posthorn',
  passkey: 'Zaloguj się kluczem dostępu',
  liveView: 'Otwórz widok na żywo za pomocą klucza API',
  lockedOut: 'Nie możesz się zalogować?',
  newPasswordBy: 'Operator serwera może wyświetlić link do nowego hasła. Nie jest potrzebny żaden e-mail:',
  lostFactorBy:
    'Jeśli nie masz już aplikacji uwierzytelniającej ani kodów odzyskiwania, do polecenia trzeba dodać:',
  choosePassword: 'Wybierz nowe hasło',
  choosePasswordHint: 'Wszystkie Twoje sesje zostaną zakończone. Zaloguj się nowym hasłem.',
  setPassword: 'Ustaw hasło',
  openAgain: 'Otwórz link ponownie',
  openAgainHint:
    'Tajna część linku została usunięta z adresu tej strony, aby pozostała poufna. Otwórz ponownie cały link.',
  invitationNeedsLink: 'Zaproszenie wymaga otrzymanego linku.',
  resetNeedsLink: 'Nowe hasło wymaga otrzymanego linku.',
  toSignIn: 'Przejdź do logowania',
  why: {
    signedOut: 'Wylogowano.',
    sessionEnded: 'Twoja sesja się zakończyła. Zaloguj się ponownie.',
    passwordSet: 'Hasło zostało zmienione. Zaloguj się nim.',
    alreadySetUp: 'Pierwsze konto już istnieje.',
  },
  form: {
    working: 'Proszę czekać…',
    showPassword: 'Pokaż hasło',
    strengths: [
      'Słabe: łatwe do odgadnięcia',
      'Średnie: dłuższe hasło jest bezpieczniejsze',
      'Dobre',
      'Silne',
    ],
  },
  problems: {
    spent: 'Ten link został już użyty lub wygasł. Poproś o nowy osobę, która go wysłała.',
    taken: 'Konto z tym adresem już istnieje. Zaloguj się na nie, a potem otwórz link ponownie.',
    full: 'Należysz już do największej możliwej liczby przestrzeni roboczych. Najpierw opuść lub usuń jedną z nich.',
    noWorkspace: 'To konto nie należy do żadnej przestrzeni roboczej. Poproś o zaproszenie.',
    credentials: 'Adres lub hasło jest nieprawidłowe.',
    code: 'Wpisz nowy kod z aplikacji uwierzytelniającej lub kod odzyskiwania. Każdy działa raz.',
    tooSoon: (seconds) =>
      counted('pl', seconds, {
        one: 'Zbyt wiele prób. Spróbuj ponownie za # sekundę.',
        few: 'Zbyt wiele prób. Spróbuj ponownie za # sekundy.',
        many: 'Zbyt wiele prób. Spróbuj ponownie za # sekund.',
        other: 'Zbyt wiele prób. Spróbuj ponownie za # sekundy.',
      }),
    name: 'Wpisz imię i nazwisko, bez niewidocznych znaków.',
    password:
      'Użyj od 12 do 128 znaków, bez sekwencji i popularnych haseł. Samo nazwisko lub adres nie wystarczy.',
    away: 'Usługa jest nieosiągalna. Spróbuj ponownie później.',
  },
};
