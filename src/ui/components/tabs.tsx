/** Parts of a page as links, of which one is open: `?tab=…` in its address. */
import { linkHere, route } from '../router.ts'

/** A tab: its name in the address (empty for the first one) and its text. */
export type Tab = readonly [name: string, text: string]

/** The name of the open tab: that of the address, or the first one where the address names none of these. */
export function openTab(tabs: readonly Tab[]): string {
  const asked = route.value.parameters.get('tab') ?? ''
  return tabs.some(([name]) => name === asked) ? asked : ''
}

/** The links. */
export function Tabs({ label, tabs }: { readonly label: string; readonly tabs: readonly Tab[] }) {
  const open = openTab(tabs)
  return (
    <nav class="tabs" aria-label={label}>
      {tabs.map(([name, text]) => (
        <a
          key={name}
          href={linkHere({ tab: name === '' ? undefined : name })}
          aria-current={name === open ? 'page' : undefined}
        >
          {text}
        </a>
      ))}
    </nav>
  )
}
