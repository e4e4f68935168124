/** The format and the network of a data directory, in `tandem.json`: checked before anything in it is changed. */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { type BridgeRelease, type ChainConfig, configOfNetwork, withRules } from '../chain/config.ts'
import { type Network, type NetworkFile, networkDifferences, networkFile } from '../chain/network.ts'
import { readNetwork } from '../chain/read-network.ts'
import { changedHeights, changesIn } from '../chain/rule-choice.ts'
import { RuleChoiceError } from '../chain/rule-names.ts'
import { describeChanges, type RuleTable, sameChanges } from '../chain/rule-table.ts'
import { definitionOf, isShipped, NETWORKS } from '../chain/shipped-networks.ts'
import type { Hex } from '../encoding/hex.ts'
import { messageOf, NodeError } from '../errors.ts'
import { replaceFile } from './atomic-file.ts'
import { DamagedError } from './damage.ts'
import { diskFiles } from './files.ts'
import { storageReason } from './storage-failure.ts'

/** Which chain a database holds. */
export interface Identity {
  readonly chain: string
  readonly chainId: number
  /** The definition of a network that is not shipped; absent for one that is. */
  readonly network?: NetworkFile | undefined
  /** The block of another chain that this one forks; absent for a chain of its own. */
  readonly fork?: ForkedBlock | undefined
  /** Rules with other heights than the network's; absent for none. */
  readonly rules?: RuleTable | undefined
  /** The release whose Bridge the chain has, where that is not the present one; directories of earlier versions lack it. */
  readonly bridgeRelease?: BridgeRelease | undefined
}

/** The identity of a chain with these constants. */
export function identityOf(
  config: Pick<ChainConfig, 'name' | 'network' | 'chainId' | 'ruleHeights' | 'bridgeRelease'>,
  fork?: ForkedBlock,
): Identity {
  const { name: chain, chainId, bridgeRelease: release } = config
  // A fork that replaces the federation is told by its Bitcoin chain.
  const bridgeRelease = release === 'takeover' ? undefined : release
  const network = definitionOf(config.network)
  return { chain, chainId, network, fork, rules: changesIn(config), bridgeRelease }
}

/** The network of a chain in a directory. Throws `database` for one that is not known. */
function networkOf({ chain, network }: Identity): Network {
  if (network !== undefined) return readNetwork(network, `network ${chain}`)
  if (isShipped(chain)) return NETWORKS[chain]
  throw new NodeError('database', `The chain of the database is of the unknown network ${chain}.`)
}

/** The constants of the chain in a directory, where it is no fork. Throws `database` for rules of a later version. */
export function configOfStored(identity: Identity): ChainConfig {
  const { chainId, rules, bridgeRelease } = identity
  const network = networkOf(identity)
  try {
    const config = withRules({ ...configOfNetwork(network), chainId }, changedHeights(network, rules))
    return bridgeRelease === '9.0' ? { ...config, bridgeRelease } : config
  } catch (error) {
    if (!(error instanceof RuleChoiceError)) throw error
    throw new NodeError('database', `The chain of the database cannot be read: ${error.message}`)
  }
}

/** A block by height and hash. */
export interface ForkedBlock {
  readonly number: number
  readonly hash: Hex
}

/**
 * Raised with every change to the tables, or to the rules that made the states in them, that another version would
 * misread; a migration comes with it where one is possible. 2: blocks pay rewards, which no chain of format 1 did.
 * 4: the tables of `account-index.ts` cover every block. 5: checksums (`checked` in `node-records.ts`).
 */
export const FORMAT = 5
/** The format of a directory with these tables and the write-ahead log of `log-format.ts`. */
const DIRECTORY_FORMAT = 6
/** Converted when it is opened. */
const FORMER_FORMAT = 5

/** The name of the file in a data directory. */
export const IDENTITY_FILE = 'tandem.json'

const forkedBlock = z.object({ number: z.int(), hash: z.templateLiteral(['0x', z.string()]) })
const identityFile = z.object({
  format: z.int(),
  chain: z.string(),
  chainId: z.int(),
  network: z.looseObject({}).optional(),
  fork: forkedBlock.optional(),
  rules: z.record(z.string(), z.int().min(0).nullable()).optional(),
  bridgeRelease: z.enum(['9.0', '9.1']).optional(),
})

/** A file of the operating system or of a start that was killed; a directory with no more than these counts as empty. */
function isIncidental(name: string): boolean {
  return name.startsWith('.') || name === 'lost+found' || name.startsWith(`${IDENTITY_FILE}.`)
}

/** Would a database be made in a directory: is it missing, or are its files incidental? Throws the file system's other errors. */
export async function isFreeDirectory(directory: string): Promise<boolean> {
  try {
    return (await readdir(directory)).every(isIncidental)
  } catch (error) {
    if (isMissing(error)) return true
    throw error
  }
}

function isWorkingDirectoryGone(): boolean {
  try {
    process.cwd()
    return false
  } catch {
    return true
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT'
}

/**
 * Checks that the directory holds a database of this format and network, or claims it when it is new. `known` is what its
 * last checkpoint states of it. Throws `database` otherwise, and when it cannot be read; then nothing in it has changed.
 */
export async function checkIdentity(
  directory: string,
  identity: Identity,
  known: Identity | undefined,
): Promise<void> {
  const found = await read(directory).catch((error) => {
    throw known === undefined ? error : new DamagedError(directory, `${IDENTITY_FILE} cannot be read`)
  })
  if (found === undefined && known === undefined) return claim(directory, identity)
  if (found === undefined) throw new DamagedError(directory, `${IDENTITY_FILE} is missing`)
  requireFormat(directory, found.format)
  if (known !== undefined && !isSame(found, known))
    throw new DamagedError(directory, `${IDENTITY_FILE} was changed`)
  // A fork has its upstream's network: without --fork, the network is wrong too, but only because of that.
  if (found.fork !== undefined && identity.fork === undefined)
    throw otherFork(directory, found.fork, undefined)
  if (found.chain !== identity.chain || found.chainId !== identity.chainId) {
    throw new NodeError(
      'database',
      `The database in ${directory} is of chain ${found.chain} (chain id ${found.chainId}), ` +
        `not ${identity.chain} (chain id ${identity.chainId}). Choose another directory for this chain.`,
    )
  }
  const others = networkDifferences(found.network, identity.network)
  if (others.length > 0) {
    throw new NodeError(
      'database',
      `The database in ${directory} is of another network ${found.chain}: its ${others.join(', ')} are not those of the file that --chain names. ` +
        'Start with the file that it was made with, or choose another directory.',
    )
  }
  if (found.bridgeRelease !== undefined && found.bridgeRelease !== identity.bridgeRelease) {
    throw new NodeError(
      'database',
      `The chain in ${directory} has the Bridge of ${found.bridgeRelease}, not of ${identity.bridgeRelease ?? 'the present release'}: ` +
        'start with the same --bridge-release, or choose another directory.',
    )
  }
  if (found.fork?.hash !== identity.fork?.hash) throw otherFork(directory, found.fork, identity.fork)
  if (!sameChanges(found.rules ?? {}, identity.rules ?? {}))
    throw otherRules(directory, found.rules, identity.rules)
}

function isSame(
  found: z.infer<typeof identityFile>,
  { chain, chainId, network, fork, rules = {} }: Identity,
): boolean {
  const isSameBlock =
    found.fork?.hash === fork?.hash && networkDifferences(found.network, network).length === 0
  return (
    found.chain === chain && found.chainId === chainId && isSameBlock && sameChanges(found.rules ?? {}, rules)
  )
}

/** Heights as they are given to `--rules`. */
const asOption = (rules: RuleTable | undefined) => `with --rules '${JSON.stringify(rules ?? {})}'`

function otherRules(
  directory: string,
  found: RuleTable | undefined,
  wanted: RuleTable | undefined,
): NodeError {
  const words = (rules: RuleTable = {}) => describeChanges(rules) || 'no other rules than its network'
  return new NodeError(
    'database',
    `The database in ${directory} holds a chain with ${words(found)}, and the options ask for ${words(wanted)}: ` +
      `start ${asOption(found)} to continue it, or choose another directory.`,
  )
}

function otherFork(
  directory: string,
  found: ForkedBlock | undefined,
  wanted: ForkedBlock | undefined,
): NodeError {
  const holds = `The database in ${directory} holds`
  const other = 'choose another directory'
  if (found === undefined) {
    return new NodeError(
      'database',
      `${holds} a chain of its own, not a fork: start without --fork, or ${other}.`,
    )
  }
  const at = `a fork at block ${found.number} (${found.hash})`
  const continuing = `--fork <url>@${found.number}`
  if (wanted === undefined) {
    return new NodeError('database', `${holds} ${at}: start with ${continuing} to continue it, or ${other}.`)
  }
  const not = `not at block ${wanted.number} (${wanted.hash})`
  return new NodeError(
    'database',
    `${holds} ${at}, ${not}: start with ${continuing} to continue it, or ${other}.`,
  )
}

/** The block that the chain in a directory forks; `undefined` when there is no database, or it is not a fork's. */
export async function readForkedBlock(directory: string): Promise<ForkedBlock | undefined> {
  return (await read(directory))?.fork
}

/** The rules of the chain in a directory; `undefined` when there is no database, or its file cannot be read. */
export async function readRules(directory: string): Promise<RuleTable | undefined> {
  const found = await read(directory).catch(() => undefined)
  return found && (found.rules ?? {})
}

/** What a directory's file holds. Throws `database` when there is no database of this format, or of the one before, in it. */
export async function requireDatabase(directory: string): Promise<Identity> {
  const found = await read(directory)
  if (found === undefined) {
    throw new NodeError(
      'database',
      `There is no database in ${directory}. Name its directory with --data-dir.`,
    )
  }
  requireFormat(directory, found.format)
  const { network, ...rest } = found
  if (network === undefined && !isShipped(found.chain))
    throw notOurs(directory, `its ${IDENTITY_FILE} names the unknown chain ${found.chain}`)
  const { chain, chainId, fork, rules, bridgeRelease } = rest
  const definition = network === undefined ? undefined : networkFile(readNetwork(network, IDENTITY_FILE))
  return { chain, chainId, network: definition, fork, rules, bridgeRelease }
}

/** Throws `database` when there is no database of this format in a directory, and when it is of a fork. */
export async function requireWholeChain(directory: string): Promise<void> {
  const { fork } = await requireDatabase(directory)
  if (fork === undefined) return
  throw new NodeError(
    'database',
    `The database in ${directory} is of a fork at block ${fork.number}, and holds no blocks below: start a node on it with --fork, and ask that.`,
  )
}

/** Notes that a database is of the present format from now on. */
export async function raiseFormat(directory: string): Promise<void> {
  const found = await read(directory)
  if (found === undefined || found.format === DIRECTORY_FORMAT) return
  const text = JSON.stringify({ ...found, format: DIRECTORY_FORMAT })
  await replaceFile(join(directory, IDENTITY_FILE), `${text}\n`, 0o666)
}

function requireFormat(directory: string, format: number): void {
  if (format === DIRECTORY_FORMAT || format === FORMER_FORMAT) return
  throw new NodeError(
    'database',
    `The database in ${directory} has format ${format}, and this version reads format ${DIRECTORY_FORMAT}. ` +
      'Run the version that made it, or choose another directory.',
  )
}

async function read(directory: string): Promise<z.infer<typeof identityFile> | undefined> {
  try {
    return identityFile.parse(JSON.parse(await readFile(join(directory, IDENTITY_FILE), 'utf8')))
  } catch (error) {
    if (isMissing(error)) return undefined
    throw notOurs(directory, `its ${IDENTITY_FILE} cannot be read`)
  }
}

async function claim(
  directory: string,
  { chain, chainId, network, fork, rules, bridgeRelease }: Identity,
): Promise<void> {
  try {
    diskFiles.makeFolder(directory)
  } catch (error) {
    const why = isWorkingDirectoryGone()
      ? 'the working directory was removed.'
      : `${storageReason(error)}. Name another one with --data-dir.`
    throw new NodeError('database', `The data directory ${directory} cannot be made or opened: ${why}`)
  }
  if (!(await isFreeDirectory(directory)))
    throw notOurs(directory, `it holds other files, and no ${IDENTITY_FILE}`)
  try {
    const identity = {
      format: DIRECTORY_FORMAT,
      chain,
      chainId,
      ...(network && { network }),
      ...(fork && { fork }),
      ...(rules && { rules }),
      ...(bridgeRelease && { bridgeRelease }),
    }
    await replaceFile(join(directory, IDENTITY_FILE), `${JSON.stringify(identity)}\n`, 0o666)
  } catch (error) {
    throw new NodeError('database', `The data directory ${directory} cannot be written: ${messageOf(error)}`)
  }
}

function notOurs(directory: string, why: string): NodeError {
  return new NodeError(
    'database',
    `The directory ${directory} is not a database of this node (${why}). It is left as it is; choose another directory.`,
  )
}
