import { createRoot } from 'react-dom/client';
import { App } from './app.tsx';
import { applyTheme, chosenTheme } from './theme.ts';

applyTheme(chosenTheme());
const view = document.getElementById('view');
if (view) createRoot(view).render(<App />);
