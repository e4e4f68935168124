/** `tandem verify`: checks every entry of a data directory, and executes its chain again. Changes nothing without `--repair`. */
import type { Command } from 'commander'
import { CHAINS } from '../chain/config.ts'
import { type Fault, verifyStore } from '../engine/verification/verify.ts'
import { NodeError } from '../errors.ts'
import { openStoreForVerification, repairStore } from '../store/level.ts'
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

async function verify(dataDir: string, from: number, { output }: Writers): Promise<void> {
  const { identity, store, problems, notices } = await openStoreForVerification(dataDir)
  for (const notice of notices) output.write(notice)
  const progress = createProgress(process.stderr, Date.now)
  let [blocks, gas, printed] = [0, 0n, 0]
  try {
    const { faults, head, executed, nodes } = await verifyStore({
      store,
      problems,
      config: { ...CHAINS[identity.chain], chainId: identity.chainId },
      from,
      onFault(fault) {
        progress.clear()
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
      throw new NodeError('database', `The database in ${dataDir} has ${faults} faults${hidden}.${left}`)
    }
    output.write(
      `No fault: ${identity.chain}, blocks 0 to ${head}, ${executed} executed again ` +
        `(${progress.rates({ blocks, gas })}), ${nodes} nodes in the state of the head.`,
    )
  } finally {
    progress.clear()
    await store.close()
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
    await verify(dataDir, Number(from), writers)
  })
}
