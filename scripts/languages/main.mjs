/**
 * Decodes the answers of nodes with strict decoders in other languages: `npm run test:languages`. A language that is not
 * installed is passed over with a message; under `CI=true` it is a failure.
 */
import { spawn, spawnSync } from 'node:child_process'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createNode, serve } from '../../dist/index.js'

const FOLDER = dirname(fileURLToPath(import.meta.url))

/** Programs that take the URL of a node, the command that shows whether their language is there, and its Debian package. */
export const DECODERS = [
  {
    name: "web3.py's decoders (Python)",
    command: ['python3', 'web3py.py'],
    version: '--version',
    install: 'python3',
  },
  {
    name: "ethclient's decoders (Go)",
    command: ['go', 'run', 'ethclient.go', 'required.go'],
    version: 'version',
    install: 'golang-go',
  },
]

/** Options of nodes whose answers differ in form. */
export const NODES = [{}, { rules: 'next' }, { preset: 'hardhat' }, { preset: 'anvil' }]

/** A log with a topic and a word of data. */
const LOGGER = '0x600a600c600039600a6000f3600760206000a1600160005500'

/** A chain with transfers, a creation, logs, a failed transaction and, where the chain takes them, typed transactions. */
export async function examplesOn(node) {
  const call = (method, ...params) => node.request({ method, params })
  const [from, to] = await call('eth_accounts')
  const send = (fields) =>
    call('eth_sendTransaction', { from, gas: '0x30d40', ...fields }).catch(() => undefined)
  await send({ to, value: '0x1' })
  const creation = await send({ data: LOGGER })
  const { contractAddress } = await call('eth_getTransactionReceipt', creation)
  await send({ to: contractAddress })
  await send({ data: '0x60006000fd' })
  await call('evm_mine')
}

/** The output of a decoder on a node, and whether it refused anything. */
export async function decode({ command }, options) {
  const node = await createNode({ minedReverts: 'hash', ...options })
  const server = await serve(node, { port: 0 })
  try {
    await examplesOn(node)
    const [program, ...args] = command
    return await new Promise((resolve) => {
      const run = spawn(program, [...args, server.url], { cwd: FOLDER })
      let output = ''
      for (const stream of [run.stdout, run.stderr]) stream.on('data', (chunk) => (output += chunk))
      run.on('error', ({ message }) => resolve({ failed: true, output: message }))
      run.on('close', (code) => resolve({ failed: code !== 0, output }))
    })
  } finally {
    await server.close()
    await node.close()
  }
}

/** Is the language of a decoder installed? */
export function isInstalled({ command: [program], version }) {
  return spawnSync(program, [version]).status === 0
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const decoder of DECODERS) {
    if (!isInstalled(decoder)) {
      console.log(`${decoder.name}: passed over, ${decoder.install} is not installed`)
      if (process.env.CI === 'true') process.exitCode = 1
      continue
    }
    for (const options of NODES) {
      const { failed, output } = await decode(decoder, options)
      const lines = output.trim().split('\n')
      console.log(
        `${decoder.name}, ${JSON.stringify(options)}: ${failed ? 'FAILED' : `${lines.length} answers`}`,
      )
      if (failed) console.log(lines.filter((line) => !line.startsWith('ok ')).join('\n'))
      if (failed) process.exitCode = 1
    }
  }
}
