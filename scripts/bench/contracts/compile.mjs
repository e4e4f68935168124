/** Compiles Loops.sol into Loops.json with the compiler of scripts/tools: `node scripts/bench/contracts/compile.mjs`. */
import { readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'

const solc = createRequire(new URL('../../tools/package.json', import.meta.url))('solc')
const file = (name) => new URL(name, import.meta.url)
const NAME = 'Loops'
// The latest rules that all nodes under comparison have.
const settings = { evmVersion: 'shanghai', optimizer: { enabled: true, runs: 200 } }

const input = {
  language: 'Solidity',
  sources: { [`${NAME}.sol`]: { content: readFileSync(file(`${NAME}.sol`), 'utf8') } },
  settings: { ...settings, outputSelection: { '*': { '*': ['abi', 'evm.bytecode.object'] } } },
}
const { errors = [], contracts } = JSON.parse(solc.compile(JSON.stringify(input)))
if (errors.length > 0) throw new Error(errors.map(({ formattedMessage }) => formattedMessage).join('\n'))
const { abi, evm } = contracts[`${NAME}.sol`][NAME]
const compiler = `solc ${solc.version()}, optimizer ${settings.optimizer.runs} runs, evmVersion ${settings.evmVersion}`
const artifact = { contractName: NAME, compiler, abi, bytecode: `0x${evm.bytecode.object}` }
writeFileSync(file(`${NAME}.json`), `${JSON.stringify(artifact, null, 1)}\n`)
