import { WAY_OUT_WORDS } from '../../../mail/html/way-out-words.ts';
import type { PageTexts } from './en.ts';

export const ar: PageTexts = {
  language: 'ar',
  preferences: 'تفضيلات البريد الإلكتروني',
  forAddress: (address) => `للعنوان ${address}`,
  whatYouGet: 'ما تريد استلامه',
  nothingOffered: 'لا توجد قوائم للاختيار منها.',
  save: 'حفظ',
  saved: 'تم حفظ اختيارك.',
  everythingOff: 'إلغاء الاشتراك في كل شيء',
  offHint: 'ستستمر في استلام ما تطلبه بنفسك، مثل الإيصالات وكلمات المرور الجديدة.',
  isOff: 'لقد ألغيت الاشتراك في كل شيء.',
  again: 'استلام الرسائل من جديد',
  isBack: 'أنت تستلم الرسائل من جديد.',
  isBlocked: 'لا تُرسل رسائل إلى هذا العنوان، لأنه أُبلغ بأنه يتعذر الوصول إليه أو بأن الرسائل غير مرغوب فيها.',
  unsubscribe: WAY_OUT_WORDS.ar,
  askUnsubscribe: 'هل تريد التوقف عن استلام هذه الرسائل؟',
  unsubscribed: 'تم إلغاء اشتراكك',
  noMore: 'لن تستلم هذه الرسائل بعد الآن. يمكنك إغلاق هذه الصفحة.',
  isTest: 'هذا اختبار',
  isTestHint:
    'هذا الرابط في رسالة اختبار ولا يلغي اشتراك أحد. في الرسالة المرسلة إلى جمهور يلغي اشتراك مستلمها.',
  chooseInstead: 'اختيار ما تستلمه',
  confirm: 'تأكيد',
  askConfirm: (list) => `هل تريد استلام «${list}»؟`,
  confirmed: 'أنت الآن في القائمة',
  confirmedHint: (list) => `من الآن ستستلم «${list}». يمكنك إغلاق هذه الصفحة.`,
  badLink: 'هذا الرابط غير صالح',
  badLinkHint: 'افتحه من الرسالة مرة أخرى كاملًا ودون تغيير.',
  mailSubject: (list) => `يرجى التأكيد: ${list}`,
  mailText: (list, sender, url) =>
    `أُدخل هذا العنوان لاستلام «${list}» من ${sender}.\n\nللتأكيد، افتح هذه الصفحة واضغط على الزر:\n${url}\n\nإذا لم تكن أنت من أدخله، فتجاهل هذه الرسالة: لن يُرسل أي شيء.\n`,
};
