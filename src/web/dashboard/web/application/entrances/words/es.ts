import { counted } from '../../../../../../platform/text/plurals.ts';
import type { EntranceWords } from './en.ts';

export const es: EntranceWords = {
  language: 'es',
  invited: 'Invitación a Posthorn',
  join: (workspace) => `Unirse a ${workspace}`,
  invitation: ({ by, workspace, role, email, until }) =>
    `${by === null ? 'Ha recibido una invitación' : `${by} le invita`} al espacio de trabajo ${workspace} con el rol «${role}». La invitación es para ${email} y caduca el ${until}.`,
  signedInAs: (email) => `Ha iniciado sesión como ${email}.`,
  accept: 'Aceptar la invitación',
  cannotAccept: 'Esta invitación no se puede aceptar',
  cannotShow: 'La invitación no se puede mostrar ahora',
  signInInstead: 'Iniciar sesión con una cuenta existente',
  createInstead: 'Crear una cuenta',
  name: 'Su nombre',
  email: 'Dirección de correo',
  password: 'Contraseña',
  passwordHint: 'Al menos 12 caracteres. Lo mejor son varias palabras sin relación entre sí.',
  code: 'Código de la aplicación de autenticación',
  codeHint: 'Las seis cifras de su aplicación de autenticación o un código de recuperación.',
  signIn: 'Iniciar sesión',
  signInTitle: 'Iniciar sesión en Posthorn',
  passkey: 'Iniciar sesión con una llave de acceso',
  liveView: 'Abrir la vista en directo con una clave de API',
  lockedOut: '¿No puede entrar?',
  newPasswordBy:
    'El operador del servidor puede mostrar un enlace para una contraseña nueva. No hace falta ningún correo:',
  lostFactorBy:
    'Si ha perdido la aplicación de autenticación y no le queda ningún código de recuperación, añada esto a la orden:',
  choosePassword: 'Elegir una contraseña nueva',
  choosePasswordHint: 'Se cierran todas sus sesiones. Inicie sesión con la contraseña nueva.',
  setPassword: 'Establecer la contraseña',
  openAgain: 'Abra el enlace de nuevo',
  openAgainHint:
    'La parte secreta del enlace se ha quitado de la dirección de esta página para mantenerla en privado. Abra de nuevo el enlace completo.',
  invitationNeedsLink: 'Para una invitación necesita el enlace que ha recibido.',
  resetNeedsLink: 'Para una contraseña nueva necesita el enlace que ha recibido.',
  toSignIn: 'Ir al inicio de sesión',
  why: {
    signedOut: 'Ha cerrado la sesión.',
    sessionEnded: 'Su sesión ha terminado. Iníciela de nuevo.',
    passwordSet: 'La contraseña se ha cambiado. Inicie sesión con ella.',
    alreadySetUp: 'La primera cuenta ya existe.',
  },
  form: {
    working: 'Espere…',
    showPassword: 'Mostrar la contraseña',
    strengths: [
      'Débil: fácil de adivinar',
      'Aceptable: una contraseña más larga es más segura',
      'Buena',
      'Muy buena',
    ],
  },
  problems: {
    spent: 'Este enlace ya se ha usado o ha caducado. Pida otro a la persona que se lo envió.',
    taken: 'Ya existe una cuenta con esta dirección. Inicie sesión con ella y vuelva a abrir el enlace.',
    full: 'Ha alcanzado el número máximo de espacios de trabajo. Abandone o elimine antes uno de los suyos.',
    noWorkspace: 'Esta cuenta no pertenece a ningún espacio de trabajo. Pida una invitación.',
    credentials: 'La dirección o la contraseña no son correctas.',
    code: 'Introduzca un código nuevo de su aplicación de autenticación o un código de recuperación. Cada uno funciona una vez.',
    tooSoon: (seconds) =>
      counted('es', seconds, {
        one: 'Demasiados intentos. Vuelva a intentarlo en # segundo.',
        many: 'Demasiados intentos. Vuelva a intentarlo en # de segundos.',
        other: 'Demasiados intentos. Vuelva a intentarlo en # segundos.',
      }),
    name: 'Introduzca su nombre, sin caracteres invisibles.',
    password:
      'Use de 12 a 128 caracteres, sin secuencias ni contraseñas habituales, y algo más que su nombre y su dirección.',
    away: 'No se puede acceder al servicio. Vuelva a intentarlo más tarde.',
  },
};
