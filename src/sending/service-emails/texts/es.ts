import type { SignInChange } from '../../../accounts/service-emails.ts';
import { counted } from '../../../platform/text/plurals.ts';
import type { PauseReason, ServiceTexts } from './texts.ts';

const CHANGES: Readonly<Record<SignInChange, string>> = {
  passwordChanged: 'Se ha cambiado la contraseña de su cuenta',
  passwordReset: 'Se ha establecido una contraseña nueva para su cuenta mediante un enlace',
  authenticatorAdded: 'Se ha añadido una aplicación de autenticación a su cuenta',
  authenticatorRemoved: 'Se ha eliminado la aplicación de autenticación de su cuenta',
  passkeyAdded: 'Se ha añadido una llave de acceso a su cuenta',
  passkeyRemoved: 'Se ha eliminado una llave de acceso de su cuenta',
  codeRepeated:
    'Se ha vuelto a probar un código ya usado de su aplicación de autenticación y se ha rechazado',
};

const PAUSED: Readonly<Record<PauseReason, string>> = {
  quota_exceeded: 'El espacio de trabajo ha usado todos los correos de este mes.',
  bounce_rate:
    'Se han devuelto demasiados correos de la campaña. Una lista con muchas direcciones no válidas perjudica la reputación de su dominio.',
  complaint_rate: 'Demasiados destinatarios han marcado la campaña como spam.',
  canary: 'La primera parte se ha devuelto o marcado como spam más a menudo de lo que usted permite.',
  sender_unverified: 'El dominio de envío de la campaña ya no está verificado.',
};

const warned = (workspace: string): string =>
  `Recibe este correo como propietario o administrador de ${workspace}. Puede desactivar estos correos en la configuración del espacio de trabajo.`;

export const es: ServiceTexts = {
  language: 'es',
  orOpen: 'O abra esta dirección:',
  invitation: ({ workspace, role, until }) => ({
    subject: `Únase a ${workspace}`,
    preview: `Ha recibido una invitación con el rol «${role}».`,
    title: `Invitación a ${workspace}`,
    paragraphs: [
      `Un miembro de ${workspace} le ha invitado con el rol «${role}».`,
      `La invitación es solo para esta dirección, funciona una vez y caduca el ${until}.`,
    ],
    button: 'Aceptar la invitación',
    foot: 'Si no esperaba ninguna invitación, ignore este correo: solo este enlace da acceso.',
  }),
  passwordReset: ({ until }) => ({
    subject: 'Establecer una contraseña nueva',
    preview: 'El enlace funciona una vez, durante una hora.',
    paragraphs: [
      'Se ha solicitado una contraseña nueva para su cuenta.',
      `El enlace funciona una vez, hasta el ${until}. Si usa un segundo factor, lo seguirá necesitando.`,
    ],
    button: 'Establecer una contraseña nueva',
    foot: 'Si no ha sido usted, ignore este correo: su contraseña no cambia.',
  }),
  signInChanged: ({ change, at }) => ({
    subject: CHANGES[change],
    preview: 'Si ha sido usted, no tiene que hacer nada.',
    paragraphs: [
      `Ocurrió el ${at}.`,
      'Si ha sido usted, no tiene que hacer nada. Si no, establezca una contraseña nueva, con la que se cierran todas las sesiones, y revise su aplicación de autenticación y sus llaves de acceso.',
    ],
    button: 'Abrir la cuenta',
    foot: 'Recibe este correo porque trata de su cuenta. Un espacio de trabajo no puede desactivar estos correos.',
  }),
  domainLost: ({ domain, workspace }) => ({
    subject: `${domain} ya no puede enviar correos`,
    preview: 'Sus registros DNS faltan o son incorrectos.',
    paragraphs: [
      `Los registros DNS de ${domain} han faltado o han sido incorrectos durante más tiempo del que dura un fallo pasajero. Por eso, ${workspace} no puede enviar correos desde este dominio.`,
      'Los correos aceptados esperan y se enviarán en cuanto los registros vuelvan a ser correctos. Los registros se comprueban cada hora.',
    ],
    button: 'Abrir el dominio',
    foot: warned(workspace),
  }),
  failures: {
    timeout: 'tiempo agotado',
    unresolved_host: 'host no encontrado',
    forbidden_address: 'dirección no permitida',
    no_connection: 'sin conexión',
    connection_lost: 'conexión interrumpida',
    untrusted_tls: 'TLS no fiable',
    malformed_answer: 'respuesta incorrecta',
    sealed_secret: 'secreto ilegible',
  },
  webhookDisabled: ({ workspace, url, failures, results, at }) => ({
    subject: 'Se ha desactivado un punto de conexión de webhook',
    preview: counted('es', failures, {
      one: 'Ha fallado # entrega.',
      many: 'Han fallado # de entregas seguidas.',
      other: 'Han fallado # entregas seguidas.',
    }),
    paragraphs: [
      counted('es', failures, {
        one: `Ha fallado # entrega a ${url}. Por eso, el punto de conexión se desactivó el ${at}. Ya no recibe eventos.`,
        many: `Han fallado # de entregas seguidas a ${url}. Por eso, el punto de conexión se desactivó el ${at}. Ya no recibe eventos.`,
        other: `Han fallado # entregas seguidas a ${url}. Por eso, el punto de conexión se desactivó el ${at}. Ya no recibe eventos.`,
      }),
      ...(results === null ? [] : [`Últimos resultados: ${results}.`]),
      'Actívelo cuando vuelva a responder. Puede reenviar los eventos que no ha recibido o leerlos en el registro de eventos.',
    ],
    button: 'Abrir el punto de conexión',
    foot: warned(workspace),
  }),
  campaignPaused: ({ workspace, campaign, reason, remaining }) => ({
    subject: `La campaña «${campaign}» está en pausa`,
    preview: PAUSED[reason],
    title: `«${campaign}» está en pausa`,
    paragraphs: [
      PAUSED[reason],
      counted('es', remaining, {
        one: '# destinatario no la ha recibido. Si la reanuda, se enviará solo a quien falta.',
        many: '# de destinatarios no la han recibido. Si la reanuda, se enviará solo a ellos.',
        other: '# destinatarios no la han recibido. Si la reanuda, se enviará solo a ellos.',
      }),
    ],
    button: 'Abrir la campaña',
    foot: warned(workspace),
  }),
};
