/** `tandem verify`: checks every entry of a data directory, and executes its chain again. Changes nothing without `--repair`. */
import type { Command } from 'commander'
import type { BridgeRelease, ChainConfig } from '../chain/config.ts'
import { counted } from '../counted.ts'
import { mendChain } from '../engine/verification/mend-chain.ts'
import { type Fault, verifyEntries, verifyStore } from '../engine/verification/verify.ts'
import { NodeError } from '../errors.ts'
import { NODE_SETTINGS } from '../options/options.ts'
import { checkSetting } from '../options/setting.ts'
import { DamagedTablesError } from '../store/damage.ts'
import { configOfStored, type Identity } from '../store/identity.ts'
import { endRepair, mendStore, noteFault, openStoreForVerification, repairStore } from '../store/level.ts'
import { addDirectoryFlags, dataDirectory } from './chain-place.ts'
import { createProgress } from './progress.ts'
import type { Writers } from './start.ts'

/** Faults that are printed; a disk that fails may have one for each entry. */
const MOST_PRINTED = 200

/** `nodes 0x…: the hash of the bytes differs (block 12; expected 0x…, found 0x…)`. */
export function faultLine({ table, key, height, problem, expected, found }: Fault): string {
  const values = found === undefined ? [] : [`expected ${expected ?? 'another'}, found ${found}`]
  const notes = [...(height === undefined ? [] : [`block ${height}`]), ...values]
  return `${table} ${key}: ${problem}${notes.length === 0 ? '' : ` (${notes.join('; ')})`}`
}

const NOT_EXECUTED = ' No block was executed again.'

function directoryFault(problem: string): string {
  return faultLine({ table: 'data', key: 'directory', problem })
}

function faultsIn(dataDir: string, faults: number, what: string): NodeError {
  const hidden = faults > MOST_PRINTED ? `, of which ${MOST_PRINTED} are printed` : ''
  return new NodeError(
    'database',
    `The database in ${dataDir} has ${counted(faults, 'fault')}${hidden}.${what}`,
  )
}

/** What is done with a directory. */
interface Task {
  readonly dataDir: string
  /** First block that is executed again. */
  readonly from: number
  /** Are faults repaired? */
  readonly isRepair: boolean
  /** The release whose Bridge the chain has, in place of what the directory says. */
  readonly bridgeRelease: BridgeRelease | undefined
}

/** The constants of the directory's chain. */
function configOf({ bridgeRelease }: Task, identity: Identity): ChainConfig {
  return configOfStored(bridgeRelease === undefined ? identity : { ...identity, bridgeRelease })
}

type Opened = Awaited<ReturnType<typeof openStoreForVerification>>

/** Blocks above this height are faulty, all where it is infinite; `undefined` where no fault was found. */
type Found = number | undefined

/** Opens the database of a directory; that a repair is not complete is a problem of it, but for one that continues it. */
async function openFor({ dataDir, isRepair }: Task, output: Writers['output']): Promise<Opened> {
  const opened = await openStoreForVerification(dataDir).catch((error) => {
    if (!(error instanceof DamagedTablesError)) throw error
    for (const problem of error.problems.slice(0, MOST_PRINTED)) output.write(directoryFault(problem))
    throw faultsIn(dataDir, error.problems.length, NOT_EXECUTED)
  })
  for (const notice of opened.notices) output.write(notice)
  const { unfinished, problems } = opened
  return unfinished === undefined || isRepair ? opened : { ...opened, problems: [...problems, unfinished] }
}

async function verify(task: Task, { output }: Writers): Promise<Found> {
  const opened = await openFor(task, output)
  const { identity, store } = opened
  try {
    const check = identity.fork === undefined ? verifyChain : verifyFork
    const found = await check(task, opened, output)
    if (task.isRepair && found === undefined) await endRepair(task.dataDir, identity)
    return found
  } finally {
    await store.close()
  }
}

/** Verifies, and moves the head back until no fault is found. Throws `database` where no block is whole. */
async function repair(task: Task, writers: Writers): Promise<void> {
  const { dataDir } = task
  const onNotice = (sentence: string) => writers.output.write(sentence)
  await repairStore(dataDir, onNotice)
  let isMended = false
  for (let found = await verify(task, writers); found !== undefined; found = await verify(task, writers)) {
    const highest = found
    // Execution relies on the entries, so a repair may bring up further faults; then one without a height is beyond
    // repair.
    if (isMended && highest === Number.POSITIVE_INFINITY) throw beyondRepair(dataDir)
    isMended = true
    const { head, identity } = await mendStore(dataDir, async (store, identity) => {
      const config = configOf(task, identity)
      return { head: await mendChain(store, config, highest), identity }
    })
    if (head === undefined) {
      onNotice('No block is whole.')
      await noteFault(dataDir, identity, 'no block is whole')
      throw beyondRepair(dataDir)
    }
    onNotice(`Repaired: the last block that is whole is ${head.number} (${head.hash}); it is the head now.`)
  }
}

function beyondRepair(dataDir: string): NodeError {
  return new NodeError(
    'database',
    `The database in ${dataDir} cannot be repaired: restore a copy of it, or begin anew in another ` +
      'one, with an export of the chain ("tandem import") or a dump of a state ("tandem load").',
  )
}

/**
 * Names what is wrong with the files and the entries of a fork: without the blocks below it has no chain that could be
 * executed.
 */
async function verifyFork(
  task: Task,
  { identity, problems, store }: Opened,
  output: Writers['output'],
): Promise<undefined> {
  let faults = 0
  const onFault = (fault: Fault) => {
    if (++faults <= MOST_PRINTED) output.write(faultLine(fault))
  }
  const config = configOf(task, identity)
  for (const problem of problems) onFault({ table: 'data', key: 'directory', problem })
  await verifyEntries(store, config, onFault)
  if (faults > 0) throw faultsIn(task.dataDir, faults, '')
  output.write(
    `No fault in the files of the fork at block ${identity.fork?.number}; its blocks are not executed again.`,
  )
  return undefined
}

async function verifyChain(
  task: Task,
  { identity, store, problems }: Opened,
  output: Writers['output'],
): Promise<Found> {
  const { dataDir, from, isRepair } = task
  const progress = createProgress(process.stderr, Date.now)
  let [blocks, gas, printed] = [0, 0n, 0]
  let [first, lowest]: [string | undefined, number] = [undefined, Number.POSITIVE_INFINITY]
  try {
    const { faults, head, executed, nodes } = await verifyStore({
      store,
      problems,
      config: configOf(task, identity),
      from,
      onFault(fault) {
        progress.clear()
        first ??= faultLine(fault)
        lowest = Math.min(lowest, fault.height ?? lowest)
        if (++printed <= MOST_PRINTED) output.write(faultLine(fault))
      },
      onStep({ name, block, share }) {
        if (block !== undefined) {
          blocks++
          gas += block.gasUsed
        }
        const what = block === undefined ? name : `block ${block.height} executed`
        progress.show(what, { blocks, gas }, share)
      },
    })
    progress.clear()
    if (faults > 0) {
      if (isRepair && first !== undefined) await noteFault(dataDir, identity, first)
      if (isRepair) return executed > 0 ? lowest - 1 : Number.POSITIVE_INFINITY
      throw faultsIn(dataDir, faults, executed === 0 ? NOT_EXECUTED : '')
    }
    output.write(
      `No fault: ${identity.chain}, blocks 0 to ${head}, ${executed} executed again ` +
        `(${progress.rates({ blocks, gas })}), ${nodes} nodes in the state of the head.`,
    )
    return undefined
  } finally {
    progress.clear()
  }
}

/** Throws `invalid-options` for another text. */
function releaseIn(given: string | undefined): BridgeRelease | undefined {
  const { bridgeRelease } = NODE_SETTINGS
  if (given === undefined) return undefined
  return checkSetting(bridgeRelease, given, '--bridge-release') as BridgeRelease
}

/** Fills in the command. Its action throws `NodeError`. */
export function fillVerifyCommand(command: Command, writers: Writers): void {
  command.option('--from <height>', 'first block that is executed again', '1')
  command.option('--repair', 'go back to the last whole block where files or entries are damaged, and say so')
  command.option(
    '--bridge-release <release>',
    'the release whose Bridge a local chain has (9.0, 9.1), where its directory does not say so',
  )
  addDirectoryFlags(command)
  command
    .allowExcessArguments(false)
    .action(async (given: { from: string; repair?: boolean; bridgeRelease?: string }) => {
      const { from, repair: isRepair = false } = given
      if (!/^\d{1,15}$/.test(from)) {
        throw new NodeError('invalid-options', `--from expects a block number, not "${from}".`)
      }
      const dataDir = dataDirectory(command)
      const bridgeRelease = releaseIn(given.bridgeRelease)
      const task = { dataDir, from: Number(from), isRepair, bridgeRelease }
      if (isRepair) await repair(task, writers)
      else await verify(task, writers)
    })
}
