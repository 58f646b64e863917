import { counted } from '../../../../../../platform/text/plurals.ts';
import type { EntranceWords } from './en.ts';

export const pt: EntranceWords = {
  language: 'pt',
  invited: 'Convite para o Posthorn',
  join: (workspace) => `Participar de ${workspace}`,
  invitation: ({ by, workspace, role, email, until }) =>
    `${by === null ? 'Você recebeu um convite' : `${by} convidou você`} para o espaço de trabalho ${workspace} com a função “${role}”. O convite é para ${email} e expira em ${until}.`,
  signedInAs: (email) => `Você entrou como ${email}.`,
  accept: 'Aceitar o convite',
  cannotAccept: 'Este convite não pode ser aceito',
  cannotShow: 'O convite não pode ser mostrado agora',
  signInInstead: 'Entrar com uma conta existente',
  createInstead: 'Criar uma conta',
  name: 'Seu nome',
  email: 'Endereço de e-mail',
  password: 'Senha',
  passwordHint: 'Pelo menos 12 caracteres. Algumas palavras sem relação entre si são a melhor escolha.',
  code: 'Código do aplicativo autenticador',
  codeHint: 'Os seis dígitos do seu aplicativo autenticador ou um código de recuperação.',
  signIn: 'Entrar',
  signInTitle: 'Entrar no Posthorn',
  passkey: 'Entrar com uma chave de acesso',
  liveView: 'Abrir a visão ao vivo com uma chave de API',
  lockedOut: 'Não consegue entrar?',
  newPasswordBy:
    'O operador do servidor pode mostrar um link para uma nova senha. Nenhum e-mail é necessário:',
  lostFactorBy:
    'Se o aplicativo autenticador foi perdido e não resta nenhum código de recuperação, acrescente isto ao comando:',
  choosePassword: 'Escolha uma nova senha',
  choosePasswordHint: 'Todas as suas sessões são encerradas. Entre com a nova senha.',
  setPassword: 'Definir a senha',
  openAgain: 'Abra o link novamente',
  openAgainHint:
    'A parte secreta do link foi retirada do endereço desta página para continuar em sigilo. Abra o link completo novamente.',
  invitationNeedsLink: 'Para um convite, você precisa do link que recebeu.',
  resetNeedsLink: 'Para uma nova senha, você precisa do link que recebeu.',
  toSignIn: 'Ir para o login',
  why: {
    signedOut: 'Você saiu.',
    sessionEnded: 'Sua sessão terminou. Entre novamente.',
    passwordSet: 'A senha foi alterada. Entre com ela.',
    alreadySetUp: 'A primeira conta já existe.',
  },
  form: {
    working: 'Aguarde…',
    showPassword: 'Mostrar a senha',
    strengths: ['Fraca: fácil de adivinhar', 'Razoável: uma senha mais longa é mais segura', 'Boa', 'Forte'],
  },
  problems: {
    spent: 'Este link já foi usado ou expirou. Peça outro à pessoa que o enviou.',
    taken: 'Já existe uma conta com este endereço. Entre com ela e abra o link novamente.',
    full: 'Você já participa do número máximo de espaços de trabalho. Saia de um deles ou exclua um antes.',
    noWorkspace: 'Esta conta não participa de nenhum espaço de trabalho. Peça um convite.',
    credentials: 'O endereço ou a senha está incorreto.',
    code: 'Digite um novo código do seu aplicativo autenticador ou um código de recuperação. Cada um funciona uma vez.',
    tooSoon: (seconds) =>
      counted('pt', seconds, {
        one: 'Muitas tentativas. Tente novamente em # segundo.',
        many: 'Muitas tentativas. Tente novamente em # de segundos.',
        other: 'Muitas tentativas. Tente novamente em # segundos.',
      }),
    name: 'Digite seu nome, sem caracteres invisíveis.',
    password:
      'Use de 12 a 128 caracteres, sem sequências nem senhas comuns, e mais do que seu nome e seu endereço.',
    away: 'Não é possível acessar o serviço. Tente novamente mais tarde.',
  },
};
