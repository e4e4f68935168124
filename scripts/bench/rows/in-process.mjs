/** Rows of transactions on a node in process, memory and disk, against Hardhat 3 over HTTP. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { output } from '../children.mjs'
import { WARM_OPERATIONS } from '../scenes.mjs'

const CHILD = fileURLToPath(new URL('../in-process.mjs', import.meta.url))

async function sample(kind, node, { warmUp, count, nodeFlags = [] }) {
  const folder = mkdtempSync(join(tmpdir(), 'bench-in-process-'))
  try {
    const storage = node === 'tandem-disk' ? [folder] : []
    const args = [...nodeFlags, CHILD, kind, warmUp, count, ...storage].map(String)
    return JSON.parse(await output(process.execPath, args))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const KINDS = { transfer: 'transfer with receipt', erc20: 'ERC-20 transfer with receipt' }

/** Cold and warm; the limits are those of warm ones. */
export const IN_PROCESS_ROWS = Object.entries(KINDS).flatMap(([kind, title]) => [
  {
    name: `${kind}-in-process-500`,
    title: `${title} in process, the first 500 after the start`,
    operation: 'transaction',
    unit: 'µs',
    nodes: ['tandem', 'tandem-disk'],
    sample: (node, options) => sample(kind, node, { warmUp: 0, count: 500, ...options }),
  },
  {
    name: `${kind}-in-process`,
    title: `${title} in process, warm (after ${2 * WARM_OPERATIONS})`,
    operation: 'transaction',
    unit: 'µs',
    nodes: ['tandem', 'tandem-disk'],
    limits: [
      { most: 0.3, of: ['hardhat-3'], row: `${kind}-warm` },
      { node: 'tandem-disk', most: 0.3, of: ['hardhat-3'], row: `${kind}-warm` },
      { most: 1, of: ['tandem-disk'] },
    ],
    sample: (node, options) => sample(kind, node, { warmUp: 2 * WARM_OPERATIONS, count: 500, ...options }),
  },
])
