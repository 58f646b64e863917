import { counted } from '../../../../../../platform/text/plurals.ts';
import type { EntranceWords } from './en.ts';

export const nl: EntranceWords = {
  language: 'nl',
  invited: 'U bent uitgenodigd voor Posthorn',
  join: (workspace) => `Uitnodiging voor ${workspace}`,
  invitation: ({ by, workspace, role, email, until }) =>
    `${by === null ? 'U bent' : `${by} heeft u`} met de rol ‘${role}’ uitgenodigd voor de werkruimte ${workspace}. De uitnodiging is voor ${email} en verloopt op ${until}.`,
  signedInAs: (email) => `U bent aangemeld als ${email}.`,
  accept: 'Uitnodiging accepteren',
  cannotAccept: 'Deze uitnodiging kan niet worden geaccepteerd',
  cannotShow: 'De uitnodiging kan nu niet worden getoond',
  signInInstead: 'Aanmelden met een bestaand account',
  createInstead: 'Een account maken',
  name: 'Uw naam',
  email: 'E-mailadres',
  password: 'Wachtwoord',
  passwordHint: 'Minstens 12 tekens. Een paar woorden zonder samenhang werken het best.',
  code: 'Code van de authenticator-app',
  codeHint: 'De zes cijfers van uw authenticator-app, of een herstelcode.',
  signIn: 'Aanmelden',
  signInTitle: 'Aanmelden bij Posthorn',
  passkey: 'Aanmelden met een passkey',
  liveView: 'Liveweergave openen met een API-sleutel',
  lockedOut: 'Buitengesloten?',
  newPasswordBy:
    'De beheerder van de server kan een link voor een nieuw wachtwoord opvragen. Daar is geen e-mail voor nodig:',
  lostFactorBy:
    'Hebt u de authenticator-app niet meer en is er geen herstelcode over, voeg dan dit aan de opdracht toe:',
  choosePassword: 'Nieuw wachtwoord kiezen',
  choosePasswordHint: 'U wordt overal afgemeld. Meld u aan met het nieuwe wachtwoord.',
  setPassword: 'Wachtwoord instellen',
  openAgain: 'Open de link opnieuw',
  openAgainHint:
    'Het geheime deel van de link is uit het adres van deze pagina verwijderd, zodat het geheim blijft. Open de hele link opnieuw.',
  invitationNeedsLink: 'Voor een uitnodiging hebt u de link nodig die u hebt ontvangen.',
  resetNeedsLink: 'Voor een nieuw wachtwoord hebt u de link nodig die u hebt ontvangen.',
  toSignIn: 'Naar de aanmeldpagina',
  why: {
    signedOut: 'U bent afgemeld.',
    sessionEnded: 'Uw sessie is beëindigd. Meld u opnieuw aan.',
    passwordSet: 'Het wachtwoord is gewijzigd. Meld u ermee aan.',
    alreadySetUp: 'Het eerste account bestaat al.',
  },
  form: {
    working: 'Even geduld…',
    showPassword: 'Wachtwoord tonen',
    strengths: ['Zwak: makkelijk te raden', 'Redelijk: een langer wachtwoord is veiliger', 'Goed', 'Sterk'],
  },
  problems: {
    spent: 'Deze link is al gebruikt of verlopen. Vraag een nieuwe aan de persoon die hem heeft gestuurd.',
    taken: 'Er bestaat al een account met dit adres. Meld u daarmee aan en open de link opnieuw.',
    full: 'U bent lid van het maximale aantal werkruimtes. Verlaat of verwijder er eerst een.',
    noWorkspace: 'Dit account hoort bij geen enkele werkruimte. Vraag om een uitnodiging.',
    credentials: 'Het adres of het wachtwoord is onjuist.',
    code: 'Voer een nieuwe code van uw authenticator-app in, of een herstelcode. Elke code werkt één keer.',
    tooSoon: (seconds) =>
      counted('nl', seconds, {
        one: 'Te veel pogingen. Probeer het over # seconde opnieuw.',
        other: 'Te veel pogingen. Probeer het over # seconden opnieuw.',
      }),
    name: 'Voer uw naam in, zonder onzichtbare tekens.',
    password:
      'Gebruik 12 tot 128 tekens, geen reeks, geen veelgebruikt wachtwoord, en meer dan uw naam en uw adres.',
    away: 'De dienst is niet bereikbaar. Probeer het later opnieuw.',
  },
};
