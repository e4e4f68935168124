/** The sources that the node knows, and how a build-info is added from a file. */
import {
  type Checked,
  isNumber,
  isObject,
  isOneOf,
  isText,
  listOf,
  objectOf,
  orNull,
  recordOf,
} from './checks.ts'
import { callFor } from './client.ts'
import { counted, type Hex, isHex } from './format.ts'
import { forgetNames } from './names.ts'
import { may, version } from './store.ts'

/** `evm_sourcesAt`. */
const isSources = objectOf({
  match: isOneOf('exact', 'partial'),
  compilerVersion: isText,
  file: isText,
  name: isText,
  implementations: listOf(isHex),
  sources: recordOf(isText, isText),
})
/** The sources of a contract. */
export type Sources = Checked<typeof isSources>

/** `evm_addSources`. */
const isAdded = objectOf({ compilation: isHex, contracts: isNumber })

/** The sources of the contract at an address; null where none are known or the method is closed. */
export async function loadSources(address: Hex, signal?: AbortSignal): Promise<Sources | null> {
  return may('evm_sourcesAt') ? callFor(orNull(isSources), 'evm_sourcesAt', [address], signal) : null
}

/** A build-info, or one of its halves as Hardhat 3 writes them. */
export function isBuildInfo(json: unknown): json is Readonly<Record<string, unknown>> {
  return isObject(json) && (isObject(json.input) || isObject(json.output))
}

/** Members of an output that explain nothing of the code, and take most of its size. */
const LEFT_OUT: ReadonlySet<string> = new Set([
  'assembly',
  'legacyAssembly',
  'ir',
  'irAst',
  'irOptimized',
  'irOptimizedAst',
  'opcodes',
  'gasEstimates',
])

/** Build-infos with input and output: those of Hardhat 3 come in two files of one id. Throws an Error in words. */
export function wholeBuildInfos(halves: readonly Readonly<Record<string, unknown>>[]): object[] {
  const byId = new Map<unknown, Readonly<Record<string, unknown>>>()
  for (const [i, half] of halves.entries()) {
    const id = half.id ?? i
    byId.set(id, { ...byId.get(id), ...half })
  }
  return [...byId.values()].map((whole) => {
    if (!isObject(whole.input))
      throw new Error('the build-info has no input: drop the file beside it as well')
    if (!isObject(whole.output))
      throw new Error('the build-info has no output: drop the file beside it as well')
    const text = JSON.stringify(whole, (key, value: unknown) => (LEFT_OUT.has(key) ? undefined : value))
    return JSON.parse(text)
  })
}

/** Adds build-infos; what they hold in words, and for an address how they match its code. Throws an Error in words, `RpcError`. */
export async function addBuildInfos(
  halves: readonly Readonly<Record<string, unknown>>[],
  address?: Hex,
): Promise<string> {
  let contracts = 0
  for (const buildInfo of wholeBuildInfos(halves)) {
    contracts += (await callFor(isAdded, 'evm_addSources', [buildInfo])).contracts
  }
  forgetNames()
  version.value++
  const held = `sources of ${counted(contracts, 'contract')}`
  if (address === undefined) return held
  const found = await loadSources(address)
  if (found === null) throw new Error(`none of the ${held} has the code of this address`)
  return `${held}; ${found.name} has the code of this address (${found.match} match)`
}
