import type { SignInChange } from '../../../accounts/service-emails.ts';
import { counted } from '../../../platform/text/plurals.ts';
import type { PauseReason, ServiceTexts } from './texts.ts';

const CHANGES: Readonly<Record<SignInChange, string>> = {
  passwordChanged: 'Het wachtwoord van uw account is gewijzigd',
  passwordReset: 'Via een link is een nieuw wachtwoord voor uw account ingesteld',
  authenticatorAdded: 'Er is een authenticator-app aan uw account toegevoegd',
  authenticatorRemoved: 'De authenticator-app is van uw account verwijderd',
  passkeyAdded: 'Er is een passkey aan uw account toegevoegd',
  passkeyRemoved: 'Er is een passkey van uw account verwijderd',
  codeRepeated: 'Een al gebruikte code van uw authenticator-app is opnieuw geprobeerd en geweigerd',
};

const PAUSED: Readonly<Record<PauseReason, string>> = {
  quota_exceeded: 'De werkruimte heeft alle e-mails van deze maand verbruikt.',
  bounce_rate:
    'Te veel e-mails van de campagne kwamen terug. Een lijst met veel ongeldige adressen schaadt de reputatie van uw domein.',
  complaint_rate: 'Te veel ontvangers hebben de campagne als spam gemeld.',
  canary: 'Het eerste deel kwam vaker terug of werd vaker als spam gemeld dan u toestaat.',
  sender_unverified: 'Het afzenderdomein van de campagne is niet meer geverifieerd.',
};

const warned = (workspace: string): string =>
  `U ontvangt deze e-mail als eigenaar of beheerder van ${workspace}. U kunt deze e-mails uitschakelen in de instellingen van de werkruimte.`;

export const nl: ServiceTexts = {
  language: 'nl',
  orOpen: 'Of open dit adres:',
  invitation: ({ workspace, role, until }) => ({
    subject: `Uitnodiging voor ${workspace}`,
    preview: `Uw rol: ${role}.`,
    title: `U bent uitgenodigd voor ${workspace}`,
    paragraphs: [
      `Een lid van ${workspace} heeft u uitgenodigd met de rol ‘${role}’.`,
      `De uitnodiging geldt alleen voor dit adres, werkt één keer en verloopt op ${until}.`,
    ],
    button: 'Uitnodiging accepteren',
    foot: 'Had u geen uitnodiging verwacht? Negeer dan deze e-mail: alleen deze link geeft toegang.',
  }),
  passwordReset: ({ until }) => ({
    subject: 'Nieuw wachtwoord instellen',
    preview: 'De link werkt één keer en is een uur geldig.',
    paragraphs: [
      'Voor uw account is een nieuw wachtwoord aangevraagd.',
      `De link werkt één keer en is geldig tot ${until}. Gebruikt u een tweede factor, dan hebt u die nog steeds nodig.`,
    ],
    button: 'Nieuw wachtwoord instellen',
    foot: 'Was u dit niet? Negeer dan deze e-mail: uw wachtwoord verandert niet.',
  }),
  signInChanged: ({ change, at }) => ({
    subject: CHANGES[change],
    preview: 'Was u dit zelf, dan hoeft u niets te doen.',
    paragraphs: [
      `Dit gebeurde op ${at}.`,
      'Was u dit zelf, dan hoeft u niets te doen. Was u dit niet, stel dan een nieuw wachtwoord in, waarmee alle sessies worden beëindigd, en controleer uw authenticator-app en uw passkeys.',
    ],
    button: 'Account openen',
    foot: 'U ontvangt deze e-mail omdat hij over uw account gaat. Een werkruimte kan deze e-mails niet uitschakelen.',
  }),
  domainLost: ({ domain, workspace }) => ({
    subject: `${domain} kan niet meer verzenden`,
    preview: 'De DNS-records ontbreken of zijn onjuist.',
    paragraphs: [
      `De DNS-records van ${domain} ontbraken of waren onjuist, langer dan een tijdelijke storing duurt. Daarom kan ${workspace} geen e-mail vanaf dit domein verzenden.`,
      'Geaccepteerde e-mails wachten en worden verzonden zodra de records weer kloppen. De records worden elk uur gecontroleerd.',
    ],
    button: 'Domein openen',
    foot: warned(workspace),
  }),
  failures: {
    timeout: 'time-out',
    unresolved_host: 'host niet gevonden',
    forbidden_address: 'niet-toegestaan adres',
    no_connection: 'geen verbinding',
    connection_lost: 'verbinding verbroken',
    untrusted_tls: 'onbetrouwbare TLS',
    malformed_answer: 'ongeldig antwoord',
    sealed_secret: 'geheim niet leesbaar',
  },
  webhookDisabled: ({ workspace, url, failures, results, at }) => ({
    subject: 'Een webhook-eindpunt is uitgeschakeld',
    preview: counted('nl', failures, {
      one: '# aflevering is mislukt.',
      other: '# afleveringen op rij zijn mislukt.',
    }),
    paragraphs: [
      counted('nl', failures, {
        one: `# aflevering aan ${url} is mislukt. Daarom is het eindpunt op ${at} uitgeschakeld. Het ontvangt geen gebeurtenissen meer.`,
        other: `# afleveringen op rij aan ${url} zijn mislukt. Daarom is het eindpunt op ${at} uitgeschakeld. Het ontvangt geen gebeurtenissen meer.`,
      }),
      ...(results === null ? [] : [`Laatste resultaten: ${results}.`]),
      'Schakel het in zodra het weer antwoordt. U kunt de gemiste gebeurtenissen opnieuw laten verzenden of ze in het gebeurtenissenlogboek lezen.',
    ],
    button: 'Eindpunt openen',
    foot: warned(workspace),
  }),
  campaignPaused: ({ workspace, campaign, reason, remaining }) => ({
    subject: `De campagne ‘${campaign}’ is gepauzeerd`,
    preview: PAUSED[reason],
    title: `‘${campaign}’ is gepauzeerd`,
    paragraphs: [
      PAUSED[reason],
      counted('nl', remaining, {
        one: '# ontvanger heeft de campagne niet ontvangen. Bij hervatting gaat ze alleen nog naar die ontvanger.',
        other: '# ontvangers hebben de campagne niet ontvangen. Bij hervatting gaat ze alleen nog naar hen.',
      }),
    ],
    button: 'Campagne openen',
    foot: warned(workspace),
  }),
};
