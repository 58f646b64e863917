import { counted } from '../../../../../../platform/text/plurals.ts';
import type { EntranceWords } from './en.ts';

export const ja: EntranceWords = {
  language: 'ja',
  invited: 'Posthorn に招待されました',
  join: (workspace) => `${workspace} への招待`,
  invitation: ({ by, workspace, role, email, until }) =>
    `${by === null ? '' : `${by} さんから、`}ワークスペース ${workspace} に「${role}」として招待されました。この招待は ${email} 専用で、有効期限は ${until} です。`,
  signedInAs: (email) => `${email} としてログインしています。`,
  accept: '招待を承諾',
  cannotAccept: 'この招待は承諾できません',
  cannotShow: '現在、招待を表示できません',
  signInInstead: '既存のアカウントでログイン',
  createInstead: 'アカウントを新規作成',
  name: 'お名前',
  email: 'メールアドレス',
  password: 'パスワード',
  passwordHint: '12 文字以上。互いに関連のない単語をいくつか並べるのが最適です。',
  code: '認証アプリのコード',
  codeHint: '認証アプリの 6 桁の数字、またはリカバリーコード。',
  signIn: 'ログイン',
  signInTitle: 'Posthorn にログイン',
  passkey: 'パスキーでログイン',
  liveView: 'API キーでライブビューを開く',
  lockedOut: 'ログインできない場合',
  newPasswordBy:
    'サーバーの管理者は、新しいパスワードを設定するためのリンクを発行できます。メールは必要ありません。',
  lostFactorBy: '認証アプリを紛失し、リカバリーコードも残っていない場合は、コマンドに次を追加します。',
  choosePassword: '新しいパスワードの設定',
  choosePasswordHint: 'すべての場所でログアウトされます。新しいパスワードでログインしてください。',
  setPassword: 'パスワードを設定',
  openAgain: 'リンクをもう一度開いてください',
  openAgainHint:
    'リンクの秘密の部分は、保護のためこのページのアドレスから削除されました。リンク全体をもう一度開いてください。',
  invitationNeedsLink: '招待には、受け取ったリンクが必要です。',
  resetNeedsLink: '新しいパスワードの設定には、受け取ったリンクが必要です。',
  toSignIn: 'ログインへ',
  why: {
    signedOut: 'ログアウトしました。',
    sessionEnded: 'セッションが終了しました。もう一度ログインしてください。',
    passwordSet: 'パスワードを変更しました。新しいパスワードでログインしてください。',
    alreadySetUp: '最初のアカウントはすでに存在します。',
  },
  form: {
    working: 'お待ちください…',
    showPassword: 'パスワードを表示',
    strengths: ['弱い：推測されやすい', '普通：より長いパスワードの方が安全', '良い', '強い'],
  },
  problems: {
    spent: 'このリンクは使用済みか、有効期限が切れています。送信した方に新しいリンクを依頼してください。',
    taken:
      'このアドレスのアカウントはすでに存在します。そのアカウントでログインしてから、リンクをもう一度開いてください。',
    full: '所属できるワークスペースの上限に達しています。先に、いずれかを退出または削除してください。',
    noWorkspace: 'このアカウントはどのワークスペースにも所属していません。招待を依頼してください。',
    credentials: 'アドレスまたはパスワードが正しくありません。',
    code: '認証アプリの新しいコード、またはリカバリーコードを入力してください。各コードは一度だけ使用できます。',
    tooSoon: (seconds) =>
      counted('ja', seconds, { other: '試行回数が多すぎます。# 秒後にもう一度お試しください。' }),
    name: 'お名前を入力してください。見えない文字は使用できません。',
    password:
      '12～128 文字で、連続した文字や一般的なパスワード、お名前やアドレスだけのものは避けてください。',
    away: 'サービスに接続できません。後でもう一度お試しください。',
  },
};
