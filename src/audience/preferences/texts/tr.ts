import { WAY_OUT_WORDS } from '../../../mail/html/way-out-words.ts';
import type { PageTexts } from './en.ts';

export const tr: PageTexts = {
  language: 'tr',
  preferences: 'E-posta tercihleri',
  forAddress: (address) => `${address} için`,
  whatYouGet: 'Almak istedikleriniz',
  nothingOffered: 'Seçilebilecek liste yok.',
  save: 'Kaydet',
  saved: 'Seçiminiz kaydedildi.',
  everythingOff: 'Tüm aboneliklerden çık',
  offHint: 'Makbuzlar ve yeni parolalar gibi kendi istediğiniz iletileri almaya devam edersiniz.',
  isOff: 'Tüm aboneliklerden çıktınız.',
  again: 'Yeniden e-posta al',
  isBack: 'Yeniden e-posta alıyorsunuz.',
  isBlocked:
    'Bu adrese e-posta gönderilmiyor, çünkü adresin ulaşılamaz olduğu veya e-posta istenmediği bildirildi.',
  unsubscribe: WAY_OUT_WORDS.tr,
  askUnsubscribe: 'Bu e-postaları artık almak istemiyor musunuz?',
  unsubscribed: 'Aboneliğiniz sona erdi',
  noMore: 'Bu e-postaları artık almayacaksınız. Bu sayfayı kapatabilirsiniz.',
  isTest: 'Bu bir testtir',
  isTestHint:
    'Bu bağlantı bir test e-postasındadır ve kimsenin aboneliğini iptal etmez. Bir kitleye gönderilen e-postada alıcının aboneliğini iptal eder.',
  chooseInstead: 'Ne alacağınızı seçin',
  confirm: 'Onayla',
  askConfirm: (list) => `“${list}” almak istiyor musunuz?`,
  confirmed: 'Listedesiniz',
  confirmedHint: (list) => `Artık “${list}” alıyorsunuz. Bu sayfayı kapatabilirsiniz.`,
  badLink: 'Bu bağlantı geçerli değil',
  badLinkHint: 'Bağlantıyı e-postadan, eksiksiz ve değiştirmeden yeniden açın.',
  mailSubject: (list) => `Lütfen onaylayın: ${list}`,
  mailText: (list, sender, url) =>
    `Bu adres, ${sender} tarafından gönderilen “${list}” için girildi.\n\nOnaylamak için bu sayfayı açın ve düğmeye basın:\n${url}\n\nBunu siz yapmadıysanız bu e-postayı dikkate almayın: hiçbir şey gönderilmeyecek.\n`,
};
