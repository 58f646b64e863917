import { ConnectionState } from '../../../connection-state.tsx';
import { Find } from '../../../find.tsx';
import { useLive } from '../../../hooks.ts';
import { Views } from '../../../machine-views.tsx';
import { Sidebar } from '../../../sidebar.tsx';
import { useMachineKeys, useShownKind } from '../../../url-state.ts';
import { useLiveMachines } from '../../api/live-machines.ts';
import { useViewer } from '../../api/viewer.tsx';
import { Skeleton } from '../../ui/display/states.tsx';

const NONE: readonly never[] = [];

/** Every machine of the environment at work: how many are in each state, what moves, and each life from its beginning. */
export default function Machines() {
  const { session } = useViewer();
  const { live, machines } = useLiveMachines();
  const kind = useShownKind(machines ?? NONE);
  const connection = useLive(live, (now) => now.connection);
  useMachineKeys(machines ?? NONE);
  return (
    <>
      <title>{`State machines · ${session.workspace.name} · Posthorn`}</title>
      <div className="flex h-12 shrink-0 items-center gap-3 border-b border-edge bg-sheet px-3">
        <Find machines={machines ?? NONE} />
        <span className="ml-auto">
          <ConnectionState connection={connection} />
        </span>
      </div>
      {machines ? (
        <div className="flex min-h-0 flex-1 flex-col md:flex-row">
          <Sidebar machines={machines} live={live} kind={kind} />
          <Views machines={machines} live={live} kind={kind} />
        </div>
      ) : (
        <Skeleton className="m-4 h-96" />
      )}
    </>
  );
}
