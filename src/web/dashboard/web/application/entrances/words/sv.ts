import { counted } from '../../../../../../platform/text/plurals.ts';
import type { EntranceWords } from './en.ts';

export const sv: EntranceWords = {
  language: 'sv',
  invited: 'Du är inbjuden till Posthorn',
  join: (workspace) => `Inbjudan till ${workspace}`,
  invitation: ({ by, workspace, role, email, until }) =>
    `${by === null ? 'Du är inbjuden' : `${by} bjuder in dig`} till arbetsytan ${workspace} med rollen ”${role}”. Inbjudan är för ${email} och upphör att gälla den ${until}.`,
  signedInAs: (email) => `Du är inloggad som ${email}.`,
  accept: 'Tacka ja till inbjudan',
  cannotAccept: 'Det går inte att tacka ja till den här inbjudan',
  cannotShow: 'Inbjudan kan inte visas just nu',
  signInInstead: 'Logga in med ett befintligt konto i stället',
  createInstead: 'Skapa ett konto i stället',
  name: 'Ditt namn',
  email: 'E-postadress',
  password: 'Lösenord',
  passwordHint: 'Minst 12 tecken. Några ord utan samband fungerar bäst.',
  code: 'Kod från autentiseringsappen',
  codeHint: 'De sex siffrorna från din autentiseringsapp eller en återställningskod.',
  signIn: 'Logga in',
  signInTitle: 'Logga in på Posthorn',
  passkey: 'Logga in med en lösennyckel',
  liveView: 'Öppna livevyn med en API-nyckel',
  lockedOut: 'Utelåst?',
  newPasswordBy: 'Serverns operatör kan ta fram en länk för ett nytt lösenord. Inget mejl behövs:',
  lostFactorBy:
    'Om autentiseringsappen har gått förlorad och ingen återställningskod finns kvar, lägg till detta i kommandot:',
  choosePassword: 'Välj ett nytt lösenord',
  choosePasswordHint: 'Du loggas ut överallt. Logga in med det nya lösenordet.',
  setPassword: 'Ange lösenord',
  openAgain: 'Öppna länken igen',
  openAgainHint:
    'Den hemliga delen av länken togs bort från sidans adress för att den ska förbli hemlig. Öppna hela länken igen.',
  invitationNeedsLink: 'En inbjudan kräver länken som du har fått.',
  resetNeedsLink: 'Ett nytt lösenord kräver länken som du har fått.',
  toSignIn: 'Till inloggningen',
  why: {
    signedOut: 'Du är utloggad.',
    sessionEnded: 'Din session har avslutats. Logga in igen.',
    passwordSet: 'Lösenordet har ändrats. Logga in med det.',
    alreadySetUp: 'Det första kontot finns redan.',
  },
  form: {
    working: 'Vänta…',
    showPassword: 'Visa lösenordet',
    strengths: ['Svagt: lätt att gissa', 'Medel: ett längre lösenord är säkrare', 'Bra', 'Starkt'],
  },
  problems: {
    spent: 'Länken har redan använts eller har gått ut. Be den som skickade den om en ny.',
    taken: 'Ett konto med den här adressen finns redan. Logga in med det och öppna länken igen.',
    full: 'Du tillhör så många arbetsytor som en person kan. Lämna eller ta bort en av dem först.',
    noWorkspace: 'Det här kontot tillhör ingen arbetsyta. Be om en inbjudan.',
    credentials: 'Adressen eller lösenordet är fel.',
    code: 'Ange en ny kod från din autentiseringsapp eller en återställningskod. Varje kod fungerar en gång.',
    tooSoon: (seconds) =>
      counted('sv', seconds, {
        one: 'För många försök. Försök igen om # sekund.',
        other: 'För många försök. Försök igen om # sekunder.',
      }),
    name: 'Ange ditt namn, utan osynliga tecken.',
    password:
      'Använd 12 till 128 tecken, ingen följd, inget vanligt lösenord och mer än ditt namn och din adress.',
    away: 'Tjänsten kan inte nås. Försök igen senare.',
  },
};
