import { createContext, type ReactNode, useContext } from 'react';
import type { Permission } from '../../../../../http/auth/permissions.ts';
import type { Environment } from '../addresses.ts';
import type { Connection } from './connection.ts';
import type { MachineSource } from './machines/source.ts';
import type { Session } from './session.ts';

/** The access of a viewer: a member with an account, or a guest with an API key or a printed link. */
export interface Viewer {
  readonly workspace: Session['workspace'];
  readonly environment: Environment;
  /** The address of the overview of an environment, which all addresses of its pages begin with. */
  readonly baseOf: (environment: Environment) => string;
  readonly may: (permission: Permission) => boolean;
  /** The session of a member; null for a guest, who has the page of state machines alone. */
  readonly session: Session | null;
  /** The source of the state machines. */
  readonly machines: MachineSource;
  /** The one WebSocket of the page. */
  readonly connection: Connection;
  /** Called when the session has ended, with the message for the sign-in. */
  readonly onExpired: () => void;
  readonly onSignOut: () => void;
}

/** A viewer with an account. */
export interface Member extends Viewer {
  readonly session: Session;
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

/** The viewer of a page that only members open. */
export function useMember(): Member {
  const viewer = useViewer();
  const { session } = viewer;
  if (!session) throw new Error('This page needs a member.');
  return { ...viewer, session };
}
