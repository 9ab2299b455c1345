// Light or dark, as the system says or as the person does.
export type Theme = 'system' | 'light' | 'dark';

const KEY = 'toolcrib.theme';
const NEXT: Record<Theme, Theme> = { system: 'dark', dark: 'light', light: 'system' };

function read(): Theme {
  const kept = localStorage.getItem(KEY);
  return kept === 'light' || kept === 'dark' ? kept : 'system';
}

let theme = $state<Theme>(read());

function show(): void {
  if (theme === 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
}
show();

export const look = {
  get theme() {
    return theme;
  },
  next() {
    theme = NEXT[theme];
    localStorage.setItem(KEY, theme);
    show();
  },
};
