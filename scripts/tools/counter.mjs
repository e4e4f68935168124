/** The counter of `foundry/src/Counter.sol`, compiled for the suites that need a contract. */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { HERE } from './nodes.mjs'

/** Its ABI and bytecode. The compiler runs in a process of its own: loaded, it ends ours at any unhandled rejection. */
export function compileCounter() {
  const content = readFileSync(join(HERE, 'foundry/src/Counter.sol'), 'utf8')
  const input = JSON.stringify({
    language: 'Solidity',
    sources: { 'Counter.sol': { content } },
    settings: { evmVersion: 'cancun', outputSelection: { '*': { '*': ['abi', 'evm.bytecode.object'] } } },
  })
  const text = execFileSync(process.execPath, [join(HERE, 'solc.mjs'), '--standard-json'], { input })
  const { abi, evm } = JSON.parse(text).contracts['Counter.sol'].Counter
  return { abi, bytecode: `0x${evm.bytecode.object}` }
}
