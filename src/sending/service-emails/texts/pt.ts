import type { SignInChange } from '../../../accounts/service-emails.ts';
import { counted } from '../../../platform/text/plurals.ts';
import type { PauseReason, ServiceTexts } from './texts.ts';

const CHANGES: Readonly<Record<SignInChange, string>> = {
  passwordChanged: 'A senha da sua conta foi alterada',
  passwordReset: 'Uma nova senha foi definida para a sua conta por meio de um link',
  authenticatorAdded: 'Um aplicativo autenticador foi adicionado à sua conta',
  authenticatorRemoved: 'O aplicativo autenticador foi removido da sua conta',
  passkeyAdded: 'Uma chave de acesso foi adicionada à sua conta',
  passkeyRemoved: 'Uma chave de acesso foi removida da sua conta',
  codeRepeated: 'Um código já usado do seu aplicativo autenticador foi inserido novamente e recusado',
};

const PAUSED: Readonly<Record<PauseReason, string>> = {
  quota_exceeded: 'O espaço de trabalho usou todos os e-mails deste mês.',
  bounce_rate:
    'Muitos e-mails da campanha foram devolvidos. Uma lista com muitos endereços inválidos prejudica a reputação do seu domínio.',
  complaint_rate: 'Muitos destinatários marcaram a campanha como spam.',
  canary: 'A primeira parte foi devolvida ou marcada como spam com mais frequência do que você permite.',
  sender_unverified: 'O domínio de envio da campanha não está mais verificado.',
};

const warned = (workspace: string): string =>
  `Você recebe este e-mail como proprietário ou administrador de ${workspace}. Você pode desativar estes e-mails nas configurações do espaço de trabalho.`;

export const pt: ServiceTexts = {
  language: 'pt',
  orOpen: 'Ou abra este endereço:',
  invitation: ({ workspace, role, until }) => ({
    subject: `Convite para ${workspace}`,
    preview: `Sua função: ${role}.`,
    title: `Convite para ${workspace}`,
    paragraphs: [
      `Um membro de ${workspace} convidou você com a função “${role}”.`,
      `O convite é só para este endereço, funciona uma vez e expira em ${until}.`,
    ],
    button: 'Aceitar o convite',
    foot: 'Se você não esperava um convite, ignore este e-mail: só este link dá acesso.',
  }),
  passwordReset: ({ until }) => ({
    subject: 'Definir uma nova senha',
    preview: 'O link funciona uma vez, durante uma hora.',
    paragraphs: [
      'Uma nova senha foi solicitada para a sua conta.',
      `O link funciona uma vez, até ${until}. Se você usa um segundo fator, continuará precisando dele.`,
    ],
    button: 'Definir uma nova senha',
    foot: 'Se não foi você, ignore este e-mail: sua senha não muda.',
  }),
  signInChanged: ({ change, at }) => ({
    subject: CHANGES[change],
    preview: 'Se foi você, não é preciso fazer nada.',
    paragraphs: [
      `Isso aconteceu em ${at}.`,
      'Se foi você, não é preciso fazer nada. Se não foi, defina uma nova senha, o que encerra todas as sessões, e verifique o seu aplicativo autenticador e as suas chaves de acesso.',
    ],
    button: 'Abrir a conta',
    foot: 'Você recebe este e-mail porque ele trata da sua conta. Um espaço de trabalho não pode desativar estes e-mails.',
  }),
  domainLost: ({ domain, workspace }) => ({
    subject: `${domain} não pode mais enviar e-mails`,
    preview: 'Os registros DNS estão ausentes ou incorretos.',
    paragraphs: [
      `Os registros DNS de ${domain} ficaram ausentes ou incorretos por mais tempo do que dura uma falha temporária. Por isso, ${workspace} não pode enviar e-mails por este domínio.`,
      'Os e-mails aceitos aguardam e serão enviados assim que os registros estiverem corretos de novo. Os registros são verificados a cada hora.',
    ],
    button: 'Abrir o domínio',
    foot: warned(workspace),
  }),
  failures: {
    timeout: 'tempo esgotado',
    unresolved_host: 'host não encontrado',
    forbidden_address: 'endereço não permitido',
    no_connection: 'sem conexão',
    connection_lost: 'conexão interrompida',
    untrusted_tls: 'TLS não confiável',
    malformed_answer: 'resposta inválida',
    sealed_secret: 'segredo ilegível',
  },
  webhookDisabled: ({ workspace, url, failures, results, at }) => ({
    subject: 'Um endpoint de webhook foi desativado',
    preview: counted('pt', failures, {
      one: '# entrega falhou.',
      many: '# de entregas seguidas falharam.',
      other: '# entregas seguidas falharam.',
    }),
    paragraphs: [
      counted('pt', failures, {
        one: `# entrega para ${url} falhou. Por isso, o endpoint foi desativado em ${at}. Ele não recebe mais eventos.`,
        many: `# de entregas seguidas para ${url} falharam. Por isso, o endpoint foi desativado em ${at}. Ele não recebe mais eventos.`,
        other: `# entregas seguidas para ${url} falharam. Por isso, o endpoint foi desativado em ${at}. Ele não recebe mais eventos.`,
      }),
      ...(results === null ? [] : [`Últimos resultados: ${results}.`]),
      'Ative-o quando ele voltar a responder. Você pode reenviar os eventos que ele perdeu ou lê-los no registro de eventos.',
    ],
    button: 'Abrir o endpoint',
    foot: warned(workspace),
  }),
  campaignPaused: ({ workspace, campaign, reason, remaining }) => ({
    subject: `A campanha “${campaign}” está em pausa`,
    preview: PAUSED[reason],
    title: `“${campaign}” está em pausa`,
    paragraphs: [
      PAUSED[reason],
      counted('pt', remaining, {
        one: '# destinatário não a recebeu. Se você a retomar, ela será enviada só para quem falta.',
        many: '# de destinatários não a receberam. Se você a retomar, ela será enviada só para eles.',
        other: '# destinatários não a receberam. Se você a retomar, ela será enviada só para eles.',
      }),
    ],
    button: 'Abrir a campanha',
    foot: warned(workspace),
  }),
};
