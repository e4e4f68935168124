/** The counter of `foundry/src/Counter.sol`, compiled for the suites that need a contract. */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { HERE } from './nodes.mjs'

/** Its ABI and bytecode. Solidity's compiler takes some seconds to load, so only suites that use it call this. */
export function compileCounter() {
  const solc = createRequire(import.meta.url)('solc')
  const content = readFileSync(join(HERE, 'foundry/src/Counter.sol'), 'utf8')
  const { contracts } = JSON.parse(
    solc.compile(
      JSON.stringify({
        language: 'Solidity',
        sources: { 'Counter.sol': { content } },
        settings: { evmVersion: 'cancun', outputSelection: { '*': { '*': ['abi', 'evm.bytecode.object'] } } },
      }),
    ),
  )
  const { abi, evm } = contracts['Counter.sol'].Counter
  return { abi, bytecode: `0x${evm.bytecode.object}` }
}
