/** Rows of the EVM: processor time of one iteration of the same loop, since gas prices differ between chains. */
import { readFileSync } from 'node:fs'
import { Interface } from 'ethers'
import { measure } from '../measure.mjs'
import { quantity } from '../scenes.mjs'

const LOOPS = JSON.parse(readFileSync(new URL('../contracts/Loops.json', import.meta.url)))
const abi = new Interface(LOOPS.abi)
/** Less than any node's gas cap of calls, and than the gas of a transaction under Ethereum's rules since Osaka. */
const GAS = 16_000_000

/** Iterations of a call, whose gas `GAS` covers by the rules of all chains, and calls in a sample. */
const KINDS = {
  arithmetic: { title: 'unchecked arithmetic', iterations: 80_000, calls: 3 },
  'checked-arithmetic': {
    loop: 'checkedArithmetic',
    title: 'checked arithmetic',
    iterations: 40_000,
    calls: 3,
  },
  memory: { loop: 'memoryWords', title: 'memory', iterations: 40_000, calls: 3 },
  keccak: { title: 'keccak256 of 64 bytes', iterations: 20_000, calls: 6 },
  sload: { loop: 'storageLoads', title: 'SLOAD of 64 cells one after another', iterations: 30_000, calls: 3 },
  sstore: { loop: 'storageStores', title: 'SSTORE to 64 cells', iterations: 2_500, calls: 10 },
  calls: { title: 'calls of the contract itself', iterations: 10_000, calls: 3 },
}

/**
 * The loop minus the same number of calls with no iteration, which leaves out HTTP and the start of a call. No two
 * calls of a sample are the same.
 */
async function iterate({ node, client, kept }, loop, { iterations, calls }) {
  const returns = abi.getFunction(loop).outputs.length > 0
  const call = async (rounds) => {
    const data = abi.encodeFunctionData(loop, [rounds])
    const output = await client.call('eth_call', [{ to: kept.loops, data, gas: quantity(GAS) }, 'latest'])
    // Some nodes answer a call that runs out of gas with an empty result, and no error.
    if (returns && output === '0x') throw new Error(`${loop} did not end within ${GAS} gas`)
  }
  const repeat = async (rounds) => {
    for (let i = 0; i < calls; i++) await call(rounds(i))
  }
  const full = await measure({ operations: 1, work: () => repeat((i) => iterations - i) }, node.cpuMs)
  const empty = await measure({ operations: 1, work: () => repeat(() => 0) }, node.cpuMs)
  const total = calls * iterations - (calls * (calls - 1)) / 2
  return {
    cpuMs: (full.cpuMs - empty.cpuMs) / total,
    wallMs: (full.wallMs - empty.wallMs) / total,
    disturbance: Math.max(full.disturbance, empty.disturbance),
    window: full.window,
  }
}

export const EVM_ROWS = Object.entries(KINDS).map(([kind, { loop = kind, title, ...size }]) => ({
  name: `evm-${kind}`,
  title: `EVM: ${title}, ${size.calls} eth_call of ${size.iterations.toLocaleString('en')} iterations, warm`,
  operation: 'iteration',
  unit: 'ns',
  chain: 'warm',
  // The EVM is the same on a disk; ganache takes minutes.
  nodes: ['tandem', 'tandem-node-26', 'anvil', 'hardhat-3', 'hardhat-2'],
  limits: [
    { most: 1 / 3, of: ['hardhat-3'] },
    { most: 1.4, of: ['anvil'] },
  ],
  async prepare(scene) {
    scene.kept.loops ??= await scene.deploy(LOOPS.bytecode)
    // Compiled code and the states of caches are those of a node that has run the loop before.
    await iterate(scene, loop, size)
  },
  sample: (scene) => iterate(scene, loop, size),
}))
