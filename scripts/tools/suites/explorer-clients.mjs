/** The Etherscan client of ethers, and Sourcify's own packages, whose matches are those of the node. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { EtherscanProvider, getAddress, Network } from 'ethers'
import { compile } from '../compile.mjs'
import { installFor22, NODE_22 } from '../node-22.mjs'
import { HERE, rpc, startTandem } from '../nodes.mjs'
import { createChecks, outcomeOf } from '../suite.mjs'
import { deployAll } from '../verify/deploy.mjs'

/** Ethers knows Etherscan for the chains of a list only: the node has the id of one of them. */
const SEPOLIA = 11_155_111

/** The provider of ethers, whose address is the node's instead of `api.etherscan.io`. */
class NodeProvider extends EtherscanProvider {
  #url

  constructor(url) {
    super(Network.from(SEPOLIA), 'any')
    this.#url = url
  }

  getUrl(...given) {
    return super.getUrl(...given).replace('https://api.etherscan.io', this.#url)
  }

  getPostUrl() {
    return super.getPostUrl().replace('https://api.etherscan.io', this.#url)
  }
}

async function checkEthers({ check, url, box, input }) {
  const provider = new NodeProvider(url)
  const [from, to] = await rpc(url, 'eth_accounts')
  await check('EtherscanProvider: balance, nonce, code, block', async () => {
    assert.equal(await provider.getBalance(to), BigInt(await rpc(url, 'eth_getBalance', to, 'latest')))
    assert.equal(
      await provider.getTransactionCount(from),
      Number(await rpc(url, 'eth_getTransactionCount', from, 'latest')),
    )
    assert.equal(await provider.getCode(box), await rpc(url, 'eth_getCode', box, 'latest'))
    const height = await provider.getBlockNumber()
    const { hash } = await provider.getBlock(height)
    const block = await rpc(url, 'eth_getBlockByNumber', `0x${height.toString(16)}`, false)
    assert.equal(hash, block.hash)
  })
  await check('EtherscanProvider: transaction, receipt, call', async () => {
    const hash = await rpc(url, 'eth_sendTransaction', { from, to, value: '0x5' })
    assert.equal((await provider.getTransaction(hash)).value, 5n)
    assert.equal((await provider.getTransactionReceipt(hash)).status, 1)
    const data = await provider.call({ to: box, data: '0x06fdde03' })
    assert.equal(data, await rpc(url, 'eth_call', { to: box, data: '0x06fdde03' }, 'latest'))
  })
  await check('EtherscanProvider: contract by its verified source', async () => {
    assert.equal(await provider.getContract(box), null)
    await rpc(url, 'evm_addSources', input)
    const contract = await provider.getContract(box)
    assert.equal(await contract.name(), 'a box')
    assert.equal(await contract.start(), 7n)
  })
}

/** Sourcify's names of its library, and those of its API. */
const NAMES = { perfect: 'exact_match', partial: 'match' }

/** How Sourcify's library matches claims. */
function verifiedBySourcify(packages, url, request) {
  const folder = join(HERE, '../../.build/tools/sourcify')
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  copyFileSync(join(HERE, 'verify/sourcify.mjs'), join(folder, 'sourcify.mjs'))
  symlinkSync(packages, join(folder, 'node_modules'))
  const { status, stdout, stderr } = spawnSync(NODE_22, [join(folder, 'sourcify.mjs')], {
    input: JSON.stringify(request),
    env: { ...process.env, NODE_URL: url, SOLC: join(HERE, 'solc.mjs') },
    maxBuffer: 1 << 28,
  })
  if (status !== 0) throw new Error(`${stdout}${stderr}`)
  const text = String(stdout)
  return JSON.parse(text.slice(text.lastIndexOf('[{')))
}

/** A source with another comment: the same code, and other metadata. */
function commented(input) {
  const [[path, { content }]] = Object.entries(input.sources)
  return { ...input, sources: { [path]: { content: `${content}\n// another comment\n` } } }
}

async function checkSourcify({ check, compiled, input }) {
  const packages = installFor22('tools-22')
  for (const [title, claimed] of [
    ['the sources', input],
    ['sources with another comment', commented(input)],
  ]) {
    await check(`@ethereum-sourcify/lib-sourcify matches as the node does: ${title}`, async () => {
      const node = await startTandem({ cwd: HERE })
      try {
        const contracts = await deployAll(node.url, (name) => compiled.contracts[name].evm)
        const claims = []
        for (const [key, name] of [
          ['box', 'Box'],
          ['library', 'Sums'],
          ['proxy', 'Proxy'],
        ]) {
          const address = contracts[key]
          const { hash: transaction } = await rpc(node.url, 'ots_getContractCreator', address)
          const target = { name, path: compiled.file }
          // The library compares it with that of the receipt, as ethers writes it.
          claims.push({ address: getAddress(address), transaction, input: claimed, target })
        }
        const found = verifiedBySourcify(packages, node.url, { version: compiled.version, claims })
        for (const [i, { address, target }] of claims.entries()) {
          const own = await verifiedByNode(node.url, compiled.version, address, claimed, target)
          const { runtimeMatch, creationMatch, solcVersion } = found[i]
          assert.deepEqual(
            [own.runtimeMatch, own.creationMatch],
            [NAMES[runtimeMatch], NAMES[creationMatch]],
            target.name,
          )
          assert.equal(solcVersion, compiled.version.replace(/\+.*/, ''))
        }
      } finally {
        await node.stop()
      }
    })
  }
}

/** What the node's API of Sourcify answers of a contract after it was verified by it. */
async function verifiedByNode(url, version, address, input, { name, path }) {
  const reply = await fetch(`${url}/v2/verify/33/${address}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({
      stdJsonInput: input,
      compilerVersion: version,
      contractIdentifier: `${path}:${name}`,
    }),
  })
  const { verificationId, message } = await reply.json()
  // The sources of one contract may have verified the next one already.
  const isKnown = reply.status === 409
  if (!reply.ok && !isKnown) throw new Error(message)
  while (!isKnown) {
    const job = await (await fetch(`${url}/v2/verify/${verificationId}`)).json()
    if (job.error !== undefined) throw new Error(job.error.message)
    if (job.isJobCompleted) break
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
  return (await fetch(`${url}/v2/contract/33/${address}`)).json()
}

export async function explorerClients() {
  const { check, results } = createChecks()
  const compiled = compile('verify/contracts/Box.sol')
  const { input } = compiled
  const node = await startTandem('--chain-id', String(SEPOLIA))
  try {
    const { box } = await deployAll(node.url, (name) => compiled.contracts[name].evm)
    const buildInfo = { solcLongVersion: compiled.version, input, output: compiled.output }
    await checkEthers({ check, url: node.url, box, input: buildInfo })
  } finally {
    await node.stop()
  }
  await checkSourcify({ check, compiled, input })
  return outcomeOf(results())
}
