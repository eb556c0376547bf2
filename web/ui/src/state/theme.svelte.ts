// Light, dark, or as the system has it. It is no part of the address, for a link should not change it.

export const THEMES = ['auto', 'light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];

const KEY = 'memlog-theme';

class Current {
  chosen = $state<Theme>(read());
  #systemIsDark = $state(matchMedia('(prefers-color-scheme: dark)').matches);
  isDark = $derived(this.chosen === 'dark' || (this.chosen === 'auto' && this.#systemIsDark));

  constructor() {
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', (event) => (this.#systemIsDark = event.matches));
    this.#show();
  }

  choose(theme: Theme) {
    this.chosen = theme;
    try {
      localStorage.setItem(KEY, theme);
    } catch {
      // A page without storage keeps it until it is closed.
    }
    this.#show();
  }

  #show() {
    if (this.chosen === 'auto') delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = this.chosen;
  }
}

function read(): Theme {
  try {
    const text = localStorage.getItem(KEY);
    return THEMES.find((theme) => theme === text) ?? 'auto';
  } catch {
    return 'auto';
  }
}

export const theme = new Current();

/** A colour of the style sheet, for canvases. */
export function colour(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}
