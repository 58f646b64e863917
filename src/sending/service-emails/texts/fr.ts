import type { SignInChange } from '../../../accounts/service-emails.ts';
import { counted } from '../../../platform/text/plurals.ts';
import type { PauseReason, ServiceTexts } from './texts.ts';

const CHANGES: Readonly<Record<SignInChange, string>> = {
  passwordChanged: 'Le mot de passe de votre compte a été modifié',
  passwordReset: 'Un nouveau mot de passe a été défini pour votre compte au moyen d’un lien',
  authenticatorAdded: 'Une application d’authentification a été ajoutée à votre compte',
  authenticatorRemoved: 'L’application d’authentification a été retirée de votre compte',
  passkeyAdded: 'Une clé d’accès a été ajoutée à votre compte',
  passkeyRemoved: 'Une clé d’accès a été retirée de votre compte',
  codeRepeated:
    'Un code déjà utilisé de votre application d’authentification a été saisi à nouveau et refusé',
};

const PAUSED: Readonly<Record<PauseReason, string>> = {
  quota_exceeded: 'L’espace de travail a utilisé tous les e-mails de ce mois.',
  bounce_rate:
    'Trop d’e-mails de la campagne ont été rejetés. Une liste contenant beaucoup d’adresses non valides nuit à la réputation de votre domaine.',
  complaint_rate: 'Trop de destinataires ont signalé la campagne comme spam.',
  canary: 'Le premier envoi a été rejeté ou signalé comme spam plus souvent que vous ne l’autorisez.',
  sender_unverified: 'Le domaine d’envoi de la campagne n’est plus vérifié.',
};

const warned = (workspace: string): string =>
  `Vous recevez cet e-mail en tant que propriétaire ou administrateur de ${workspace}. Vous pouvez désactiver ces e-mails dans les paramètres de l’espace de travail.`;

export const fr: ServiceTexts = {
  language: 'fr',
  orOpen: 'Ou ouvrez cette adresse :',
  invitation: ({ workspace, role, until }) => ({
    subject: `Rejoignez ${workspace}`,
    preview: `Votre rôle : ${role}.`,
    title: `Invitation à rejoindre ${workspace}`,
    paragraphs: [
      `Un membre de ${workspace} vous invite avec le rôle « ${role} ».`,
      `L’invitation est réservée à cette adresse, ne fonctionne qu’une fois et expire le ${until}.`,
    ],
    button: 'Accepter l’invitation',
    foot: 'Si vous n’attendiez pas d’invitation, ignorez cet e-mail : seul ce lien donne accès.',
  }),
  passwordReset: ({ until }) => ({
    subject: 'Définir un nouveau mot de passe',
    preview: 'Le lien ne fonctionne qu’une fois, pendant une heure.',
    paragraphs: [
      'Un nouveau mot de passe a été demandé pour votre compte.',
      `Le lien ne fonctionne qu’une fois, jusqu’au ${until}. Si vous utilisez un second facteur, il reste nécessaire.`,
    ],
    button: 'Définir un nouveau mot de passe',
    foot: 'Si ce n’était pas vous, ignorez cet e-mail : votre mot de passe ne change pas.',
  }),
  signInChanged: ({ change, at }) => ({
    subject: CHANGES[change],
    preview: 'Si c’était vous, il n’y a rien à faire.',
    paragraphs: [
      `Cela s’est produit le ${at}.`,
      'Si c’était vous, il n’y a rien à faire. Sinon, définissez un nouveau mot de passe, ce qui met fin à toutes les sessions, et vérifiez votre application d’authentification et vos clés d’accès.',
    ],
    button: 'Ouvrir le compte',
    foot: 'Vous recevez cet e-mail parce qu’il concerne votre compte. Un espace de travail ne peut pas désactiver ces e-mails.',
  }),
  domainLost: ({ domain, workspace }) => ({
    subject: `${domain} ne peut plus envoyer d’e-mails`,
    preview: 'Ses enregistrements DNS sont absents ou incorrects.',
    paragraphs: [
      `Les enregistrements DNS de ${domain} ont été absents ou incorrects plus longtemps que ne dure une panne passagère. ${workspace} ne peut donc plus envoyer d’e-mails depuis ce domaine.`,
      'Les e-mails acceptés attendent et seront envoyés dès que les enregistrements seront de nouveau corrects. Ceux-ci sont vérifiés toutes les heures.',
    ],
    button: 'Ouvrir le domaine',
    foot: warned(workspace),
  }),
  failures: {
    timeout: 'délai dépassé',
    unresolved_host: 'hôte introuvable',
    forbidden_address: 'adresse interdite',
    no_connection: 'pas de connexion',
    connection_lost: 'connexion interrompue',
    untrusted_tls: 'TLS non fiable',
    malformed_answer: 'réponse incorrecte',
    sealed_secret: 'secret illisible',
  },
  webhookDisabled: ({ workspace, url, failures, results, at }) => ({
    subject: 'Un point de terminaison webhook a été désactivé',
    preview: counted('fr', failures, {
      one: '# livraison a échoué.',
      many: '# de livraisons de suite ont échoué.',
      other: '# livraisons de suite ont échoué.',
    }),
    paragraphs: [
      counted('fr', failures, {
        one: `# livraison à ${url} a échoué. Le point de terminaison a donc été désactivé le ${at}. Il ne reçoit plus d’événements.`,
        many: `# de livraisons de suite à ${url} ont échoué. Le point de terminaison a donc été désactivé le ${at}. Il ne reçoit plus d’événements.`,
        other: `# livraisons de suite à ${url} ont échoué. Le point de terminaison a donc été désactivé le ${at}. Il ne reçoit plus d’événements.`,
      }),
      ...(results === null ? [] : [`Derniers résultats : ${results}.`]),
      'Réactivez-le dès qu’il répond à nouveau. Vous pouvez renvoyer les événements qu’il a manqués ou les lire dans le journal des événements.',
    ],
    button: 'Ouvrir le point de terminaison',
    foot: warned(workspace),
  }),
  campaignPaused: ({ workspace, campaign, reason, remaining }) => ({
    subject: `La campagne « ${campaign} » est en pause`,
    preview: PAUSED[reason],
    title: `« ${campaign} » est en pause`,
    paragraphs: [
      PAUSED[reason],
      counted('fr', remaining, {
        one: '# destinataire ne l’a pas reçue. Si vous la reprenez, elle ne sera envoyée qu’aux destinataires restants.',
        many: '# de destinataires ne l’ont pas reçue. Si vous la reprenez, elle ne sera envoyée qu’à eux.',
        other: '# destinataires ne l’ont pas reçue. Si vous la reprenez, elle ne sera envoyée qu’à eux.',
      }),
    ],
    button: 'Ouvrir la campagne',
    foot: warned(workspace),
  }),
};
