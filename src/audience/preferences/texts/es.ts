import { WAY_OUT_WORDS } from '../../../mail/html/way-out-words.ts';
import type { PageTexts } from './en.ts';

export const es: PageTexts = {
  language: 'es',
  preferences: 'Preferencias de correo',
  forAddress: (address) => `Para ${address}`,
  whatYouGet: 'Lo que desea recibir',
  nothingOffered: 'No hay listas para elegir.',
  save: 'Guardar',
  saved: 'Su selección se ha guardado.',
  everythingOff: 'Cancelar todas las suscripciones',
  offHint: 'Seguirá recibiendo lo que solicite personalmente, como recibos y contraseñas nuevas.',
  isOff: 'Ha cancelado todas sus suscripciones.',
  again: 'Volver a recibir correos',
  isBack: 'Vuelve a recibir correos.',
  isBlocked:
    'No se envían correos a esta dirección, porque se ha notificado que no es accesible o que los correos no son deseados.',
  unsubscribe: WAY_OUT_WORDS.es,
  askUnsubscribe: '¿Desea dejar de recibir estos correos?',
  unsubscribed: 'Suscripción cancelada',
  noMore: 'Ya no recibirá más estos correos. Puede cerrar esta página.',
  isTest: 'Esto es una prueba',
  isTestHint:
    'Este enlace está en un correo de prueba y no da de baja a nadie. En el correo que se envía a una audiencia, da de baja a su destinatario.',
  chooseInstead: 'Elegir lo que recibe',
  confirm: 'Confirmar',
  askConfirm: (list) => `¿Desea recibir «${list}»?`,
  confirmed: 'Está en la lista',
  confirmedHint: (list) => `A partir de ahora recibirá «${list}». Puede cerrar esta página.`,
  badLink: 'Este enlace no es válido',
  badLinkHint: 'Ábralo de nuevo desde el correo, completo y sin cambios.',
  mailSubject: (list) => `Confirme, por favor: ${list}`,
  mailText: (list, sender, url) =>
    `Se ha introducido esta dirección para recibir «${list}» de ${sender}.\n\nPara confirmar, abra esta página y pulse el botón:\n${url}\n\nSi no lo ha solicitado, ignore este correo: no se enviará nada.\n`,
};
