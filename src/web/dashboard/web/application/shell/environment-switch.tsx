import { useState } from 'react';
import { useLocation } from 'wouter';
import { ENVIRONMENTS } from '../addresses.ts';
import { useViewer } from '../api/viewer.tsx';
import { leaving } from '../editing/leaving.ts';
import { afterPaint } from '../ui/charts/painted.ts';
import { pageNameOf } from './navigation.tsx';

/**
 * The switch between test and live, always visible. The other environment has the same pages with other data.
 */
export function EnvironmentSwitch() {
  const { environment, baseOf } = useViewer();
  const [path, navigate] = useLocation();
  const [chosen, setChosen] = useState(environment);
  return (
    <fieldset className="flex rounded-lg border border-edge-strong bg-sheet p-0.5">
      <legend className="sr-only">Environment</legend>
      {(['test', 'live'] as const).map((each) => (
        <label key={each} data-color={ENVIRONMENTS[each].color} className="switch-label">
          <input
            type="radio"
            name="environment"
            className="sr-only"
            checked={chosen === each}
            onChange={() =>
              leaving.ask(() => {
                setChosen(each);
                afterPaint(() => navigate(`~${baseOf(each)}/${pageNameOf(path)}`.replace(/\/$/, '')));
              })
            }
          />
          {ENVIRONMENTS[each].name}
        </label>
      ))}
    </fieldset>
  );
}
