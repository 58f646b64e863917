import { useLiveMachines } from '../../api/machines/hooks.ts';
import { useViewer } from '../../api/viewer.tsx';
import { useKeys } from '../../shell/keys.ts';
import { Skeleton } from '../../ui/display/states.tsx';
import { useMachineView, useOpenView } from './address.ts';
import { ShownConnection } from './connection-state.tsx';
import { Find } from './find.tsx';
import { Views } from './machine-views.tsx';
import { Sidebar } from './sidebar.tsx';

const NONE: readonly never[] = [];
/** Machines that have a key. */
const MOST_KEYS = 9;

/**
 * Every machine of the environment at work: how many are in each state, what moves, and each life from its
 * beginning.
 */
export default function Machines() {
  const { workspace } = useViewer();
  const { live, machines } = useLiveMachines();
  const view = useMachineView(machines ?? NONE);
  const openView = useOpenView();
  const ofKeys = (machines ?? NONE)
    .slice(0, MOST_KEYS)
    .map(({ kind }, index) => [String(index + 1), () => openView({ kind })] as const);
  useKeys({ 0: () => openView({}), ...Object.fromEntries(ofKeys) });
  return (
    <>
      <title>{`State machines · ${workspace.name} · Posthorn`}</title>
      <div className="flex h-12 shrink-0 items-center gap-3 border-b border-edge bg-sheet px-3">
        <Find machines={machines ?? NONE} />
        <span className="ml-auto">
          <ShownConnection />
        </span>
      </div>
      {machines ? (
        <div className="flex min-h-0 flex-1 flex-col xl:flex-row">
          <Sidebar machines={machines} live={live} kind={view.kind} />
          <Views machines={machines} live={live} view={view} />
        </div>
      ) : (
        <Skeleton className="m-4 h-96" />
      )}
    </>
  );
}
