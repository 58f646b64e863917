import type { SignInChange } from '../../../accounts/service-emails.ts';
import { counted } from '../../../platform/text/plurals.ts';
import type { PauseReason, ServiceTexts } from './texts.ts';

const CHANGES: Readonly<Record<SignInChange, string>> = {
  passwordChanged: 'Lösenordet till ditt konto har ändrats',
  passwordReset: 'Ett nytt lösenord har angetts för ditt konto via en länk',
  authenticatorAdded: 'En autentiseringsapp har lagts till i ditt konto',
  authenticatorRemoved: 'Autentiseringsappen har tagits bort från ditt konto',
  passkeyAdded: 'En lösennyckel har lagts till i ditt konto',
  passkeyRemoved: 'En lösennyckel har tagits bort från ditt konto',
  codeRepeated: 'En använd kod från din autentiseringsapp har angetts igen och nekats',
};

const PAUSED: Readonly<Record<PauseReason, string>> = {
  quota_exceeded: 'Arbetsytan har använt alla mejl för den här månaden.',
  bounce_rate:
    'För många av kampanjens mejl studsade. En lista med många ogiltiga adresser skadar din domäns rykte.',
  complaint_rate: 'För många mottagare rapporterade kampanjen som skräppost.',
  canary: 'Den första delen studsade eller rapporterades som skräppost oftare än du tillåter.',
  sender_unverified: 'Kampanjens avsändardomän är inte längre verifierad.',
};

const warned = (workspace: string): string =>
  `Du får det här mejlet som ägare eller administratör av ${workspace}. Du kan stänga av sådana mejl i arbetsytans inställningar.`;

export const sv: ServiceTexts = {
  language: 'sv',
  orOpen: 'Eller öppna den här adressen:',
  invitation: ({ workspace, role, until }) => ({
    subject: `Inbjudan till ${workspace}`,
    preview: `Din roll: ${role}.`,
    title: `Du är inbjuden till ${workspace}`,
    paragraphs: [
      `En medlem i ${workspace} har bjudit in dig med rollen ”${role}”.`,
      `Inbjudan gäller bara för den här adressen, fungerar en gång och upphör att gälla den ${until}.`,
    ],
    button: 'Tacka ja till inbjudan',
    foot: 'Om du inte väntade dig någon inbjudan kan du bortse från det här mejlet: bara den här länken ger åtkomst.',
  }),
  passwordReset: ({ until }) => ({
    subject: 'Ange ett nytt lösenord',
    preview: 'Länken fungerar en gång och gäller i en timme.',
    paragraphs: [
      'Ett nytt lösenord har begärts för ditt konto.',
      `Länken fungerar en gång och gäller till den ${until}. Om du använder en andra faktor behöver du den fortfarande.`,
    ],
    button: 'Ange ett nytt lösenord',
    foot: 'Om det inte var du kan du bortse från det här mejlet: ditt lösenord ändras inte.',
  }),
  signInChanged: ({ change, at }) => ({
    subject: CHANGES[change],
    preview: 'Om det var du behöver du inte göra något.',
    paragraphs: [
      `Det hände den ${at}.`,
      'Om det var du behöver du inte göra något. Om det inte var du, ange ett nytt lösenord, vilket avslutar alla sessioner, och kontrollera din autentiseringsapp och dina lösennycklar.',
    ],
    button: 'Öppna kontot',
    foot: 'Du får det här mejlet eftersom det gäller ditt konto. En arbetsyta kan inte stänga av sådana mejl.',
  }),
  domainLost: ({ domain, workspace }) => ({
    subject: `${domain} kan inte längre skicka e-post`,
    preview: 'DNS-posterna saknas eller är felaktiga.',
    paragraphs: [
      `DNS-posterna för ${domain} saknades eller var felaktiga längre än vad ett tillfälligt fel varar. Därför kan ${workspace} inte skicka e-post från domänen.`,
      'Accepterade mejl väntar och skickas så snart posterna stämmer igen. Posterna kontrolleras varje timme.',
    ],
    button: 'Öppna domänen',
    foot: warned(workspace),
  }),
  failures: {
    timeout: 'tidsgränsen överskreds',
    unresolved_host: 'värden hittades inte',
    forbidden_address: 'otillåten adress',
    no_connection: 'ingen anslutning',
    connection_lost: 'anslutningen bröts',
    untrusted_tls: 'ej betrodd TLS',
    malformed_answer: 'felaktigt svar',
    sealed_secret: 'oläslig hemlighet',
  },
  webhookDisabled: ({ workspace, url, failures, results, at }) => ({
    subject: 'En webhook-slutpunkt har stängts av',
    preview: counted('sv', failures, {
      one: '# leverans misslyckades.',
      other: '# leveranser i rad misslyckades.',
    }),
    paragraphs: [
      counted('sv', failures, {
        one: `# leverans till ${url} misslyckades. Därför stängdes slutpunkten av den ${at}. Den får inga fler händelser.`,
        other: `# leveranser i rad till ${url} misslyckades. Därför stängdes slutpunkten av den ${at}. Den får inga fler händelser.`,
      }),
      ...(results === null ? [] : [`Senaste resultat: ${results}.`]),
      'Slå på den när den svarar igen. Du kan skicka om händelserna som den missade eller läsa dem i händelseloggen.',
    ],
    button: 'Öppna slutpunkten',
    foot: warned(workspace),
  }),
  campaignPaused: ({ workspace, campaign, reason, remaining }) => ({
    subject: `Kampanjen ”${campaign}” är pausad`,
    preview: PAUSED[reason],
    title: `”${campaign}” är pausad`,
    paragraphs: [
      PAUSED[reason],
      counted('sv', remaining, {
        one: '# mottagare har inte fått den. När du återupptar den skickas den bara till den mottagaren.',
        other: '# mottagare har inte fått den. När du återupptar den skickas den bara till dem.',
      }),
    ],
    button: 'Öppna kampanjen',
    foot: warned(workspace),
  }),
};
