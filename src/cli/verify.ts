/** `tandem verify`: checks every entry of a data directory, and executes its chain again. Changes nothing without `--repair`. */
import type { Command } from 'commander'
import { CHAINS } from '../chain/config.ts'
import { type Fault, verifyStore } from '../engine/verification/verify.ts'
import { NodeError } from '../errors.ts'
import { noteFault, openStoreForVerification, repairStore } from '../store/level.ts'
import { addDirectoryFlags, dataDirectory } from './chain-place.ts'
import { createProgress } from './progress.ts'
import type { Writers } from './start.ts'

/** Faults that are printed; a disk that fails may have one for each entry. */
const MOST_PRINTED = 200

/** `nodes 0x…: the hash of the bytes is another (block 12; expected 0x…, found 0x…)`. */
export function faultLine({ table, key, height, problem, expected, found }: Fault): string {
  const values = found === undefined ? [] : [`expected ${expected ?? 'another'}, found ${found}`]
  const notes = [...(height === undefined ? [] : [`block ${height}`]), ...values]
  return `${table} ${key}: ${problem}${notes.length === 0 ? '' : ` (${notes.join('; ')})`}`
}

/** What is done with a directory. */
interface Task {
  readonly dataDir: string
  /** First block that is executed again. */
  readonly from: number
  /** Was it repaired before? */
  readonly isRepaired: boolean
}

type Opened = Awaited<ReturnType<typeof openStoreForVerification>>

async function verify(task: Task, { output }: Writers): Promise<void> {
  const opened = await openStoreForVerification(task.dataDir)
  try {
    for (const notice of opened.notices) output.write(notice)
    if (opened.identity.fork === undefined) await verifyChain(task, opened, output)
    else reportFork(task.dataDir, opened, output)
  } finally {
    await opened.store.close()
  }
}

/** Names what is wrong with the files of a fork: without the blocks below it has no chain that could be executed. */
function reportFork(dataDir: string, { identity, problems }: Opened, output: Writers['output']): void {
  for (const problem of problems) output.write(faultLine({ table: 'data', key: 'directory', problem }))
  const faults = problems.length
  if (faults > 0) throw new NodeError('database', `The database in ${dataDir} has ${faults} faults.`)
  output.write(
    `No fault in the files of the fork at block ${identity.fork?.number}; its blocks are not executed again.`,
  )
}

async function verifyChain(
  { dataDir, from, isRepaired }: Task,
  { identity, store, problems }: Opened,
  output: Writers['output'],
): Promise<void> {
  const progress = createProgress(process.stderr, Date.now)
  let [blocks, gas, printed] = [0, 0n, 0]
  let first: string | undefined
  try {
    const { faults, head, executed, nodes } = await verifyStore({
      store,
      problems,
      config: { ...CHAINS[identity.chain], chainId: identity.chainId },
      from,
      onFault(fault) {
        progress.clear()
        first ??= faultLine(fault)
        if (++printed <= MOST_PRINTED) output.write(faultLine(fault))
      },
      onStep({ name, block }) {
        if (block !== undefined) {
          blocks++
          gas += block.gasUsed
        }
        progress.show(block === undefined ? name : `block ${block.height} executed`, { blocks, gas })
      },
    })
    progress.clear()
    if (faults > 0) {
      const hidden = printed > MOST_PRINTED ? `, of which ${MOST_PRINTED} are printed` : ''
      const left = executed === 0 ? ' No block was executed again.' : ''
      if (isRepaired && first !== undefined) await noteFault(dataDir, identity, first)
      const beyond = isRepaired
        ? ' They cannot be repaired: restore a copy of the directory, or load a dump of the chain into a new one.'
        : ''
      throw new NodeError(
        'database',
        `The database in ${dataDir} has ${faults} faults${hidden}.${left}${beyond}`,
      )
    }
    output.write(
      `No fault: ${identity.chain}, blocks 0 to ${head}, ${executed} executed again ` +
        `(${progress.rates({ blocks, gas })}), ${nodes} nodes in the state of the head.`,
    )
  } finally {
    progress.clear()
  }
}

/** Fills in the command. Its action throws `NodeError`. */
export function fillVerifyCommand(command: Command, writers: Writers): void {
  command.option('--from <height>', 'first block that is executed again', '1')
  command.option('--repair', 'first go back to the last whole block where files are damaged, and say so')
  addDirectoryFlags(command)
  command.allowExcessArguments(false).action(async ({ from, repair }: { from: string; repair?: boolean }) => {
    if (!/^\d{1,15}$/.test(from)) {
      throw new NodeError('invalid-options', `--from expects a block number, not "${from}".`)
    }
    const dataDir = dataDirectory(command)
    if (repair === true) await repairStore(dataDir, (sentence) => writers.output.write(sentence))
    await verify({ dataDir, from: Number(from), isRepaired: repair === true }, writers)
  })
}
