import {
  type KeyboardEvent,
  memo,
  type ReactNode,
  useCallback,
  useDeferredValue,
  useEffect,
  useId,
  useMemo,
  useRef,
  useState,
} from 'react';
import { useLocation } from 'wouter';
import type { Permission } from '../../../../../http/auth/permissions.ts';
import { wholeName } from '../../../../../platform/text/contact-fields.ts';
import { useList, useSettled } from '../api/queries.ts';
import { useViewer } from '../api/viewer.tsx';
import { KINDS } from '../pages/templates/formats.ts';
import { icons } from '../ui/icons.tsx';
import { pageNameOf, useOpenPages } from './navigation.tsx';
import { applyNextTheme } from './theme.ts';

/** One search result. */
interface PaletteResult {
  readonly key: string;
  readonly group: string;
  readonly title: string;
  readonly sub?: string;
  readonly icon: ReactNode;
  readonly act: () => void;
  /** True for one that was found for other letters: those of now are still searched for. */
  readonly isEarlier?: boolean;
}

/** The pages of resources by the prefix of their ids. */
const BY_ID: Readonly<Record<string, string>> = {
  em: 'emails',
  dom: 'domains',
  wh: 'webhooks',
  cap: 'captured',
  rcv: 'received',
  tpl: 'templates',
  con: 'contacts',
  aud: 'audiences',
  cmp: 'campaigns',
  flw: 'flows',
};
const FEW = 5;

/** The things that can be created from everywhere. */
const CREATIONS = [
  { title: 'Create campaign', page: 'campaigns', permission: 'campaigns:write' },
  { title: 'Create template', page: 'templates', permission: 'templates:write' },
  { title: 'Create flow', page: 'flows', permission: 'campaigns:write' },
  { title: 'Create audience', page: 'audiences', permission: 'contacts:write' },
  { title: 'Add contact', page: 'contacts', permission: 'contacts:write' },
  { title: 'Add domain', page: 'domains', permission: 'domains:write' },
  { title: 'Add webhook endpoint', page: 'webhooks', permission: 'webhooks:write' },
  { title: 'Create API key', page: 'api-keys', permission: 'api-keys:write' },
  { title: 'Invite member', page: 'members', permission: 'members:write' },
] as const satisfies readonly { title: string; page: string; permission: Permission }[];

/** The code of a key that an input method has taken. */
const COMPOSING = 229;

/** The time in which the button of a page appears. */
const APPEARS_MS = 5_000;

/** Presses the button that creates something, once the page that was opened shows it. */
function pressCreate(): void {
  const before = document.querySelector('[data-create]');
  const press = (): boolean => {
    const button = document.querySelector<HTMLElement>('[data-create]');
    if (!button || button === before) return false;
    button.click();
    return true;
  };
  const watch = new MutationObserver(() => press() && watch.disconnect());
  watch.observe(document.body, { childList: true, subtree: true });
  setTimeout(() => watch.disconnect(), APPEARS_MS);
}

/** Items with a name are searched among this many of the newest. */
const NAMED = { query: { limit: 100 } } as const;
/** The pause after the last key before a search. */
const TYPING_MS = 120;

/** True when every word of the query begins a word of the text. */
const matches = (text: string, wanted: string): boolean => {
  const words = text.toLowerCase().split(/[\s@.]+/);
  return wanted
    .toLowerCase()
    .split(/\s+/)
    .every((part) => words.some((word) => word.startsWith(part)));
};

/** Finds pages, actions, emails, contacts and named resources, from everywhere. */
export default function Palette({
  onClose,
  onShortcuts,
}: {
  readonly onClose: () => void;
  readonly onShortcuts: () => void;
}) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  const [typed, setTyped] = useState('');
  const wanted = useDeferredValue(typed.trim());
  // The field comes first and takes keys at once; the results are rendered in pieces behind it.
  const isListed = useDeferredValue(true, false);
  useEffect(() => {
    const shown = dialog.current;
    shown?.showModal();
    return () => shown?.close();
  }, []);
  const found = useFound(wanted, onShortcuts);
  const groups = Map.groupBy(found, ({ group }) => group);
  // In the order in which they are shown.
  const results = [...groups.values()].flat();
  const [chosen, setChosen] = useState<string | null>(null);
  const active = results.find(({ key }) => key === chosen) ?? results[0];
  const [isEntered, setIsEntered] = useState(false);
  const isCurrent = typed.trim() === wanted;
  const choose = useCallback(
    (act: PaletteResult['act']) => {
      onClose();
      act();
    },
    [onClose],
  );
  const goBy = (step: number) => {
    const at = active ? results.indexOf(active) : -1;
    const next = results.at((at + step) % results.length);
    if (!next) return;
    setChosen(next.key);
    document.getElementById(optionOf(id, next.key))?.scrollIntoView({ block: 'nearest' });
  };
  // Enter may come before the results of the last letters: it then takes the first of them. What an arrow key
  // or the pointer has chosen is taken at once.
  const onKeyDown = (event: KeyboardEvent) => {
    // In Safari the key that ends a composition comes behind it, with this code (UI Events, 9.3).
    if (event.nativeEvent.isComposing || event.keyCode === COMPOSING) return;
    if (event.key === 'ArrowDown') goBy(1);
    else if (event.key === 'ArrowUp') goBy(-1);
    else if (event.key === 'Enter') setIsEntered(true);
    else return;
    event.preventDefault();
  };
  useEffect(() => {
    if (!isEntered || !isCurrent || !active) return;
    if (active.isEarlier === true && active.key !== chosen) return;
    setIsEntered(false);
    choose(active.act);
  }, [isEntered, isCurrent, active, chosen, choose]);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the keyboard closes it with Escape
    <dialog
      ref={dialog}
      aria-label="Search"
      onClose={onClose}
      onClick={({ target, currentTarget }) => target === currentTarget && onClose()}
      className="dialog mt-[12dvh] max-w-xl overflow-hidden"
    >
      <div className="border-b border-edge">
        <input
          role="combobox"
          aria-autocomplete="list"
          aria-expanded="true"
          aria-controls={id}
          aria-activedescendant={active && isListed ? optionOf(id, active.key) : undefined}
          autoComplete="off"
          spellCheck={false}
          value={typed}
          onChange={({ target }) => {
            setIsEntered(false);
            setChosen(null);
            setTyped(target.value);
          }}
          onKeyDown={onKeyDown}
          aria-label="Search pages, emails, contacts and campaigns"
          placeholder="Search pages, emails, contacts, campaigns, any ID…"
          className="w-full bg-transparent px-4 py-3.5 text-[15px] outline-none placeholder:text-faint"
        />
      </div>
      <div id={id} role="listbox" aria-label="Results" className="max-h-[50dvh] overflow-y-auto p-2">
        {isListed &&
          [...groups].map(([group, members]) => (
            // biome-ignore lint/a11y/useSemanticElements: a fieldset is not for options of a list
            <div key={group} role="group" aria-label={group} className="pb-1">
              <div aria-hidden="true" className="px-2.5 pt-2 pb-1 text-caption font-medium text-faint">
                {group}
              </div>
              {members.map((result) => (
                <Option
                  key={result.key}
                  id={optionOf(id, result.key)}
                  result={result}
                  isActive={result === active}
                  onPoint={setChosen}
                  onChoose={choose}
                />
              ))}
            </div>
          ))}
      </div>
      <div role="status">
        {found.length === 0 && (
          <p className="px-3 pt-4 pb-8 text-center text-dim">No results for “{wanted}”.</p>
        )}
      </div>
    </dialog>
  );
}

/** The id of the element of a result. Those of elements have no spaces (HTML, 3.2.6). */
const optionOf = (list: string, key: string): string => `${list}${key.replaceAll(' ', '-')}`;

/** A result. An arrow key renders two of them again. */
const Option = memo(
  (props: {
    readonly id: string;
    readonly result: PaletteResult;
    readonly isActive: boolean;
    readonly onPoint: (key: string) => void;
    readonly onChoose: (act: PaletteResult['act']) => void;
  }) => {
    const { key, title, sub, icon, act } = props.result;
    return (
      <button
        type="button"
        // The field keeps the focus.
        tabIndex={-1}
        id={props.id}
        role="option"
        aria-selected={props.isActive}
        // Chromium sends a move of no length where the list scrolls beneath a pointer at rest.
        onMouseMove={({ movementX, movementY }) => (movementX !== 0 || movementY !== 0) && props.onPoint(key)}
        onMouseDown={(event) => event.preventDefault()}
        onClick={() => props.onChoose(act)}
        className="flex min-h-9 w-full cursor-pointer items-center gap-3 rounded-md px-2.5 py-1 text-left aria-selected:bg-hover"
      >
        <span className="text-dim">{icon}</span>
        <span className="min-w-0 flex-1 truncate">{title}</span>
        {sub !== undefined && <span className="max-w-[45%] truncate text-caption text-dim">{sub}</span>}
      </button>
    );
  },
);

/** Campaigns, flows, templates and audiences that are called like that. */
function useNamed(wanted: string, isWorthAsking: boolean): readonly PaletteResult[] {
  const { may } = useViewer();
  const [, navigate] = useLocation();
  const [sends, reads] = [may('campaigns:read'), may('contacts:read')];
  const campaigns = useList('GET /campaigns', NAMED, { enabled: isWorthAsking && sends });
  const flows = useList('GET /flows', NAMED, { enabled: isWorthAsking && sends });
  const templates = useList('GET /templates', NAMED, { enabled: isWorthAsking && may('templates:read') });
  const audiences = useList('GET /audiences', NAMED, { enabled: isWorthAsking && reads });
  const domains = useList('GET /domains', NAMED, { enabled: isWorthAsking && may('domains:read') });
  if (!isWorthAsking) return [];
  return [
    { group: 'Campaigns', page: 'campaigns', icon: icons.Megaphone, items: campaigns.items },
    { group: 'Flows', page: 'flows', icon: icons.Flow, items: flows.items },
    { group: 'Templates', page: 'templates', icon: icons.Page, items: templates.items },
    { group: 'Audiences', page: 'audiences', icon: icons.People, items: audiences.items },
    { group: 'Domains', page: 'domains', icon: icons.Globe, items: domains.items },
  ].flatMap(({ group, page, icon, items = [] }) =>
    items
      .filter(({ name }) => matches(name, wanted))
      .slice(0, FEW)
      .map((item) => ({
        key: item.id,
        group,
        title: item.name,
        ...('kind' in item && item.kind !== 'template' && { sub: KINDS[item.kind].title }),
        icon,
        act: () => navigate(`/${page}/${item.id}`),
      })),
  );
}

/** The results of a search: by id at once, pages and actions by name, emails by recipient or subject. */
function useFound(wanted: string, onShortcuts: () => void): readonly PaletteResult[] {
  const { environment, baseOf, may } = useViewer();
  const [path, navigate] = useLocation();
  const openPages = useOpenPages();
  const asked = useSettled(wanted, TYPING_MS);
  const isAddress = asked.includes('@');
  const isWorthAsking = asked.length >= 3 && wanted.length >= 3;
  const named = useNamed(wanted, isWorthAsking);
  const { items: emails = [], isPlaceholderData: hasOtherEmails } = useList(
    'GET /emails',
    { query: { limit: FEW, ...(isAddress ? { to: asked } : { subject: asked }) } },
    { enabled: isWorthAsking && may('emails:read'), keeps: true },
  );
  const { items: people = [], isPlaceholderData: hasOtherPeople } = useList(
    'GET /contacts',
    { query: { limit: FEW, search: asked } },
    { enabled: isWorthAsking && may('contacts:read'), keeps: true },
  );
  const other = environment === 'test' ? 'live' : 'test';
  const fixed = useMemo((): readonly PaletteResult[] => {
    const toPages = openPages.map(({ name, title, icon, words = '' }) => ({
      key: `page ${name}`,
      group: 'Pages',
      title,
      words: `${title} ${words}`,
      icon: icons[icon],
      act: () => navigate(`/${name}`),
    }));
    const actions = [
      {
        title: `Switch to the ${other} environment`,
        icon: icons.Flow,
        act: () => navigate(`~${baseOf(other)}/${pageNameOf(path)}`.replace(/\/$/, '')),
      },
      ...CREATIONS.filter(({ permission }) => may(permission)).map(({ title, page }) => ({
        title,
        icon: icons.Plus,
        act: () => {
          navigate(`/${page}`);
          pressCreate();
        },
      })),
      { title: 'Change theme: dark or light', icon: icons.Gear, act: applyNextTheme },
      {
        title: 'Change brand, logo and colour',
        icon: icons.Gear,
        act: () => navigate('/settings?tab=brand'),
      },
      { title: 'Show keyboard shortcuts', icon: icons.List, act: onShortcuts },
      { title: 'Open documentation', icon: icons.Book, act: () => location.assign('/docs') },
    ].map((action) => ({ ...action, key: action.title, group: 'Actions', words: action.title }));
    return [...toPages, ...actions].filter(({ words }) => wanted === '' || matches(words, wanted));
  }, [openPages, navigate, baseOf, may, other, path, onShortcuts, wanted]);
  const idPage = BY_ID[/^([a-z]+)_[0-9a-z]{20,}$/.exec(wanted)?.[1] ?? ''];
  const byId =
    idPage !== undefined && openPages.some(({ name }) => name === idPage)
      ? [
          {
            key: wanted,
            group: 'By ID',
            title: wanted,
            icon: icons.Page,
            act: () => navigate(`/${idPage}/${wanted}`),
          },
        ]
      : [];
  const isAsking = asked !== wanted;
  const byWords = isWorthAsking
    ? [
        ...people.slice(0, 1).map(({ email }) => ({
          key: `emails to ${email}`,
          group: 'Emails',
          title: `Emails to ${email}`,
          icon: icons.Mail,
          act: () => navigate(`/emails?to=${encodeURIComponent(email)}`),
          isEarlier: isAsking || hasOtherPeople,
        })),
        ...people.map((contact) => ({
          key: contact.id,
          group: 'Contacts',
          title: contact.email,
          sub: wholeName(contact),
          icon: icons.Person,
          act: () => navigate(`/contacts/${contact.id}`),
          isEarlier: isAsking || hasOtherPeople,
        })),
        ...emails.map(({ id, subject, to }) => ({
          key: id,
          group: 'Emails',
          title: subject,
          sub: to.join(', '),
          icon: icons.Mail,
          act: () => navigate(`/emails/${id}`),
          isEarlier: isAsking || hasOtherEmails,
        })),
      ]
    : [];
  return [...byId, ...fixed, ...named, ...byWords];
}
