/** The clients of the peg on npm: Bitcoin Core's, the builder of Merkle proofs, and the core of the bridges' SDKs. */
import assert from 'node:assert/strict'
import {
  BlockchainConnection,
  BlockchainReadOnlyConnection,
  ethers as ethers5,
  executeContractFunction,
  executeContractView,
  isBtcTestnetAddress,
  isLegacyBtcAddress,
} from '@rsksmart/bridges-core-sdk'
import pmtBuilder from '@rsksmart/pmt-builder'
import Bitcoin from 'bitcoin-core'
import { freePort, rpc, startTandem } from '../nodes.mjs'
import { createChecks, outcomeOf } from '../suite.mjs'

const BRIDGE = '0x0000000000000000000000000000000001000006'
const ABI = [
  'function receiveHeaders(bytes[])',
  'function registerBtcTransaction(bytes, int256, bytes)',
  'function getFederationAddress() view returns (string)',
  'function getBtcBlockchainBestChainHeight() view returns (int256)',
  'function isBtcTxHashAlreadyProcessed(string) view returns (bool)',
  'event pegin_btc(address indexed receiver, bytes32 indexed btcTxHash, int256 amount, int256 protocolVersion)',
]
/** Words of the accounts, and gas of a hundred headers. */
const MNEMONIC = 'test test test test test test test test test test test junk'
const HEADERS_PER_CALL = 100
const HEADERS_GAS = 1_000_000

/** Bitcoin Core's client: wallets, named parameters, batches, errors. Returns a client with coins of a legacy address. */
async function checkBitcoinCore(check, host) {
  const options = { host, username: 'tandem', password: 'tandem', version: '0.21.0', wallet: 'tools' }
  const client = new Bitcoin(options)
  await check('bitcoin-core: a wallet, named parameters, blocks', async () => {
    assert.equal((await client.createWallet({ wallet_name: 'tools' })).name, 'tools')
    const address = await client.getNewAddress({ address_type: 'legacy' })
    assert.equal((await client.generateToAddress({ nblocks: 110, address })).length, 110)
    assert.equal((await client.getBlockchainInfo()).blocks, 560)
    assert.ok((await client.getBalance()) > 10)
    assert.equal((await client.listUnspent()).length, 10)
  })
  await check('bitcoin-core: a batch', async () => {
    const [count, hash] = await client.command([
      { method: 'getblockcount', parameters: [] },
      { method: 'getbestblockhash', parameters: [] },
    ])
    assert.equal(count, 560)
    assert.equal((await client.getBlockHeader(hash)).height, 560)
  })
  await check('bitcoin-core: errors with code and message', async () => {
    await assert.rejects(client.getRawTransaction('11'.repeat(32)), ({ name, code, message }) => {
      assert.deepEqual([name, code], ['RpcError', -5])
      return /No such mempool or blockchain transaction/.test(message)
    })
    const wrong = new Bitcoin({ ...options, password: 'wrong' })
    await assert.rejects(wrong.getBlockCount(), ({ name, code }) => name === 'RpcError' && code === 401)
  })
  return client
}

/** A peg-in that nobody but the test proves: the headers by a member of the federation, the transaction by anyone. */
async function checkProof({ check, client, bridge }) {
  await check('pmt-builder: a proof that the Bridge takes', async () => {
    const federation = await bridge.getFederationAddress()
    assert.ok(isBtcTestnetAddress(federation) && isLegacyBtcAddress(federation))
    const id = await client.sendToAddress(federation, 1)
    const [hash] = await client.generateToAddress(3, await client.getNewAddress())
    const { height, tx } = await client.getBlock(hash)
    const member = new ethers5.Wallet(ethers5.utils.id('federator1'), bridge.provider)
    const best = await client.getBlockCount()
    for (let from = 1; from <= best; from += HEADERS_PER_CALL) {
      const heights = Array.from({ length: Math.min(HEADERS_PER_CALL, best - from + 1) }, (_, i) => from + i)
      const hashes = await client.command(heights.map((at) => ({ method: 'getblockhash', parameters: [at] })))
      const headers = await client.command(
        hashes.map((one) => ({ method: 'getblockheader', parameters: [one, false] })),
      )
      const sent = await bridge.connect(member).receiveHeaders(
        headers.map((header) => `0x${header}`),
        { gasLimit: HEADERS_GAS },
      )
      await sent.wait()
    }
    assert.equal((await bridge.getBtcBlockchainBestChainHeight()).toNumber(), best)
    const raw = await client.getRawTransaction(id)
    const { hex } = pmtBuilder.buildPMT(tx, id)
    const { txHash, successful } = await executeContractFunction(
      bridge,
      'registerBtcTransaction',
      `0x${raw}`,
      height,
      `0x${hex}`,
    )
    assert.ok(successful)
    const { logs } = await bridge.provider.getTransactionReceipt(txHash)
    const { args } = bridge.interface.parseLog(logs[0])
    assert.deepEqual(
      [args.btcTxHash, args.amount.toNumber(), args.protocolVersion.toNumber()],
      [`0x${id}`, 100_000_000, 0],
    )
    assert.equal(await executeContractView(bridge, 'isBtcTxHashAlreadyProcessed', id), true)
    assert.equal((await bridge.provider.getBalance(args.receiver)).toString(), `1${'0'.repeat(18)}`)
  })
}

/** Connections of the SDKs. */
async function checkConnections({ check, url, connection }) {
  await check('bridges-core-sdk: connections, with and without keys', async () => {
    const reading = await BlockchainReadOnlyConnection.createUsingRpc(url)
    assert.equal(await reading.getChainId(), 33)
    assert.equal(await reading.getChainHeight(), Number(await rpc(url, 'eth_blockNumber')))
    const to = await connection.getConnectedAddress()
    const { txHash, successful } = await connection.executeTransaction({ to, data: '0x', value: '0x1' })
    assert.ok(successful)
    assert.equal((await connection.getTransactionReceipt(txHash)).status, 1)
  })
}

export async function pegClients() {
  const port = await freePort()
  const node = await startTandem(
    '--bitcoin',
    '--federation',
    'off',
    '--bitcoin-blocks-per',
    '0',
    '--bitcoin-rpc-port',
    port,
    '--mnemonic',
    MNEMONIC,
  )
  try {
    const { check, results } = createChecks()
    const client = await checkBitcoinCore(check, `http://127.0.0.1:${port}`)
    const connection = await BlockchainConnection.createUsingPassphrase(MNEMONIC, node.url)
    const bridge = new ethers5.Contract(BRIDGE, ABI, connection.signer)
    await checkProof({ check, client, bridge })
    await checkConnections({ check, url: node.url, connection })
    return outcomeOf(results())
  } finally {
    await node.stop()
  }
}
