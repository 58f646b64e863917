import type { PageLanguage } from '../../platform/text/language.ts';
import { holds, PERMISSION_NAMES, type Permission } from './permissions.ts';

const READING = PERMISSION_NAMES.filter((name) => name.endsWith(':read'));

/** The permissions of the roles, from the lowest role to the highest. */
export const ROLES = {
  viewer: READING,
  member: [...READING, 'emails:send', 'contacts:write', 'templates:write', 'campaigns:write'],
  admin: PERMISSION_NAMES.filter((name) => name !== '*'),
  owner: ['*'],
} as const satisfies Record<string, readonly Permission[]>;

/**
 * The name of a role. The checks of `members.role` and `invitations.role` list the same names; a test
 * compares them.
 */
export type Role = keyof typeof ROLES;

/** The names of the roles, from the lowest to the highest. */
export const ROLE_NAMES = Object.keys(ROLES) as readonly Role[];

/** The roles in the languages of pages and emails. */
export const ROLE_WORDS: Readonly<Record<PageLanguage, Readonly<Record<Role, string>>>> = {
  en: { owner: 'owner', admin: 'admin', member: 'member', viewer: 'viewer' },
  de: { owner: 'Inhaber', admin: 'Administrator', member: 'Mitglied', viewer: 'Leser' },
  fr: { owner: 'Propriétaire', admin: 'Administrateur', member: 'Membre', viewer: 'Lecteur' },
  es: { owner: 'Propietario', admin: 'Administrador', member: 'Miembro', viewer: 'Lector' },
  it: { owner: 'Proprietario', admin: 'Amministratore', member: 'Membro', viewer: 'Lettore' },
  pt: { owner: 'Proprietário', admin: 'Administrador', member: 'Membro', viewer: 'Leitor' },
  nl: { owner: 'Eigenaar', admin: 'Beheerder', member: 'Lid', viewer: 'Lezer' },
  pl: { owner: 'Właściciel', admin: 'Administrator', member: 'Członek', viewer: 'Czytelnik' },
  sv: { owner: 'Ägare', admin: 'Administratör', member: 'Medlem', viewer: 'Läsare' },
  tr: { owner: 'Sahip', admin: 'Yönetici', member: 'Üye', viewer: 'Okuyucu' },
  ar: { owner: 'مالك', admin: 'مسؤول', member: 'عضو', viewer: 'قارئ' },
  ja: { owner: 'オーナー', admin: '管理者', member: 'メンバー', viewer: '閲覧者' },
};

/**
 * The highest role that a caller may grant, remove or change in others: their own. A key counts by its
 * permissions: `*` as owner, `members:write` as admin.
 */
export function highestRole(permissions: readonly Permission[]): Role {
  if (permissions.includes('*')) return 'owner';
  return holds(permissions, 'members:write') ? 'admin' : 'viewer';
}

/** True when the first role is higher. */
export const outranks = (role: Role, other: Role): boolean =>
  ROLE_NAMES.indexOf(role) > ROLE_NAMES.indexOf(other);

/** The members who must have a second factor: none, owners and admins, or everyone. */
export type TwoFactorRule = 'off' | 'admins' | 'everyone';

/** True when members with that role are read-only until they have a second factor (ASVS 4.3.1). */
export const demandsTwoFactor = (rule: TwoFactorRule, role: Role): boolean =>
  rule === 'everyone' || (rule === 'admins' && ROLE_NAMES.indexOf(role) >= ROLE_NAMES.indexOf('admin'));
