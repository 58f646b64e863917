import { createRoot } from 'react-dom/client';
import { applyTheme, chosenTheme } from '../theme.ts';
import { Application } from './application.tsx';

applyTheme(chosenTheme());
const view = document.getElementById('view');
if (view) createRoot(view).render(<Application />);
