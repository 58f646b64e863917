import { createContext, type ReactNode, useContext } from 'react';
import type { Permission } from '../../../../../http/auth/permissions.ts';
import type { Environment, Session } from './session.ts';

/** Whoever looks at a page: who it is, in which environment, and what they may do. */
export interface Viewer {
  readonly session: Session;
  readonly environment: Environment;
  readonly may: (permission: Permission) => boolean;
  /** Hears that the session has ended, and anything else to be told on the way out. */
  readonly onExpired: () => void;
  readonly onSignOut: () => void;
}

const Context = createContext<Viewer | null>(null);

/** Tells everything inside who looks at it. */
export const ViewerProvider = ({
  viewer,
  children,
}: {
  readonly viewer: Viewer;
  readonly children: ReactNode;
}) => <Context value={viewer}>{children}</Context>;

/** Whoever looks at the page. */
export function useViewer(): Viewer {
  const viewer = useContext(Context);
  if (!viewer) throw new Error('A page is shown to nobody.');
  return viewer;
}
