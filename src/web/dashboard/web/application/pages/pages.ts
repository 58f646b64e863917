import type { ComponentType } from 'react';
import type { Permission } from '../../../../../http/auth/permissions.ts';
import type { icons } from '../ui/icons.tsx';

/** The parts of the navigation, from the top. */
export const GROUPS = {
  send: '',
  people: 'Audience',
  create: 'Create',
  build: 'Developers',
  workspace: 'Workspace',
} as const;

/** A page as the navigation, the palette and the router know it. Its code is loaded when it is opened. */
export interface PageEntry {
  /** The first part of its address; empty for the overview. */
  readonly name: string;
  readonly title: string;
  readonly group: keyof typeof GROUPS;
  readonly icon: keyof typeof icons;
  /** The key after `g` that opens the page. */
  readonly key?: string;
  /** A viewer without this permission does not see the page. */
  readonly permission?: Permission;
  /** Other words by which the palette finds it. */
  readonly words?: string;
  /** Not in the navigation: other pages and menus lead to it. */
  readonly isHidden?: boolean;
  /** The page fills the space beside the navigation, and scrolls separately in wide windows. */
  readonly isWide?: boolean;
  /** The page shows the state of the connection itself. */
  readonly showsConnection?: boolean;
  /** An API key or a printed link opens it as well. */
  readonly isForGuests?: boolean;
  /** The keys of the page itself. */
  readonly keys?: Readonly<Record<string, string>>;
  readonly load: () => Promise<{ readonly default: ComponentType }>;
}

/** Every page of the application, a line each, in the order of the navigation. */
export const pages: readonly PageEntry[] = [
  {
    name: '',
    title: 'Overview',
    group: 'send',
    icon: 'Home',
    key: 'o',
    words: 'home start',
    load: () => import('./overview/page.tsx'),
  },
  {
    name: 'emails',
    title: 'Emails',
    group: 'send',
    icon: 'Mail',
    key: 'e',
    permission: 'emails:read',
    words: 'log sent messages',
    load: () => import('./emails/page.tsx'),
  },
  {
    name: 'received',
    title: 'Inbox',
    group: 'send',
    icon: 'Inbox',
    key: 'v',
    permission: 'emails:read',
    words: 'received inbound incoming replies mail',
    load: () => import('./received/page.tsx'),
  },
  {
    name: 'captured',
    title: 'Captured mail',
    group: 'send',
    icon: 'Box',
    key: 'i',
    permission: 'emails:read',
    words: 'inbox development',
    load: () => import('./captured/page.tsx'),
  },
  {
    name: 'domains',
    title: 'Domains',
    group: 'build',
    icon: 'Globe',
    key: 'd',
    permission: 'domains:read',
    words: 'dns dkim spf sender',
    load: () => import('./domains/page.tsx'),
  },
  {
    name: 'inbound-routes',
    title: 'Inbound routes',
    group: 'build',
    icon: 'Split',
    key: 'u',
    permission: 'domains:read',
    words: 'receive mx addresses inbox',
    load: () => import('./inbound-routes/page.tsx'),
  },
  {
    name: 'mailboxes',
    title: 'Mailboxes',
    group: 'build',
    icon: 'Inbox',
    key: 'p',
    permission: 'domains:read',
    words: 'imap receive inbox account',
    load: () => import('./mailboxes/page.tsx'),
  },
  {
    name: 'webhooks',
    title: 'Webhooks',
    group: 'build',
    icon: 'Hook',
    key: 'w',
    permission: 'webhooks:read',
    words: 'endpoints deliveries',
    load: () => import('./webhooks/page.tsx'),
  },
  {
    name: 'analytics',
    title: 'Analytics',
    group: 'send',
    icon: 'Chart',
    key: 'n',
    permission: 'emails:read',
    words: 'numbers statistics rates opens clicks',
    load: () => import('./analytics/page.tsx'),
  },
  {
    name: 'contacts',
    title: 'Contacts',
    group: 'people',
    icon: 'Person',
    key: 'c',
    permission: 'contacts:read',
    words: 'people subscribers import csv',
    load: () => import('./contacts/page.tsx'),
  },
  {
    name: 'audiences',
    title: 'Audiences',
    group: 'people',
    icon: 'People',
    key: 'a',
    permission: 'contacts:read',
    words: 'lists segments filter',
    load: () => import('./audiences/page.tsx'),
  },
  {
    name: 'suppressions',
    title: 'Suppressions',
    group: 'people',
    icon: 'Block',
    key: 'x',
    permission: 'contacts:read',
    words: 'blocked unsubscribed bounced complaints',
    load: () => import('./suppressions/page.tsx'),
  },
  {
    name: 'templates',
    title: 'Templates',
    group: 'create',
    icon: 'Page',
    key: 't',
    permission: 'templates:read',
    words: 'liquid html markdown editor',
    load: () => import('./templates/page.tsx'),
  },
  {
    name: 'images',
    title: 'Images',
    group: 'create',
    icon: 'Picture',
    permission: 'templates:read',
    words: 'pictures photos assets upload library logo media',
    load: () => import('./images/page.tsx'),
  },
  {
    name: 'campaigns',
    title: 'Campaigns',
    group: 'create',
    icon: 'Megaphone',
    key: 'b',
    permission: 'campaigns:read',
    words: 'newsletter broadcast send',
    load: () => import('./campaigns/page.tsx'),
  },
  {
    name: 'flows',
    title: 'Flows',
    group: 'create',
    icon: 'Flow',
    key: 'f',
    permission: 'campaigns:read',
    words: 'automation journey workflow drip sequence',
    load: () => import('./flows/page.tsx'),
  },
  {
    name: 'api-keys',
    title: 'API keys',
    group: 'build',
    icon: 'Key',
    key: 'k',
    permission: 'api-keys:read',
    words: 'tokens',
    load: () => import('./api-keys/page.tsx'),
  },
  {
    name: 'requests',
    title: 'Requests',
    group: 'build',
    icon: 'List',
    key: 'r',
    permission: 'api-keys:read',
    words: 'api log history errors',
    load: () => import('./requests/page.tsx'),
  },
  {
    name: 'machines',
    title: 'State machines',
    group: 'build',
    icon: 'Machine',
    key: 'l',
    permission: 'emails:read',
    words: 'live view states inspector',
    isWide: true,
    isForGuests: true,
    showsConnection: true,
    keys: {
      '/': 'Find an actor by its ID',
      '0': 'All machines',
      '1 … 9': 'One machine',
      '← →': 'Step through a life',
      'Home End': 'First step, latest step',
      Space: 'Replay, pause',
    },
    load: () => import('./machines/machines-canvas.tsx'),
  },
  {
    name: 'start',
    title: 'First steps',
    group: 'send',
    icon: 'Flow',
    permission: 'emails:read',
    isHidden: true,
    words: 'wizard setup getting started',
    load: () => import('./start/page.tsx'),
  },
  {
    name: 'members',
    title: 'Members',
    group: 'workspace',
    icon: 'People',
    key: 'm',
    words: 'people invitations roles team',
    load: () => import('./members/page.tsx'),
  },
  {
    name: 'billing',
    title: 'Plan and usage',
    group: 'workspace',
    icon: 'Card',
    permission: 'billing:read',
    words: 'billing quota invoice subscription',
    load: () => import('./billing/page.tsx'),
  },
  {
    name: 'audit-log',
    title: 'Audit log',
    group: 'workspace',
    icon: 'List',
    permission: 'members:write',
    words: 'history who did',
    load: () => import('./audit-log/page.tsx'),
  },
  {
    name: 'settings',
    title: 'Settings',
    group: 'workspace',
    icon: 'Gear',
    key: 's',
    words: 'brand logo name archive delete time zone',
    load: () => import('./settings/page.tsx'),
  },
  {
    name: 'account',
    title: 'Your account',
    group: 'workspace',
    icon: 'Lock',
    isHidden: true,
    words: 'password two factor passkeys sessions security',
    load: () => import('./account/page.tsx'),
  },
];
