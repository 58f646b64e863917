import { type MouseEvent, memo, useEffect, useRef } from 'react';
import { useLocation } from 'wouter';
import { navigate } from 'wouter/use-browser-location';
import { useViewer } from '../api/viewer.tsx';
import { GROUPS, type PageEntry, pages } from '../pages/pages.ts';
import { icons } from '../ui/icons.tsx';

/** The pages that the viewer may open. */
export function useOpenPages(): readonly PageEntry[] {
  const { may, session } = useViewer();
  return pages.filter(
    ({ permission, isForGuests }) =>
      (session !== null || isForGuests === true) && (permission === undefined || may(permission)),
  );
}

/** The name of the page of a path: `emails` of `/emails/em_1`. */
export const pageNameOf = (path: string): string => path.split('/')[1] ?? '';

/** The pages by group, with the one that is open. */
export function Navigation() {
  const { environment, baseOf } = useViewer();
  const [path] = useLocation();
  const open = useOpenPages();
  return (
    <nav aria-label="Pages" className="grid min-h-0 content-start gap-2.5 overflow-y-auto px-3 py-1">
      {Object.entries(GROUPS).map(([group, title]) => {
        const inGroup = open.filter((page) => page.group === group && !page.isHidden);
        return inGroup.length === 0 ? null : (
          <ul key={group} aria-label={title || 'Email'} className="grid gap-px">
            {title !== '' && (
              <li aria-hidden="true" className="px-2 pb-1 text-caption font-medium text-faint">
                {title}
              </li>
            )}
            {inGroup.map((page) => (
              <li key={page.name}>
                <PageLink
                  page={page}
                  href={`${baseOf(environment)}/${page.name}`.replace(/\/$/, '')}
                  isOpen={pageNameOf(path) === page.name}
                />
              </li>
            ))}
          </ul>
        );
      })}
    </nav>
  );
}

/**
 * Of the pages only the one that is left and the one that is opened are drawn again: a router's own links all
 * follow the address.
 */
const PageLink = memo(
  ({ page, href, isOpen }: { readonly page: PageEntry; readonly href: string; readonly isOpen: boolean }) => {
    const link = useRef<HTMLAnchorElement>(null);
    // A laptop's window is too low for all pages.
    useEffect(() => {
      if (isOpen) link.current?.scrollIntoView({ block: 'nearest' });
    }, [isOpen]);
    return (
      <a
        ref={link}
        href={href}
        onClick={(event) => follow(event, href)}
        onPointerEnter={() => void page.load()}
        aria-current={isOpen ? 'page' : undefined}
        className="nav-link scroll-my-8"
      >
        {icons[page.icon]}
        {page.title}
      </a>
    );
  },
);

/** Opens the page without a reload, except when a new tab or window is asked for. */
function follow(event: MouseEvent, href: string): void {
  if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey || event.button !== 0) return;
  event.preventDefault();
  navigate(href);
}
