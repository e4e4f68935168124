/**
 * Checks the built package on the Node.js that runs this file: in process, and as a command that is killed with -9 and
 * started again. Its native modules have to be in use, and not what stands in for them; the second start has to take
 * compiled code from the cache that the first one wrote before it was killed, where Node has one.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import module from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { ethers } from 'ethers'
import { loadNativeCurve } from '../../dist/chain/curve.js'
import { createNode } from '../../dist/index.js'

const MAIN = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url))
const TOKEN = JSON.parse(
  readFileSync(new URL('../../fixtures/contracts/Token.json', import.meta.url), 'utf8'),
)
const BOB = '0x7986b3df570230288501eea3d890bd66948c9b79'

/** The native modules that a process has loaded, by package; Linux lists them. */
function nativeModulesOf(pid) {
  const files = readFileSync(`/proc/${pid}/maps`, 'utf8').matchAll(/\/node_modules\/([^/\s]+)\/\S+\.node$/gm)
  return [...new Set([...files].map(([, name]) => name))].sort()
}

/** Starts the command over a folder, with the data directory and the cache of compiled code in it. */
async function start(folder) {
  const dataDir = join(folder, 'data')
  const args = ['start', '--json', '--log-level', 'error', '--port', '0', '--data-dir', dataDir]
  const { NODE_COMPILE_CACHE: _, NODE_DISABLE_COMPILE_CACHE: __, ...inherited } = process.env
  const env = { ...inherited, XDG_CACHE_HOME: join(folder, 'cache'), NODE_DEBUG_NATIVE: 'COMPILE_CACHE' }
  const child = spawn(process.execPath, [MAIN, ...args], { stdio: ['ignore', 'pipe', 'pipe'], env })
  const closed = once(child, 'close')
  let errors = ''
  child.stderr.on('data', (chunk) => {
    errors += chunk
  })
  const [line] = await Promise.race([
    once(createInterface(child.stdout), 'line'),
    closed.then(([code]) => Promise.reject(new Error(`the command ended with ${code}\n${errors}`))),
  ])
  return {
    provider: new ethers.JsonRpcProvider(JSON.parse(line).url, undefined, { cacheTimeout: -1 }),
    pid: child.pid,
    /** What Node did with the compiled code of the node's largest file: `accepted`, or `not`. */
    compiledCode: () => /chunks\/node-\S+\.js was (\w+)/.exec(errors)?.[1],
    end(signal) {
      child.kill(signal)
      return closed
    },
  }
}

async function checkInProcess() {
  assert.notEqual(loadNativeCurve(), undefined)
  const node = await createNode()
  try {
    assert.equal(await node.request({ method: 'eth_chainId' }), '0x21')
    const [from] = await node.request({ method: 'eth_accounts' })
    const hash = await node.request({
      method: 'eth_sendTransaction',
      params: [{ from, to: BOB, value: '0x1' }],
    })
    const receipt = await node.request({ method: 'eth_getTransactionReceipt', params: [hash] })
    assert.equal(receipt.status, '0x1')
  } finally {
    await node.close()
  }
}

async function checkCommand() {
  const folder = mkdtempSync(join(tmpdir(), 'tandem-node-version-'))
  try {
    const first = await start(folder)
    assert.deepEqual(nativeModulesOf(first.pid), ['classic-level', 'secp256k1'])
    const signer = await first.provider.getSigner(0)
    const token = await new ethers.ContractFactory(TOKEN.abi, TOKEN.bytecode, signer).deploy(100n)
    await token.waitForDeployment()
    const sent = await token.transfer(BOB, 7n)
    const { blockHash, blockNumber } = await sent.wait()
    first.provider.destroy()
    await first.end('SIGKILL')

    const second = await start(folder)
    assert.equal((await second.provider.getBlock('latest')).hash, blockHash)
    assert.equal((await second.provider.getTransactionReceipt(sent.hash)).blockNumber, blockNumber)
    assert.equal(await token.connect(second.provider).balanceOf(BOB), 7n)
    assert.equal(second.compiledCode(), 'flushCompileCache' in module ? 'accepted' : undefined)
    second.provider.destroy()
    assert.deepEqual(await second.end('SIGTERM'), [0, null])
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

await checkInProcess()
await checkCommand()
console.log(`Node.js ${process.version}: the package in process, and the command over a kill -9`)
