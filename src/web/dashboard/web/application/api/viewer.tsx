import { createContext, type ReactNode, useContext } from 'react';
import type { Permission } from '../../../../../http/auth/permissions.ts';
import type { Environment, Session } from './session.ts';

/** The session, environment and permissions of the person who sees a page. */
export interface Viewer {
  readonly session: Session;
  readonly environment: Environment;
  readonly may: (permission: Permission) => boolean;
  /** Called when the session has ended, with the message for the sign-in. */
  readonly onExpired: () => void;
  readonly onSignOut: () => void;
}

const Context = createContext<Viewer | null>(null);

/** Provides the viewer to everything inside. */
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
