import { createContext, type ReactNode, useContext } from 'react';
import type { Permission } from '../../../../../http/auth/permissions.ts';
import type { Environment, Session } from './session.ts';

/** The session, environment and permissions of the person who sees a page. */
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

export function useViewer(): Viewer {
  const viewer = useContext(Context);
  if (!viewer) throw new Error('This page has no viewer.');
  return viewer;
}
