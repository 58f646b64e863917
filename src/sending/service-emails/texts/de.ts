import type { SignInChange } from '../../../accounts/service-emails.ts';
import { counted } from '../../../platform/text/plurals.ts';
import type { PauseReason, ServiceTexts } from './texts.ts';

const CHANGES: Readonly<Record<SignInChange, string>> = {
  passwordChanged: 'Das Passwort Ihres Kontos wurde geändert',
  passwordReset: 'Für Ihr Konto wurde über einen Link ein neues Passwort festgelegt',
  authenticatorAdded: 'Ihrem Konto wurde eine Authenticator-App hinzugefügt',
  authenticatorRemoved: 'Die Authenticator-App wurde aus Ihrem Konto entfernt',
  passkeyAdded: 'Ihrem Konto wurde ein Passkey hinzugefügt',
  passkeyRemoved: 'Ein Passkey wurde aus Ihrem Konto entfernt',
  codeRepeated: 'Ein schon benutzter Code Ihrer Authenticator-App wurde erneut eingegeben und abgelehnt',
};

const PAUSED: Readonly<Record<PauseReason, string>> = {
  quota_exceeded: 'Der Arbeitsbereich hat alle E-Mails dieses Monats verbraucht.',
  bounce_rate:
    'Zu viele E-Mails der Kampagne kamen zurück. Eine Liste mit vielen ungültigen Adressen schadet dem Ruf Ihrer Domain.',
  complaint_rate: 'Zu viele Empfänger haben die Kampagne als Spam gemeldet.',
  canary: 'Der erste Teil kam öfter zurück oder wurde öfter als Spam gemeldet, als Sie erlauben.',
  sender_unverified: 'Die Absenderdomain der Kampagne ist nicht mehr bestätigt.',
};

const warned = (workspace: string): string =>
  `Sie bekommen diese E-Mail als Inhaber oder Administrator von ${workspace}. In den Einstellungen des Arbeitsbereichs können Sie solche E-Mails abschalten.`;

export const de: ServiceTexts = {
  language: 'de',
  orOpen: 'Oder öffnen Sie diese Adresse:',
  invitation: ({ workspace, role, until }) => ({
    subject: `Einladung zu ${workspace}`,
    preview: `Ihre Rolle: ${role}.`,
    title: `Sie sind zu ${workspace} eingeladen`,
    paragraphs: [
      `Ein Mitglied von ${workspace} hat Sie mit der Rolle „${role}“ eingeladen.`,
      `Die Einladung gilt nur für diese Adresse, funktioniert einmal und läuft am ${until} ab.`,
    ],
    button: 'Einladung annehmen',
    foot: 'Wenn Sie keine Einladung erwartet haben, ignorieren Sie diese E-Mail: Nur dieser Link gibt Zugang.',
  }),
  passwordReset: ({ until }) => ({
    subject: 'Neues Passwort festlegen',
    preview: 'Der Link funktioniert einmal und gilt eine Stunde.',
    paragraphs: [
      'Für Ihr Konto wurde ein neues Passwort angefordert.',
      `Der Link funktioniert einmal und gilt bis ${until}. Wenn Sie einen zweiten Faktor verwenden, brauchen Sie ihn weiterhin.`,
    ],
    button: 'Neues Passwort festlegen',
    foot: 'Wenn Sie das nicht waren, ignorieren Sie diese E-Mail: Ihr Passwort ändert sich nicht.',
  }),
  signInChanged: ({ change, at }) => ({
    subject: CHANGES[change],
    preview: 'Wenn Sie das waren, ist nichts zu tun.',
    paragraphs: [
      `Das geschah am ${at}.`,
      'Wenn Sie das waren, ist nichts zu tun. Wenn nicht, legen Sie ein neues Passwort fest, was alle Sitzungen beendet, und prüfen Sie Ihre Authenticator-App und Ihre Passkeys.',
    ],
    button: 'Konto öffnen',
    foot: 'Sie bekommen diese E-Mail, weil sie Ihr Konto betrifft. Ein Arbeitsbereich kann solche E-Mails nicht abschalten.',
  }),
  domainLost: ({ domain, workspace }) => ({
    subject: `${domain} kann nicht mehr senden`,
    preview: 'Die DNS-Einträge fehlen oder sind falsch.',
    paragraphs: [
      `Die DNS-Einträge von ${domain} waren länger falsch oder unvollständig, als eine vorübergehende Störung dauert. Deshalb kann ${workspace} von dieser Domain keine E-Mails senden.`,
      'Angenommene E-Mails warten und werden gesendet, sobald die Einträge wieder stimmen. Sie werden jede Stunde geprüft.',
    ],
    button: 'Domain öffnen',
    foot: warned(workspace),
  }),
  failures: {
    timeout: 'Zeitüberschreitung',
    unresolved_host: 'Hostname nicht gefunden',
    forbidden_address: 'unerlaubte Adresse',
    no_connection: 'keine Verbindung',
    connection_lost: 'Verbindung abgebrochen',
    untrusted_tls: 'nicht vertrauenswürdiges TLS',
    malformed_answer: 'ungültige Antwort',
    sealed_secret: 'Schlüssel nicht lesbar',
  },
  webhookDisabled: ({ workspace, url, failures, results, at }) => ({
    subject: 'Ein Webhook-Endpunkt wurde abgeschaltet',
    preview: counted('de', failures, {
      one: '# Zustellung ist fehlgeschlagen.',
      other: '# Zustellungen in Folge sind fehlgeschlagen.',
    }),
    paragraphs: [
      counted('de', failures, {
        one: `# Zustellung an ${url} ist fehlgeschlagen. Deshalb wurde der Endpunkt am ${at} abgeschaltet. Er bekommt keine Ereignisse mehr.`,
        other: `# Zustellungen in Folge an ${url} sind fehlgeschlagen. Deshalb wurde der Endpunkt am ${at} abgeschaltet. Er bekommt keine Ereignisse mehr.`,
      }),
      ...(results === null ? [] : [`Letzte Ergebnisse: ${results}.`]),
      'Schalten Sie ihn wieder ein, sobald er wieder antwortet. Sie können die versäumten Ereignisse noch einmal senden lassen oder im Ereignisprotokoll lesen.',
    ],
    button: 'Endpunkt öffnen',
    foot: warned(workspace),
  }),
  campaignPaused: ({ workspace, campaign, reason, remaining }) => ({
    subject: `Die Kampagne „${campaign}“ ist angehalten`,
    preview: PAUSED[reason],
    title: `„${campaign}“ ist angehalten`,
    paragraphs: [
      PAUSED[reason],
      counted('de', remaining, {
        one: '# Empfänger hat sie noch nicht bekommen. Wenn Sie sie fortsetzen, geht sie nur noch an ihn.',
        other:
          '# Empfänger haben sie noch nicht bekommen. Wenn Sie sie fortsetzen, geht sie nur noch an diese.',
      }),
    ],
    button: 'Kampagne öffnen',
    foot: warned(workspace),
  }),
};
