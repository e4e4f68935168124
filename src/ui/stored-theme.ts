/** The choice between light and dark that this browser keeps. */

/** A choice of the user. */
export type Theme = 'auto' | 'light' | 'dark'

/** All choices, in the order of the button. */
export const THEMES: readonly Theme[] = ['auto', 'light', 'dark']

const KEY = 'tandem-theme'

/** The kept choice; `auto`, as the system has it, where there is none. */
export function storedTheme(): Theme {
  try {
    return THEMES.find((theme) => theme === localStorage.getItem(KEY)) ?? 'auto'
  } catch {
    return 'auto'
  }
}

/** Keeps a choice; a browser without storage forgets it. */
export function storeTheme(theme: Theme): void {
  try {
    localStorage.setItem(KEY, theme)
  } catch {
    // The choice holds until the page is closed.
  }
}

/** Shows the page in a theme. */
export function showTheme(theme: Theme): void {
  document.documentElement.dataset.theme = theme
}
