import { Button, IconButton } from '../../ui/button.tsx';
import { icons } from '../../ui/icons.tsx';
import { ConditionRow } from './condition.tsx';
import {
  type Group,
  isGroup,
  type Joint,
  type Node,
  newCondition,
  newGroup,
  pointerTo,
} from './filter-tree.ts';

const JOINTS = {
  all: 'all of these are true',
  any: 'any of these is true',
  none: 'none of these is true',
} as const satisfies Record<Joint, string>;

/** The service takes eight levels; a group that is joined by “none” takes two of them. */
const DEEPEST = 3;

interface Problem {
  readonly path: string;
  readonly message: string;
}

/** A filter as groups of conditions. Each mistake is shown at its condition. */
export const FilterBuilder = (props: {
  readonly group: Group;
  /** Pointers from the filter's own beginning. */
  readonly problems: readonly Problem[];
  readonly onChange: (group: Group) => void;
}) => (
  <>
    {/* The form shows the filter's mistakes at the conditions. */}
    <input type="hidden" name="filter" />
    <GroupBox {...props} at="" depth={1} label="" onRemove={null} />
  </>
);

function GroupBox(props: {
  readonly group: Group;
  readonly at: string;
  readonly depth: number;
  readonly label: string;
  readonly problems: readonly Problem[];
  readonly onChange: (group: Group) => void;
  readonly onRemove: (() => void) | null;
}) {
  const { group, at, depth, onChange } = props;
  const { joint, nodes } = group;
  const name = props.label === '' ? 'Filter' : `Group ${props.label}`;
  const set = (id: number, next: Node) =>
    onChange({ ...group, nodes: nodes.map((node) => (node.id === id ? next : node)) });
  const remove = (id: number) => onChange({ ...group, nodes: nodes.filter((node) => node.id !== id) });
  return (
    <fieldset
      aria-label={name}
      className={`grid grid-cols-[minmax(0,1fr)] gap-3 ${depth === 1 ? '' : 'rounded-lg border border-edge bg-sunk p-3'}`}
    >
      <div className="flex items-center gap-2">
        <span className="whitespace-nowrap text-dim">Contacts where</span>
        <select
          aria-label={`${name}: match`}
          value={joint}
          onChange={({ target }) => onChange({ ...group, joint: target.value as Joint })}
          className="field field-small w-auto min-w-0 font-medium"
        >
          {Object.entries(JOINTS).map(([value, text]) => (
            <option key={value} value={value}>
              {text}
            </option>
          ))}
        </select>
        {props.onRemove && (
          <IconButton label={`Remove ${name.toLowerCase()}`} className="ml-auto" onClick={props.onRemove}>
            {icons.Close}
          </IconButton>
        )}
      </div>
      <div className="grid grid-cols-[minmax(0,1fr)] gap-3 border-l-2 border-edge pl-3">
        {nodes.map((node, index) => {
          const pointer = at + pointerTo(joint, index);
          const label = `${props.label === '' ? '' : `${props.label}.`}${index + 1}`;
          const isOnly = depth === 1 && nodes.length === 1;
          const onRemove = isOnly ? null : () => remove(node.id);
          return isGroup(node) ? (
            <GroupBox
              key={node.id}
              at={pointer}
              depth={depth + 1}
              label={label}
              problems={props.problems}
              group={node}
              onRemove={onRemove}
              onChange={(next) => set(node.id, next)}
            />
          ) : (
            <ConditionRow
              key={node.id}
              condition={node}
              label={`Condition ${label}`}
              problem={props.problems.find(({ path }) => path.startsWith(`${pointer}/`))?.message}
              onChange={(next) => set(node.id, next)}
              onRemove={onRemove}
            />
          );
        })}
        <div className="flex flex-wrap gap-1">
          <Button look="quiet" onClick={() => onChange({ ...group, nodes: [...nodes, newCondition()] })}>
            {icons.Plus} Add condition
          </Button>
          {depth < DEEPEST && (
            <Button
              look="quiet"
              onClick={() =>
                onChange({ ...group, nodes: [...nodes, newGroup(joint === 'all' ? 'any' : 'all')] })
              }
            >
              {icons.Plus} Add group
            </Button>
          )}
        </div>
      </div>
    </fieldset>
  );
}
