import type { SignInChange } from '../../../accounts/service-emails.ts';
import { counted } from '../../../platform/text/plurals.ts';
import type { PauseReason, ServiceTexts } from './texts.ts';

const CHANGES: Readonly<Record<SignInChange, string>> = {
  passwordChanged: 'Hasło do Twojego konta zostało zmienione',
  passwordReset: 'Dla Twojego konta ustawiono nowe hasło za pomocą linku',
  authenticatorAdded: 'Do Twojego konta dodano aplikację uwierzytelniającą',
  authenticatorRemoved: 'Z Twojego konta usunięto aplikację uwierzytelniającą',
  passkeyAdded: 'Do Twojego konta dodano klucz dostępu',
  passkeyRemoved: 'Z Twojego konta usunięto klucz dostępu',
  codeRepeated: 'Już użyty kod z Twojej aplikacji uwierzytelniającej został wpisany ponownie i odrzucony',
};

const PAUSED: Readonly<Record<PauseReason, string>> = {
  quota_exceeded: 'Przestrzeń robocza wykorzystała wszystkie e-maile na ten miesiąc.',
  bounce_rate:
    'Zbyt wiele e-maili tej kampanii zostało odrzuconych. Lista z wieloma nieprawidłowymi adresami szkodzi reputacji Twojej domeny.',
  complaint_rate: 'Zbyt wielu odbiorców zgłosiło tę kampanię jako spam.',
  canary: 'Pierwsza część była odrzucana lub zgłaszana jako spam częściej, niż na to pozwalasz.',
  sender_unverified: 'Domena nadawcy tej kampanii nie jest już zweryfikowana.',
};

const warned = (workspace: string): string =>
  `Otrzymujesz ten e-mail jako właściciel lub administrator przestrzeni ${workspace}. Takie e-maile możesz wyłączyć w ustawieniach przestrzeni roboczej.`;

export const pl: ServiceTexts = {
  language: 'pl',
  orOpen: 'Możesz też otworzyć ten adres:',
  invitation: ({ workspace, role, until }) => ({
    subject: `Zaproszenie do ${workspace}`,
    preview: `Twoja rola: ${role}.`,
    title: `Masz zaproszenie do ${workspace}`,
    paragraphs: [
      `Członek przestrzeni roboczej ${workspace} zaprasza Cię z rolą „${role}”.`,
      `Zaproszenie jest tylko dla tego adresu, działa raz i wygasa ${until}.`,
    ],
    button: 'Przyjmij zaproszenie',
    foot: 'Jeśli nie spodziewasz się zaproszenia, zignoruj ten e-mail: tylko ten link daje dostęp.',
  }),
  passwordReset: ({ until }) => ({
    subject: 'Ustaw nowe hasło',
    preview: 'Link działa raz i jest ważny przez godzinę.',
    paragraphs: [
      'Poproszono o nowe hasło do Twojego konta.',
      `Link działa raz i jest ważny do ${until}. Jeśli używasz drugiego składnika, nadal będzie potrzebny.`,
    ],
    button: 'Ustaw nowe hasło',
    foot: 'Jeśli to nie Twoja prośba, zignoruj ten e-mail: Twoje hasło się nie zmieni.',
  }),
  signInChanged: ({ change, at }) => ({
    subject: CHANGES[change],
    preview: 'Jeśli to Ty, nie musisz nic robić.',
    paragraphs: [
      `Data zdarzenia: ${at}.`,
      'Jeśli to Ty, nie musisz nic robić. Jeśli nie, ustaw nowe hasło, co zakończy wszystkie sesje, i sprawdź swoją aplikację uwierzytelniającą oraz klucze dostępu.',
    ],
    button: 'Otwórz konto',
    foot: 'Otrzymujesz ten e-mail, ponieważ dotyczy Twojego konta. Przestrzeń robocza nie może wyłączyć takich e-maili.',
  }),
  domainLost: ({ domain, workspace }) => ({
    subject: `Domena ${domain} nie może już wysyłać e-maili`,
    preview: 'Jej rekordów DNS brakuje lub są błędne.',
    paragraphs: [
      `Rekordów DNS domeny ${domain} brakowało lub były błędne dłużej, niż trwa chwilowa awaria. Dlatego ${workspace} nie może wysyłać e-maili z tej domeny.`,
      'Przyjęte e-maile czekają i zostaną wysłane, gdy rekordy znów będą poprawne. Rekordy są sprawdzane co godzinę.',
    ],
    button: 'Otwórz domenę',
    foot: warned(workspace),
  }),
  failures: {
    timeout: 'przekroczony czas',
    unresolved_host: 'nie znaleziono hosta',
    forbidden_address: 'niedozwolony adres',
    no_connection: 'brak połączenia',
    connection_lost: 'przerwane połączenie',
    untrusted_tls: 'niezaufane TLS',
    malformed_answer: 'nieprawidłowa odpowiedź',
    sealed_secret: 'nieczytelny klucz tajny',
  },
  webhookDisabled: ({ workspace, url, failures, results, at }) => ({
    subject: 'Punkt końcowy webhooka został wyłączony',
    preview: counted('pl', failures, {
      one: '# dostarczenie nie powiodło się.',
      few: '# kolejne dostarczenia nie powiodły się.',
      many: '# kolejnych dostarczeń nie powiodło się.',
      other: '# kolejnego dostarczenia nie powiodło się.',
    }),
    paragraphs: [
      counted('pl', failures, {
        one: `Nie powiodło się # dostarczenie do ${url}. Dlatego punkt końcowy został wyłączony (${at}). Nie otrzymuje już zdarzeń.`,
        few: `Nie powiodły się # kolejne dostarczenia do ${url}. Dlatego punkt końcowy został wyłączony (${at}). Nie otrzymuje już zdarzeń.`,
        many: `Nie powiodło się # kolejnych dostarczeń do ${url}. Dlatego punkt końcowy został wyłączony (${at}). Nie otrzymuje już zdarzeń.`,
        other: `Nie powiodło się # kolejnego dostarczenia do ${url}. Dlatego punkt końcowy został wyłączony (${at}). Nie otrzymuje już zdarzeń.`,
      }),
      ...(results === null ? [] : [`Ostatnie wyniki: ${results}.`]),
      'Włącz go, gdy znów zacznie odpowiadać. Pominięte zdarzenia możesz wysłać ponownie lub odczytać w dzienniku zdarzeń.',
    ],
    button: 'Otwórz punkt końcowy',
    foot: warned(workspace),
  }),
  campaignPaused: ({ workspace, campaign, reason, remaining }) => ({
    subject: `Kampania „${campaign}” jest wstrzymana`,
    preview: PAUSED[reason],
    title: `Kampania „${campaign}” jest wstrzymana`,
    paragraphs: [
      PAUSED[reason],
      counted('pl', remaining, {
        one: '# odbiorca jej nie otrzymał. Po wznowieniu zostanie wysłana tylko do niego.',
        few: '# odbiorców jej nie otrzymało. Po wznowieniu zostanie wysłana tylko do nich.',
        many: '# odbiorców jej nie otrzymało. Po wznowieniu zostanie wysłana tylko do nich.',
        other: '# odbiorcy jej nie otrzymało. Po wznowieniu zostanie wysłana tylko do nich.',
      }),
    ],
    button: 'Otwórz kampanię',
    foot: warned(workspace),
  }),
};
