import { createRoot } from 'react-dom/client';
import { Application } from './application.tsx';
import { applyTheme, chosenTheme } from './shell/theme.ts';

applyTheme(chosenTheme());
const view = document.getElementById('view');
if (view) createRoot(view).render(<Application />);
