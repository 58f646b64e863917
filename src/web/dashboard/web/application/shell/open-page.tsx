import { Component, type ComponentType, lazy, memo, type ReactNode, Suspense, useEffect } from 'react';
import { useLocation } from 'wouter';
import { readAddress } from '../addresses.ts';
import { pages } from '../pages/pages.ts';
import { ButtonLink } from '../ui/button.tsx';
import { Empty, Failed, Skeleton } from '../ui/display/states.tsx';
import { Page } from '../ui/page.tsx';
import { pageNameOf, useOpenPages } from './navigation.tsx';

const views = new Map<string, ComponentType>(pages.map(({ name, load }) => [name, lazy(load)]));

/**
 * Loads the code of the page in the address, which is needed once the viewer is known. A loaded page is drawn
 * at once; React holds a lazy one back for up to 300 ms, so that placeholders do not flicker.
 */
export async function loadPageOf(address: string): Promise<void> {
  const page = pages.find(({ name }) => name === pageNameOf(readAddress(address).rest));
  if (page === undefined) return;
  // A page that fails to load is loaded again when it is drawn, and the error is shown there.
  const loaded = await page.load().catch(() => null);
  if (loaded !== null) views.set(page.name, loaded.default);
}

/** The page that the address names. */
export const OpenPage = memo(() => {
  const [path] = useLocation();
  const name = pageNameOf(path);
  const isOpen = useOpenPages().some((page) => page.name === name);
  const View = isOpen ? views.get(name) : undefined;
  // biome-ignore lint/correctness/useExhaustiveDependencies: another page begins at its top, with its content focused
  useEffect(() => {
    scrollTo(0, 0);
    if (document.activeElement === document.body)
      document.getElementById('content')?.focus({ preventScroll: true });
  }, [path]);
  if (!View) return <NoSuchPage />;
  return (
    <Barrier key={name}>
      <Suspense fallback={<LoadingPage />}>
        <View />
      </Suspense>
    </Barrier>
  );
});

/** The placeholder of a page until it can be drawn. */
export const LoadingPage = () => (
  <div className="grid gap-6">
    <Skeleton className="h-7 w-48" />
    <Skeleton className="h-64 w-full" />
  </div>
);

const NoSuchPage = () => (
  <Page title="Page not found">
    <Empty title="Not found" action={<ButtonLink to="/">Go to overview</ButtonLink>}>
      <p>
        The address is wrong, or your role does not include this page. An owner of the workspace can change
        your role.
      </p>
    </Empty>
  </Page>
);

/** Catches what a page throws, such as its code that cannot be loaded, so that the rest stays usable. */
class Barrier extends Component<{ readonly children: ReactNode }, { readonly error: Error | null }> {
  override state = { error: null };
  static getDerivedStateFromError(error: Error) {
    return { error };
  }
  override render() {
    const { error } = this.state;
    return error ? <Failed error={error} onRetry={() => location.reload()} /> : this.props.children;
  }
}
