/** The contracts that a chain can begin with (`--predeploy`), by name. Their code is loaded only when one is asked for. */

/** What the names stand for, in the order of the documents; each is at the address that it has on most chains. */
export const PREDEPLOY_NAMES = [
  'create2',
  'multicall3',
  'createx',
  'safe',
  'permit2',
  'entrypoint',
  'entrypoint-0.6',
  'entrypoint-0.7',
  'entrypoint-0.8',
  'relay',
] as const

/** One of them; `entrypoint` is all three releases. */
export type PredeployName = (typeof PREDEPLOY_NAMES)[number]

/** The names of single contracts or releases that the names stand for, each once. */
export function singleNames(names: readonly PredeployName[]): readonly PredeployName[] {
  const releases = PREDEPLOY_NAMES.filter((name) => name.startsWith('entrypoint-'))
  return [...new Set(names.flatMap((name) => (name === 'entrypoint' ? releases : [name])))]
}
