import { counted } from '../../../../../../platform/text/plurals.ts';
import type { EntranceWords } from './en.ts';

export const fr: EntranceWords = {
  language: 'fr',
  invited: 'Invitation à rejoindre Posthorn',
  join: (workspace) => `Rejoindre ${workspace}`,
  invitation: ({ by, workspace, role, email, until }) =>
    `${by === null ? 'Vous avez reçu une invitation' : `${by} vous invite`} à rejoindre l’espace de travail ${workspace} avec le rôle « ${role} ». L’invitation est réservée à ${email} et expire le ${until}.`,
  signedInAs: (email) => `Vous utilisez actuellement le compte ${email}.`,
  accept: 'Accepter l’invitation',
  cannotAccept: 'Cette invitation ne peut pas être acceptée',
  cannotShow: 'L’invitation ne peut pas être affichée pour le moment',
  signInInstead: 'Se connecter plutôt avec un compte existant',
  createInstead: 'Créer plutôt un compte',
  name: 'Votre nom',
  email: 'Adresse e-mail',
  password: 'Mot de passe',
  passwordHint: 'Au moins 12 caractères. Quelques mots sans rapport entre eux conviennent le mieux.',
  code: 'Code de l’application d’authentification',
  codeHint: 'Les six chiffres de votre application d’authentification, ou un code de récupération.',
  signIn: 'Se connecter',
  signInTitle: 'Se connecter à Posthorn',
  passkey: 'Se connecter avec une clé d’accès',
  liveView: 'Ouvrir la vue en direct avec une clé d’API',
  lockedOut: 'Accès perdu ?',
  newPasswordBy:
    'L’exploitant du serveur peut afficher un lien pour un nouveau mot de passe. Aucun e-mail n’est nécessaire :',
  lostFactorBy:
    'Si l’application d’authentification est perdue et qu’il ne reste aucun code de récupération, ajoutez ceci à la commande :',
  choosePassword: 'Choisir un nouveau mot de passe',
  choosePasswordHint: 'Toutes vos sessions seront fermées. Connectez-vous avec le nouveau mot de passe.',
  setPassword: 'Définir le mot de passe',
  openAgain: 'Ouvrez à nouveau le lien',
  openAgainHint:
    'La partie secrète du lien a été retirée de l’adresse de cette page afin de rester confidentielle. Ouvrez à nouveau le lien entier.',
  invitationNeedsLink: 'Une invitation nécessite le lien que vous avez reçu.',
  resetNeedsLink: 'Un nouveau mot de passe nécessite le lien que vous avez reçu.',
  toSignIn: 'Aller à la connexion',
  why: {
    signedOut: 'La déconnexion est terminée.',
    sessionEnded: 'Votre session est terminée. Connectez-vous à nouveau.',
    passwordSet: 'Le mot de passe a été modifié. Connectez-vous avec celui-ci.',
    alreadySetUp: 'Le premier compte existe déjà.',
  },
  form: {
    working: 'Veuillez patienter…',
    showPassword: 'Afficher le mot de passe',
    strengths: [
      'Faible : facile à deviner',
      'Moyen : un mot de passe plus long est plus sûr',
      'Bon',
      'Très bon',
    ],
  },
  problems: {
    spent: 'Ce lien a déjà été utilisé ou a expiré. Demandez-en un autre à la personne qui vous l’a envoyé.',
    taken:
      'Un compte avec cette adresse existe déjà. Connectez-vous avec ce compte, puis ouvrez à nouveau le lien.',
    full: 'Vous avez atteint le nombre maximal d’espaces de travail. Quittez-en ou supprimez-en un d’abord.',
    noWorkspace: 'Ce compte n’appartient à aucun espace de travail. Demandez une invitation.',
    credentials: 'L’adresse ou le mot de passe est incorrect.',
    code: 'Saisissez un nouveau code de votre application d’authentification, ou un code de récupération. Chacun ne fonctionne qu’une fois.',
    tooSoon: (seconds) =>
      counted('fr', seconds, {
        one: 'Trop de tentatives. Réessayez dans # seconde.',
        many: 'Trop de tentatives. Réessayez dans # de secondes.',
        other: 'Trop de tentatives. Réessayez dans # secondes.',
      }),
    name: 'Saisissez votre nom, sans caractères invisibles.',
    password:
      'Utilisez de 12 à 128 caractères, sans suite logique ni mot de passe courant, et pas seulement votre nom ou votre adresse.',
    away: 'Le service est injoignable. Réessayez plus tard.',
  },
};
