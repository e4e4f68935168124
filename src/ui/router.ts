/** The route of the page, kept in the fragment: `#/block/12?tab=header`. */
import { signal } from '@preact/signals'

/** A page's name, its argument, and parameters. */
export interface Route {
  /** Empty on the overview. */
  readonly page: string
  readonly argument: string
  readonly parameters: URLSearchParams
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

function parse(hash: string): Route {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split('?', 2)
  const [page = '', ...rest] = path.split('/')
  return { page, argument: decoded(rest.join('/')), parameters: new URLSearchParams(query) }
}

/** The current route. */
export const route = signal<Route>(parse(location.hash))

addEventListener('hashchange', () => {
  route.value = parse(location.hash)
})

/** The address of a page. */
export function linkTo(
  page: string,
  argument: string | number = '',
  parameters: Readonly<Record<string, string>> = {},
): string {
  const query = new URLSearchParams(parameters).toString()
  const path = argument === '' ? page : `${page}/${encodeURIComponent(argument)}`
  return `#/${path}${query === '' ? '' : `?${query}`}`
}

/** The address of the page that is open with other parameters; those that are undefined are left out. */
export function linkHere(changed: Readonly<Record<string, string | undefined>>): string {
  const { page, argument, parameters } = route.value
  const all = { ...Object.fromEntries(parameters), ...changed }
  const kept = Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined)
  return linkTo(page, argument, Object.fromEntries(kept))
}

/** Goes to a page, as a link to it does. */
export function go(page: string, argument: string | number = ''): void {
  location.hash = linkTo(page, argument)
}

/** Shows another address of the page that is open, without opening it; does nothing where another page is open. */
export function showAddress(hash: string): void {
  if (parse(hash).page === route.peek().page) history.replaceState(null, '', hash)
}

/** Goes to an address in place of the current one, which leaves the history. */
export function replaceAddress(hash: string): void {
  history.replaceState(null, '', hash)
  route.value = parse(hash)
}

/** The same for a page. */
export function replaceWith(page: string, argument: string | number = ''): void {
  replaceAddress(linkTo(page, argument))
}
