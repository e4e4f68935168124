/** Contracts of this folder, compiled for the suites that need some. */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { HERE } from './nodes.mjs'

/**
 * Compiles a file of this folder. The compiler runs in a process of its own: loaded, it ends ours at any unhandled
 * rejection.
 * @param {string} path
 * @param {string} solc name under which the compiler is installed
 * @returns {{ version: string, file: string, input: object, output: object, contracts: Record<string, object> }} contracts by name
 */
export function compile(path, solc = 'solc') {
  const file = basename(path)
  const input = {
    language: 'Solidity',
    sources: { [file]: { content: readFileSync(join(HERE, path), 'utf8') } },
    settings: {
      evmVersion: 'cancun',
      outputSelection: { '*': { '*': ['abi', 'metadata', 'evm.bytecode', 'evm.deployedBytecode'] } },
    },
  }
  const run = (flag, options) => execFileSync(process.execPath, [join(HERE, 'solc.mjs'), flag, solc], options)
  const output = JSON.parse(run('--standard-json', { input: JSON.stringify(input), maxBuffer: 1 << 28 }))
  const failure = output.errors?.find(({ severity }) => severity === 'error')
  if (failure !== undefined) throw new Error(failure.formattedMessage)
  const [, version] = /Version: (\S+?)(\.Emscripten|\n)/.exec(run('--version').toString())
  return { version, file, input, output, contracts: output.contracts[file] }
}

/** The ABI and the bytecode of a compiled contract. */
export function deployable({ abi, evm }) {
  return { abi, bytecode: `0x${evm.bytecode.object}` }
}

/** The counter of `foundry/src/Counter.sol`. */
export function compileCounter() {
  return deployable(compile('foundry/src/Counter.sol').contracts.Counter)
}
