import { WAY_OUT_WORDS } from '../../../mail/html/way-out-words.ts';
import type { PageTexts } from './en.ts';

export const ja: PageTexts = {
  language: 'ja',
  preferences: 'メール配信の設定',
  forAddress: (address) => `${address} の設定`,
  whatYouGet: '受け取りたいもの',
  nothingOffered: '選択できるリストはありません。',
  save: '保存',
  saved: '選択を保存しました。',
  everythingOff: 'すべての配信を停止',
  offHint: '領収書や新しいパスワードなど、ご自身で依頼されたものは引き続き届きます。',
  isOff: 'すべての配信が停止されています。',
  again: 'メールの受信を再開',
  isBack: 'メールの受信を再開しました。',
  isBlocked: 'このアドレスは、届かない、または受信を希望しないと報告されたため、メールは送信されません。',
  unsubscribe: WAY_OUT_WORDS.ja,
  askUnsubscribe: '今後このメールの配信を停止しますか？',
  unsubscribed: '配信を停止しました',
  noMore: '今後このメールは届きません。このページを閉じてかまいません。',
  isTest: 'これはテストです',
  isTestHint:
    'このリンクはテストメールのもので、誰の配信も停止しません。実際に配信されるメールでは、受信者の配信を停止します。',
  chooseInstead: '受け取るものを選ぶ',
  confirm: '確認',
  askConfirm: (list) => `「${list}」を受け取りますか？`,
  confirmed: '登録が完了しました',
  confirmedHint: (list) => `今後「${list}」をお届けします。このページを閉じてかまいません。`,
  badLink: 'このリンクは無効です',
  badLinkHint: 'メールから、リンク全体をそのままの形でもう一度開いてください。',
  mailSubject: (list) => `ご確認ください：${list}`,
  mailText: (list, sender, url) =>
    `${sender} の「${list}」を受け取るために、このアドレスが入力されました。\n\n確認するには、次のページを開いてボタンを押してください。\n${url}\n\nお心当たりがない場合は、このメールを無視してください。何も送信されません。\n`,
};
