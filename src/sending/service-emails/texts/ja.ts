import type { SignInChange } from '../../../accounts/service-emails.ts';
import { counted } from '../../../platform/text/plurals.ts';
import type { PauseReason, ServiceTexts } from './texts.ts';

const CHANGES: Readonly<Record<SignInChange, string>> = {
  passwordChanged: 'アカウントのパスワードが変更されました',
  passwordReset: 'リンクからアカウントの新しいパスワードが設定されました',
  authenticatorAdded: 'アカウントに認証アプリが追加されました',
  authenticatorRemoved: 'アカウントから認証アプリが削除されました',
  passkeyAdded: 'アカウントにパスキーが追加されました',
  passkeyRemoved: 'アカウントからパスキーが削除されました',
  codeRepeated: '認証アプリの使用済みコードが再び入力され、拒否されました',
};

const PAUSED: Readonly<Record<PauseReason, string>> = {
  quota_exceeded: 'ワークスペースが今月の送信上限に達しました。',
  bounce_rate: '不達になったメールが多すぎます。無効なアドレスが多いリストは、ドメインの評価を下げます。',
  complaint_rate: '迷惑メールとして報告した受信者が多すぎます。',
  canary: '最初に送信した分の不達または迷惑メール報告が、設定された割合を超えました。',
  sender_unverified: '送信ドメインの確認が無効になりました。',
};

const warned = (workspace: string): string =>
  `このメールは、${workspace} のオーナーまたは管理者の方にお送りしています。ワークスペースの設定で停止できます。`;

export const ja: ServiceTexts = {
  language: 'ja',
  orOpen: 'または、次のアドレスを開いてください：',
  invitation: ({ workspace, role, until }) => ({
    subject: `${workspace} への招待`,
    preview: `役割：${role}`,
    title: `${workspace} に招待されました`,
    paragraphs: [
      `${workspace} のメンバーが、あなたを「${role}」として招待しました。`,
      `この招待はこのアドレス専用で、一度だけ使用できます。有効期限は ${until} です。`,
    ],
    button: '招待を承諾',
    foot: '招待にお心当たりがない場合は、このメールを無視してください。このリンクがなければアクセスできません。',
  }),
  passwordReset: ({ until }) => ({
    subject: '新しいパスワードの設定',
    preview: 'リンクは一度だけ、1 時間有効です。',
    paragraphs: [
      'アカウントの新しいパスワードがリクエストされました。',
      `リンクは一度だけ使用でき、有効期限は ${until} です。2 つ目の認証要素を使用している場合は、引き続き必要です。`,
    ],
    button: '新しいパスワードを設定',
    foot: 'お心当たりがない場合は、このメールを無視してください。パスワードは変更されません。',
  }),
  signInChanged: ({ change, at }) => ({
    subject: CHANGES[change],
    preview: 'ご自身による操作であれば、何もする必要はありません。',
    paragraphs: [
      `日時：${at}`,
      'ご自身による操作であれば、何もする必要はありません。そうでない場合は、新しいパスワードを設定し（すべてのセッションが終了します）、認証アプリとパスキーを確認してください。',
    ],
    button: 'アカウントを開く',
    foot: 'このメールは、アカウントに関する重要なお知らせです。ワークスペースの設定では停止できません。',
  }),
  domainLost: ({ domain, workspace }) => ({
    subject: `${domain} から送信できなくなりました`,
    preview: 'DNS レコードがないか、正しくありません。',
    paragraphs: [
      `${domain} の DNS レコードがない、または正しくない状態が、一時的な障害よりも長く続きました。そのため、${workspace} はこのドメインからメールを送信できません。`,
      '受け付けたメールは待機し、レコードが正しくなりしだい送信されます。レコードは 1 時間ごとに確認されます。',
    ],
    button: 'ドメインを開く',
    foot: warned(workspace),
  }),
  failures: {
    timeout: 'タイムアウト',
    unresolved_host: 'ホストが見つからない',
    forbidden_address: '許可されていないアドレス',
    no_connection: '接続できない',
    connection_lost: '接続の切断',
    untrusted_tls: '信頼できない TLS',
    malformed_answer: '不正な応答',
    sealed_secret: '読み取れないシークレット',
  },
  webhookDisabled: ({ workspace, url, failures, results, at }) => ({
    subject: 'Webhook エンドポイントが無効になりました',
    preview: counted('ja', failures, { other: '# 回続けて配信に失敗しました。' }),
    paragraphs: [
      counted('ja', failures, {
        other: `${url} への配信が # 回続けて失敗したため、エンドポイントは無効になりました（${at}）。今後、イベントは届きません。`,
      }),
      ...(results === null ? [] : [`最近の結果：${results}`]),
      '再び応答するようになったら、有効にしてください。届かなかったイベントは、再送するか、イベントログで確認できます。',
    ],
    button: 'エンドポイントを開く',
    foot: warned(workspace),
  }),
  campaignPaused: ({ workspace, campaign, reason, remaining }) => ({
    subject: `キャンペーン「${campaign}」が一時停止されました`,
    preview: PAUSED[reason],
    title: `「${campaign}」が一時停止されました`,
    paragraphs: [
      PAUSED[reason],
      counted('ja', remaining, {
        other: 'まだ届いていない受信者は # 人です。再開すると、その方々にのみ送信されます。',
      }),
    ],
    button: 'キャンペーンを開く',
    foot: warned(workspace),
  }),
};
