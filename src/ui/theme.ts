/** Light or dark: as the system has it until the user chooses, and then kept in this browser. */
import { effect, signal } from '@preact/signals'

/** A choice of the user. */
export type Theme = 'auto' | 'light' | 'dark'

const KEY = 'tandem-theme'
const THEMES: readonly Theme[] = ['auto', 'light', 'dark']

function stored(): Theme {
  try {
    return THEMES.find((theme) => theme === localStorage.getItem(KEY)) ?? 'auto'
  } catch {
    return 'auto'
  }
}

/** The current choice. */
export const theme = signal<Theme>(stored())

/** Chooses the next theme. */
export function nextTheme(): void {
  theme.value = THEMES[(THEMES.indexOf(theme.value) + 1) % THEMES.length] as Theme
  try {
    localStorage.setItem(KEY, theme.value)
  } catch {
    // A browser without storage forgets the choice.
  }
}

/** Applies the theme, now and after each change. */
export function applyTheme(): void {
  effect(() => {
    document.documentElement.dataset.theme = theme.value
  })
}
