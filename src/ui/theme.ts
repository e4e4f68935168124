/** Light or dark: as the system has it until the user chooses. */
import { signal } from '@preact/signals'
import { showTheme, storedTheme, storeTheme, THEMES, type Theme } from './stored-theme.ts'

/** The current choice. */
export const theme = signal<Theme>(storedTheme())

/** Chooses the next theme. */
export function nextTheme(): void {
  theme.value = THEMES[(THEMES.indexOf(theme.value) + 1) % THEMES.length] ?? 'auto'
  showTheme(theme.value)
  storeTheme(theme.value)
}
