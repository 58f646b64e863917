import type { SignInChange } from '../../../accounts/service-emails.ts';
import { counted } from '../../../platform/text/plurals.ts';
import type { PauseReason, ServiceTexts } from './texts.ts';

const CHANGES: Readonly<Record<SignInChange, string>> = {
  passwordChanged: 'La password del suo account è stata cambiata',
  passwordReset: 'È stata impostata una nuova password per il suo account tramite un link',
  authenticatorAdded: 'Un’app di autenticazione è stata aggiunta al suo account',
  authenticatorRemoved: 'L’app di autenticazione è stata rimossa dal suo account',
  passkeyAdded: 'Una passkey è stata aggiunta al suo account',
  passkeyRemoved: 'Una passkey è stata rimossa dal suo account',
  codeRepeated: 'Un codice già usato della sua app di autenticazione è stato riprovato e rifiutato',
};

const PAUSED: Readonly<Record<PauseReason, string>> = {
  quota_exceeded: 'L’area di lavoro ha usato tutte le e-mail di questo mese.',
  bounce_rate:
    'Troppe e-mail della campagna sono state respinte. Una lista con molti indirizzi non validi danneggia la reputazione del suo dominio.',
  complaint_rate: 'Troppi destinatari hanno segnalato la campagna come spam.',
  canary: 'La prima parte è stata respinta o segnalata come spam più spesso di quanto lei consenta.',
  sender_unverified: 'Il dominio di invio della campagna non è più verificato.',
};

const warned = (workspace: string): string =>
  `Riceve questa e-mail come proprietario o amministratore di ${workspace}. Può disattivare queste e-mail nelle impostazioni dell’area di lavoro.`;

export const it: ServiceTexts = {
  language: 'it',
  orOpen: 'Oppure apra questo indirizzo:',
  invitation: ({ workspace, role, until }) => ({
    subject: `Invito a ${workspace}`,
    preview: `Il suo ruolo: ${role}.`,
    title: `Invito a ${workspace}`,
    paragraphs: [
      `Un membro di ${workspace} la invita con il ruolo «${role}».`,
      `L’invito vale solo per questo indirizzo e funziona una volta. Scadenza: ${until}.`,
    ],
    button: 'Accetta l’invito',
    foot: 'Se non si aspettava un invito, ignori questa e-mail: solo questo link dà accesso.',
  }),
  passwordReset: ({ until }) => ({
    subject: 'Impostazione di una nuova password',
    preview: 'Il link funziona una volta, per un’ora.',
    paragraphs: [
      'È stata richiesta una nuova password per il suo account.',
      `Il link funziona una volta. Scadenza: ${until}. Se usa un secondo fattore, le servirà ancora.`,
    ],
    button: 'Imposta una nuova password',
    foot: 'Se non è stato lei, ignori questa e-mail: la sua password non cambia.',
  }),
  signInChanged: ({ change, at }) => ({
    subject: CHANGES[change],
    preview: 'Se è stato lei, non deve fare nulla.',
    paragraphs: [
      `Data e ora: ${at}.`,
      'Se è stato lei, non deve fare nulla. In caso contrario, imposti una nuova password, che chiude tutte le sessioni, e controlli la sua app di autenticazione e le sue passkey.',
    ],
    button: 'Apri l’account',
    foot: 'Riceve questa e-mail perché riguarda il suo account. Un’area di lavoro non può disattivare queste e-mail.',
  }),
  domainLost: ({ domain, workspace }) => ({
    subject: `${domain} non può più inviare e-mail`,
    preview: 'I suoi record DNS mancano o sono errati.',
    paragraphs: [
      `I record DNS di ${domain} sono rimasti assenti o errati più a lungo di quanto duri un guasto temporaneo. Perciò ${workspace} non può inviare e-mail da questo dominio.`,
      'Le e-mail accettate restano in attesa e vengono inviate appena i record sono di nuovo corretti. I record vengono controllati ogni ora.',
    ],
    button: 'Apri il dominio',
    foot: warned(workspace),
  }),
  failures: {
    timeout: 'tempo scaduto',
    unresolved_host: 'host non trovato',
    forbidden_address: 'indirizzo non consentito',
    no_connection: 'nessuna connessione',
    connection_lost: 'connessione interrotta',
    untrusted_tls: 'TLS non attendibile',
    malformed_answer: 'risposta non valida',
    sealed_secret: 'segreto illeggibile',
  },
  webhookDisabled: ({ workspace, url, failures, results, at }) => ({
    subject: 'Un endpoint webhook è stato disattivato',
    preview: counted('it', failures, {
      one: '# consegna non è riuscita.',
      many: '# di consegne consecutive non sono riuscite.',
      other: '# consegne consecutive non sono riuscite.',
    }),
    paragraphs: [
      counted('it', failures, {
        one: `# consegna a ${url} non è riuscita. Perciò l’endpoint è stato disattivato (${at}). Non riceve più eventi.`,
        many: `# di consegne consecutive a ${url} non sono riuscite. Perciò l’endpoint è stato disattivato (${at}). Non riceve più eventi.`,
        other: `# consegne consecutive a ${url} non sono riuscite. Perciò l’endpoint è stato disattivato (${at}). Non riceve più eventi.`,
      }),
      ...(results === null ? [] : [`Ultimi risultati: ${results}.`]),
      'Lo riattivi quando risponde di nuovo. Può far inviare di nuovo gli eventi persi o leggerli nel registro degli eventi.',
    ],
    button: 'Apri l’endpoint',
    foot: warned(workspace),
  }),
  campaignPaused: ({ workspace, campaign, reason, remaining }) => ({
    subject: `La campagna «${campaign}» è in pausa`,
    preview: PAUSED[reason],
    title: `«${campaign}» è in pausa`,
    paragraphs: [
      PAUSED[reason],
      counted('it', remaining, {
        one: '# destinatario non l’ha ricevuta. Se la riprende, viene inviata solo a chi manca.',
        many: '# di destinatari non l’hanno ricevuta. Se la riprende, viene inviata solo a loro.',
        other: '# destinatari non l’hanno ricevuta. Se la riprende, viene inviata solo a loro.',
      }),
    ],
    button: 'Apri la campagna',
    foot: warned(workspace),
  }),
};
