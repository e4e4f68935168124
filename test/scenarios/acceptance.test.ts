/** The acceptance checks of the chain's RPC, by their numbers, end to end over HTTP on a real node. */
import { keccak256, Transaction, Wallet } from 'ethers'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type ServedNode, servedNode } from '../support/served-node.ts'

const A = '0xcd2a3d9f938e13cd947ec05abc7fe734df8dd826'
const B = '0x7986b3df570230288501eea3d890bd66948c9b79'
const A_KEY = '0xc85ef7d79691fe79573b1a7064c19c1a9819ebdbd1faaab1a8ec92344438aaf4'
const N = '0x00000000000000000000000000000000000dead1'
const Z32 = `0x${'0'.repeat(64)}`
const U32 = `0x${'9'.repeat(64)}`
const R0 = '0x60006000fd'
const RB =
  '0x7f08c379a000000000000000000000000000000000000000000000000000000000600052602060045260046024527f626f6f6d0000000000000000000000000000000000000000000000000000000060445260646000fd'
const INV = '0xfe'
const LOOP = '0x5b600056'
const RET1 = '0x600160005260206000f3'
const ONES = `0x${'1'.repeat(64)}`
const LOGC = `0x7f${'1'.repeat(64)}60006000a100`
const LOG2 = `0x${`7f${'1'.repeat(64)}60006000a1`.repeat(2)}00`
const word = (n: number) => `0x${n.toString(16).padStart(64, '0')}`

let t: ServedNode
const reply = (method: string, params?: unknown) => t.reply(method, params)
const error = async (method: string, params?: unknown) => (await t.reply(method, params)).error

async function mined(fields: Record<string, unknown>) {
  const hash = await t.call('eth_sendTransaction', fields)
  return { hash, receipt: await t.call('eth_getTransactionReceipt', hash) }
}
const transfer = () => mined({ from: A, to: B, value: '0x1', gas: '0x5208' })

afterEach(() => t.close())

describe('an automining node', () => {
  beforeEach(async () => {
    t = await servedNode({ rpcTimeoutMs: 20_000 })
  })

  it('1–22, 25: transport and envelope', async () => {
    expect((await fetch(t.url)).status).toBe(405)
    const text = await fetch(t.url, { method: 'POST', headers: { 'Content-Type': 'text/plain' }, body: '{}' })
    expect(text.status).toBe(415)
    const call = '{"jsonrpc":"2.0","id":1,"method":"eth_chainId"}'
    expect((await t.post(call, { 'Content-Type': 'application/json-rpc' })).body.result).toBe('0x21')
    expect((await t.post(call, {}, '/any/path')).body.result).toBe('0x21')
    expect(await t.post('not json')).toMatchObject({
      status: 200,
      body: { jsonrpc: '2.0', id: null, error: { code: -32700, message: 'JSON parse error' } },
    })
    expect((await t.post('5')).body).toMatchObject({
      id: null,
      error: { code: -32600, message: 'invalid request' },
    })
    expect((await t.post('[]')).body).toMatchObject({ id: null, error: { code: -32600 } })
    expect(await reply('eth_nope', [])).toEqual({
      jsonrpc: '2.0',
      id: expect.any(Number),
      error: { code: -32601, message: 'method not found' },
    })
    expect(await error('eth_blockNumber', [1])).toEqual({
      code: -32602,
      message: 'method parameters invalid',
    })
    for (const params of [undefined, null, {}])
      expect((await reply('eth_blockNumber', params)).result).toBe('0x0')
    expect(await error('eth_getBalance', { address: A })).toEqual({
      code: -32602,
      message: 'method parameters invalid',
    })
    for (const id of ['"abc"', '9999999999', '1.5']) {
      const { body } = await t.post(`{"jsonrpc":"2.0","id":${id},"method":"eth_chainId"}`)
      expect(body).toEqual({ jsonrpc: '2.0', id: JSON.parse(id), result: '0x21' })
    }
    expect((await t.post('{"id":1,"method":"eth_chainId"}')).body.result).toBe('0x21')
    expect((await t.post('{"jsonrpc":"2.0","method":"eth_blockNumber"}')).text).toBe('')
    const three = await t.post(`[${call},${call.replace('1,"m', '2,"m')},${call.replace('1,"m', '3,"m')}]`)
    expect(three.body.map((entry: { id: number }) => entry.id)).toEqual([1, 2, 3])
    const mixed = (await t.post(`[${call},{"jsonrpc":"2.0","id":2,"method":"nope"},1]`)).body
    expect([mixed[0].result, mixed[1].error.code, mixed[2].error.code]).toEqual(['0x21', -32601, -32600])
    expect((await t.post(`[${Array(51).fill(call)}]`)).body.error).toEqual({
      code: -32600,
      message: 'Cannot dispatch batch requests. 50 is the max number of supported batch requests',
    })
    expect((await t.post(`[${Array(50).fill(call)}]`)).body).toHaveLength(50)
    expect((await t.post(`"${'x'.repeat(6 * 1024 * 1024)}"`)).status).toBe(413)
    const deep = await t.post('['.repeat(1200) + ']'.repeat(1200))
    expect(deep.body.error.code).toBe(-32600)
    expect((await t.post(call)).body.result).toBe('0x21')
  })

  it('26–39: web3, net, rpc and the chain', async () => {
    expect(await t.call('web3_sha3', '0x68656c6c6f20776f726c64')).toBe(
      '0x47173285a8d7341e5e972fc677286384f802f8ef42a5ec5f03bbfa254cb01fad',
    )
    expect(await t.call('web3_sha3', '0x1')).toBe(await t.call('web3_sha3', '0x01'))
    for (const bad of ['68656c6c6f', '0x', '0xzz']) {
      expect(await error('web3_sha3', [bad])).toEqual({
        code: -32602,
        message: "Parameter must be hexadecimal encoded with the '0x' prefix.",
      })
    }
    expect((await t.call('web3_clientVersion')).split('/').length).toBeGreaterThanOrEqual(5)
    expect(await t.call('net_version')).toBe('33')
    expect(await t.call('net_listening')).toBeTypeOf('boolean')
    expect(await t.call('net_peerCount')).toBe('0x0')
    expect(await t.call('net_peerList')).toEqual([])
    expect(await t.call('rpc_modules')).toMatchObject({ eth: '1.0', net: '1.0', web3: '1.0', evm: '1.0' })
    expect(await t.call('eth_protocolVersion')).toBe('0x3e')
    expect(await t.call('eth_syncing')).toBe(false)
    await t.call('evm_mine')
    expect(await t.call('eth_coinbase')).toBe((await t.call('eth_getBlockByNumber', 'latest')).miner)
    expect(await t.call('eth_mining')).toBe(true)
    expect(await t.call('eth_hashrate')).toMatch(/^0x/)
    expect(await t.call('eth_netHashrate')).toBeTypeOf('number')
    expect(await t.call('eth_gasPrice')).toBe('0x0')
    expect(await t.call('eth_blockNumber')).toBe('0x1')
    const accounts = await t.call('eth_accounts')
    expect(accounts.slice(0, 2)).toEqual([A, B])
    expect(accounts).toHaveLength(11)
    expect(accounts[10]).toBe('0xec4ddeb4380ad69b3e509baad9f158cdf4e4681d')
  })

  it('41–62: state', async () => {
    expect(await t.call('eth_getBalance', B, 'earliest')).toBe('0xc9f2c9cd04674edea40000000')
    expect(await t.call('eth_getBalance', B)).toBe(await t.call('eth_getBalance', B, 'latest'))
    expect(await t.call('eth_getBalance', B.slice(2).toUpperCase())).toBe('0xc9f2c9cd04674edea40000000')
    expect(await t.call('eth_getBalance', N, 'latest')).toBe('0x0')
    const invalid = async (method: string, params: unknown[], message: string, code = -32602) =>
      expect(await error(method, params), message).toEqual({ code, message })
    await invalid(
      'eth_getBalance',
      ['0x1234', 'latest'],
      'Invalid address: null, empty or invalid hex value.',
    )
    await invalid(
      'eth_getBalance',
      [`0xZZ${'0'.repeat(38)}`, 'latest'],
      'Invalid address format: invalid hex value.',
    )
    for (const tag of ['foo', 'LATEST', 'finalized']) {
      await invalid('eth_getBalance', [A, tag], `Invalid block identifier '${tag}'`)
    }
    await invalid('eth_getBalance', [A, '0xffffff'], 'Block 0xffffff not found', -32600)
    await invalid('eth_getBalance', [A, '5'], 'invalid blocknumber 5')
    const genesis = (await t.call('eth_getBlockByNumber', '0x0')).hash
    const balance = await t.call('eth_getBalance', A, '0x0')
    expect(await t.call('eth_getBalance', A, { blockNumber: '0x0' })).toBe(balance)
    expect(await t.call('eth_getBalance', A, { blockHash: genesis })).toBe(balance)
    expect(await t.call('eth_getBalance', A, { blockHash: genesis, requireCanonical: true })).toBe(balance)
    expect(await t.call('eth_getBalance', A, genesis)).toBe(balance)
    await invalid('eth_getBalance', [A, {}], 'Invalid block input')
    await invalid('eth_getBalance', [A, { blockHash: U32 }], `Block with hash ${U32} not found`, -32600)
    await invalid('eth_getBalance', [A, { blockHash: '0x00' }], 'Invalid block hash: incorrect length.')
    await invalid(
      'eth_getBalance',
      [A, { blockHash: genesis, requireCanonical: 'yes' }],
      'Invalid input: requireCanonical must be a String "true" or "false"',
    )
    expect(await t.call('eth_getTransactionCount', A)).toBe('0x0')
    await transfer()
    expect(await t.call('eth_getTransactionCount', A)).toBe('0x1')
    expect(await t.call('eth_getTransactionCount', A, 'latest')).toBe('0x1')
    expect(await t.call('eth_getCode', N, 'latest')).toBe('0x')
    expect(await t.call('eth_getCode', N, '0xffffff')).toBeNull()
    expect(await t.call('eth_getStorageAt', N, '0x0', 'latest')).toBe(Z32)
    await invalid(
      'eth_getStorageAt',
      [N, 'abc g', 'latest'],
      'Invalid param abc g: value must be a valid hex or string number.',
    )
    expect(await t.call('eth_getStorageAt', N, '0', 'latest')).toBe(Z32)
  })

  it('63–93: calls, estimates, overrides', async () => {
    await t.call('evm_mine')
    const call = (...params: unknown[]) => t.call('eth_call', ...params)
    expect(await call({ to: N }, 'latest')).toBe('0x')
    expect(await call({ data: RET1 }, 'latest')).toBe(word(1))
    expect(await call({ input: RET1 }, 'latest')).toBe(word(1))
    expect(await call({ input: RET1, data: INV }, 'latest')).toBe(word(1))
    const said = 'VM Exception while processing transaction:'
    expect(await error('eth_call', [{ data: R0 }, 'latest'])).toEqual({
      code: -32015,
      message: `${said} transaction reverted`,
      data: '0x',
    })
    const boom = await error('eth_call', [{ data: RB }, 'latest'])
    expect(boom).toMatchObject({ code: -32015, message: `${said} revert boom` })
    expect(boom.data).toMatch(/^0x08c379a0.{192}$/)
    expect(await call({ data: INV }, 'latest')).toBe('0x')
    expect(await call({ data: LOOP }, 'latest')).toBe('0x')
    expect(await call({ from: N, to: B, value: '0xde0b6b3a7640000' }, 'latest')).toBe('0x')
    expect(await call({ to: N, type: '0x2', maxFeePerGas: '0x1', foo: 1 }, 'latest')).toBe('0x')
    expect((await error('eth_call', [{ to: '' }, 'latest'])).message).toBe(
      'Invalid address: null, empty or invalid hex value.',
    )
    expect((await error('eth_call', [{ data: '0xzz' }, 'latest'])).message).toBe(
      'Invalid data format: invalid hex value.',
    )
    expect(await call({ to: N, gas: 21000 }, 'latest')).toBe('0x')
    expect(await error('eth_call', [{ to: N }, '0xffffff'])).toEqual({
      code: -32602,
      message: 'Invalid block number 16777215',
    })
    expect(await call({ to: N }, '0')).toBe('0x')
    expect(await call({ data: '0x4360005260206000f3' }, '0x0')).toBe(word(0))
    expect(await call({ data: '0x4360005260206000f3' }, 'latest')).toBe(word(1))
    expect(await call({ to: N }, 'pending')).toBe('0x')
    expect(await t.call('eth_estimateGas', { from: A, to: B, value: '0x1' })).toBe('0x5208')
    expect(await t.call('eth_estimateGas', { from: A, to: B }, 'latest')).toBe('0x5208')
    expect(await t.call('eth_estimateGas', { from: A, to: B }, null)).toBe('0x5208')
    expect(await error('eth_estimateGas', [{ data: RB }])).toMatchObject({
      code: -32015,
      message: `${said} revert boom`,
      data: boom.data,
    })
    expect((await error('eth_estimateGas', [{ data: LOOP }])).code).toBe(-32015)
    expect(await error('eth_estimateGas', [{ from: N, to: B, value: '0x1' }])).toMatchObject({
      code: -32000,
      message: expect.stringContaining('insufficient funds for transfer'),
    })
    expect((await error('eth_estimateGas', [{ to: B }, 'safe'])).message).toMatch(
      /^Unsupported block specifier 'safe'\./,
    )
    const gas = await t.call('eth_estimateGas', { from: A, data: LOG2 })
    expect((await mined({ from: A, data: LOG2, gas })).receipt.status).toBe('0x1')

    expect(await call({ to: N }, 'latest', { [N]: { code: RET1 } })).toBe(word(1))
    expect(await call({ to: N }, 'latest', { [N]: { code: '0x4760005260206000f3', balance: '0x2a' } })).toBe(
      word(42),
    )
    for (const kind of ['stateDiff', 'state']) {
      const override = { [N]: { code: '0x60005460005260206000f3', [kind]: { '0x0': '0x7' } } }
      expect(await call({ to: N }, 'latest', override)).toBe(word(7))
    }
    const both = { [N]: { state: { '0x0': '0x1' }, stateDiff: { '0x0': '0x1' } } }
    expect((await error('eth_call', [{ to: N }, 'latest', both])).code).toBe(-32602)
    const precompile = { '0x0000000000000000000000000000000000000001': { code: '0x00' } }
    expect(await error('eth_call', [{ to: N }, 'latest', precompile])).toEqual({
      code: -32602,
      message: 'Precompiled contracts can not be overridden',
    })
    const moved = await error('eth_call', [{ to: N }, 'latest', { [N]: { movePrecompileToAddress: A } }])
    expect(moved).toMatchObject({ code: -32602, message: expect.stringContaining('movePrecompileToAddress') })
    expect(await t.call('eth_getCode', N, 'latest')).toBe('0x')
  })

  it('94–104, 107–113: sending', async () => {
    const { hash, receipt } = await transfer()
    expect(receipt).toMatchObject({ status: '0x1', gasUsed: '0x5208' })
    expect(await error('eth_sendTransaction', [{ to: B }])).toEqual({ code: -32602, message: 'from is null' })
    expect(await error('eth_sendTransaction', [{ from: N, to: B }])).toEqual({
      code: -32602,
      message: `Could not find account for address: ${N}`,
    })
    for (const chainId of ['0x1', '0x1234']) {
      expect(await error('eth_sendTransaction', [{ from: A, to: B, chainId }])).toEqual({
        code: -32602,
        message: `Invalid chainId: ${chainId}`,
      })
    }
    const refused = async (fields: Record<string, unknown>) =>
      error('eth_sendTransaction', [{ from: A, to: B, ...fields }])
    expect(await refused({ gas: '0x5207' })).toEqual({
      code: -32010,
      message: "transaction's intrinsic gas is above the gas limit",
    })
    expect((await refused({ gas: '0x989680' })).message).toMatch(
      /^transaction's gas limit of 10000000 is higher than the block's gas limit of 680000/,
    )
    expect(await refused({ nonce: '0x0' })).toEqual({ code: -32010, message: 'transaction nonce too low' })
    expect(await refused({ nonce: '0x11' })).toEqual({ code: -32010, message: 'transaction nonce too high' })
    expect(await t.call('eth_sendTransaction', { from: A, to: B, nonce: '0x10' })).toMatch(/^0x.{64}$/)
    const plain = await mined({ from: A, to: B })
    expect(await t.call('eth_getTransactionByHash', plain.hash)).toMatchObject({
      gas: '0x15f90',
      gasPrice: '0x0',
    })

    const poor = Wallet.createRandom()
    const sign = (fields: object, key = A_KEY) =>
      new Wallet(key).signTransaction({
        type: 0,
        to: B,
        gasLimit: 21000,
        gasPrice: 0,
        chainId: 33,
        ...fields,
      })
    expect(await error('eth_sendRawTransaction', [await sign({ nonce: 0 }, poor.privateKey)])).toEqual({
      code: -32010,
      message: "the sender account doesn't exist",
    })
    await mined({ from: A, to: poor.address, value: '0x1' })
    expect(
      (await error('eth_sendRawTransaction', [await sign({ nonce: 0, value: 2 }, poor.privateKey)])).message,
    ).toBe('insufficient funds to pay for pending and new transactions')
    expect(
      (
        await error('eth_sendRawTransaction', [
          await sign({ nonce: 0, value: 2, gasPrice: 1 }, poor.privateKey),
        ])
      ).message,
    ).toBe('insufficient funds')

    const nonce = Number(await t.call('eth_getTransactionCount', A))
    const raw = await sign({ nonce })
    expect(await t.call('eth_sendRawTransaction', raw)).toBe(keccak256(raw))
    const unprotected = Transaction.from({
      type: 0,
      to: B,
      gasLimit: 21000,
      gasPrice: 0,
      nonce: nonce + 1,
      value: 3,
    })
    unprotected.signature = new Wallet(A_KEY).signingKey.sign(unprotected.unsignedHash)
    expect(await t.call('eth_sendRawTransaction', unprotected.serialized)).toBe(unprotected.hash)
    expect(await error('eth_sendRawTransaction', [await sign({ nonce, chainId: 1 })])).toEqual({
      code: -32602,
      message: 'Invalid chainId: 1',
    })
    expect(await error('eth_sendRawTransaction', ['0xzz'])).toEqual({
      code: -32602,
      message: 'Invalid data format: invalid hex value.',
    })
    expect((await error('eth_sendRawTransaction', ['0xf8'])).message).toMatch(/^Invalid input: /)
    const typed = await new Wallet(A_KEY).signTransaction({
      type: 2,
      to: B,
      gasLimit: 21000,
      nonce,
      chainId: 33,
    })
    expect((await error('eth_sendRawTransaction', [typed])).code).toBe(-32602)

    const before = Number(await t.call('eth_blockNumber'))
    expect(await error('eth_sendTransaction', [{ from: A, data: RB }])).toMatchObject({
      code: -32015,
      message: 'VM Exception while processing transaction: revert boom',
    })
    expect(Number(await t.call('eth_blockNumber'))).toBe(before + 1)
    const block = await t.call('eth_getBlockByNumber', 'latest', false)
    expect((await t.call('eth_getTransactionReceipt', block.transactions[0])).status).toBe('0x0')

    const signature = await t.call('eth_sign', A, '0xdeadbeef')
    expect(signature).toMatch(/^0x.{128}(1b|1c)$/)
    const { verifyMessage, getBytes } = await import('ethers')
    expect(verifyMessage(getBytes('0xdeadbeef'), signature).toLowerCase()).toBe(A)
    expect(await error('eth_sign', [N, '0x00'])).toEqual({ code: -32602, message: 'Account not found' })
    expect(hash).toMatch(/^0x/)
  })

  it('115–137: blocks, transactions, receipts, uncles', async () => {
    expect(await t.call('eth_getBlockByNumber', '0x0', false)).toMatchObject({
      number: '0x0',
      hash: '0x8ea789fabef0dd4946ed53f001e7b6f8a8d0c22a612a6099fc7f93c990af68fe',
      difficulty: '0x1',
      gasLimit: '0x989680',
      timestamp: '0x0',
      parentHash: Z32,
    })
    const { hash: T, receipt } = await transfer()
    const block = await t.call('eth_getBlockByNumber', 'latest', false)
    expect(Object.keys(block)).toEqual(
      (
        'number hash parentHash mixHash nonce sha3Uncles logsBloom transactionsRoot stateRoot receiptsRoot miner ' +
        'difficulty totalDifficulty extraData size gasLimit gasUsed timestamp transactions uncles minimumGasPrice ' +
        'bitcoinMergedMiningHeader bitcoinMergedMiningCoinbaseTransaction bitcoinMergedMiningMerkleProof ' +
        'hashForMergedMining paidFees cumulativeDifficulty rskPteEdges baseEvent'
      ).split(' '),
    )
    expect(block).toMatchObject({
      nonce: '0x0000000000000000',
      totalDifficulty: '0x2',
      rskPteEdges: [],
      baseEvent: null,
    })
    expect(await t.call('eth_getBlockByHash', block.hash, false)).toEqual(block)
    const full = await t.call('eth_getBlockByNumber', 'latest', true)
    expect(full.transactions.at(-1)).toMatchObject({
      from: `0x${'0'.repeat(40)}`,
      to: '0x0000000000000000000000000000000001000008',
      nonce: '0x0',
      gas: '0x0',
      gasPrice: '0x0',
      value: '0x0',
      input: '0x',
      v: '0x0',
      r: '0x0',
      s: '0x0',
    })
    expect(block.transactions.at(-1)).toBe(
      '0x4aa0649fdc1a4b0e07b64c26e43138400c84d6a127d0242027226b7ade17a53e',
    )
    expect(await t.call('eth_getBlockByNumber', '0xffffff', false)).toBeNull()
    expect(await t.call('eth_getBlockByHash', U32, false)).toBeNull()
    const invalid = async (method: string, params: unknown[], message: string, code = -32602) =>
      expect(await error(method, params), message).toEqual({ code, message })
    await invalid('eth_getBlockByHash', ['0x12', false], 'Invalid block hash: incorrect length.')
    await invalid('eth_getBlockByNumber', ['', false], 'Invalid block identifier: empty or null.')
    await invalid('eth_getBlockByNumber', ['finalized', false], 'invalid blocknumber finalized')
    expect((await t.call('eth_getBlockByNumber', 'latest')).transactions).toEqual(block.transactions)
    const pending = await t.call('eth_getBlockByNumber', 'pending', true)
    expect(pending).toMatchObject({ number: null, hash: null, nonce: null, logsBloom: null, miner: null })
    expect(pending.parentHash).toBe(block.hash)
    expect(pending.transactions[0]).toMatchObject({
      blockHash: null,
      blockNumber: null,
      transactionIndex: null,
    })
    expect(await t.call('eth_getBlockTransactionCountByHash', block.hash)).toBe('0x2')
    expect(await t.call('eth_getBlockTransactionCountByHash', U32)).toBeNull()
    await invalid('eth_getBlockTransactionCountByNumber', ['0xffffff'], 'Block 0xffffff not found', -32600)
    await invalid('eth_getUncleCountByBlockHash', [U32], `Block with hash ${U32.slice(2)} not found`, -32600)
    expect(await t.call('eth_getUncleCountByBlockNumber', 'latest')).toBe('0x0')
    expect(await t.call('eth_getUncleByBlockNumberAndIndex', 'latest', '0x0')).toBeNull()
    const transaction = await t.call('eth_getTransactionByHash', T)
    expect(Object.keys(transaction)).toEqual(
      'hash nonce blockHash blockNumber transactionIndex from to gas gasPrice value input v r s type'.split(
        ' ',
      ),
    )
    expect(transaction).toMatchObject({
      type: '0x0',
      v: expect.stringMatching(/^0x6[56]$/),
      blockHash: block.hash,
    })
    await invalid('eth_getTransactionByHash', ['0x12'], 'Invalid transaction hash: incorrect length.')
    expect(await t.call('eth_getTransactionByBlockNumberAndIndex', '0x1', '0x0')).toEqual(transaction)
    expect(await t.call('eth_getTransactionByBlockHashAndIndex', block.hash, '0x0')).toEqual(transaction)
    expect(await t.call('eth_getTransactionByBlockNumberAndIndex', '0x1', '0x63')).toBeNull()
    await invalid(
      'eth_getTransactionByBlockNumberAndIndex',
      ['0x1', '0'],
      'Invalid argument "0": param should be a hex value string.',
    )
    await invalid(
      'eth_getTransactionByBlockNumberAndIndex',
      ['0x1', '0x'],
      'Invalid index param: value must be a valid hex number.',
    )
    expect(Object.keys(receipt)).toEqual(
      (
        'transactionHash transactionIndex blockHash blockNumber cumulativeGasUsed gasUsed contractAddress logs ' +
        'from to status logsBloom type effectiveGasPrice'
      ).split(' '),
    )
    expect(receipt).toMatchObject({ contractAddress: null, effectiveGasPrice: '0x0' })
    expect((await error('eth_sendTransaction', [{ from: A, data: INV }])).code).toBe(-32015)
    const failed = await t.call(
      'eth_getTransactionReceipt',
      (await t.call('eth_getBlockByNumber', 'latest')).transactions[0],
    )
    expect(failed).toMatchObject({ to: null, status: '0x0', gasUsed: '0x15f90' })
    expect(failed.contractAddress).toMatch(/^0x.{40}$/)
    const logs = (await mined({ from: A, data: LOG2, gas: '0x20000' })).receipt.logs
    expect(logs.map((log: { logIndex: string }) => log.logIndex)).toEqual(['0x0', '0x1'])
    expect(logs[0]).toMatchObject({ data: '0x', topics: [ONES] })
    expect(Object.keys(logs[0])).not.toContain('removed')
  })

  it('144–152, 155: logs', async () => {
    const { receipt } = await mined({ from: A, data: LOGC, gas: '0x20000' })
    const one = await t.call('eth_getLogs', {})
    expect(one).toHaveLength(1)
    expect(one[0]).toMatchObject({ removed: false, logIndex: '0x0', blockHash: receipt.blockHash })
    await t.call('evm_mine')
    expect(await t.call('eth_getLogs', {})).toEqual([])
    expect(await t.call('eth_getLogs', { blockHash: receipt.blockHash })).toEqual(one)
    expect(await t.call('eth_getLogs', { blockHash: U32 })).toEqual([])
    expect(await error('eth_getLogs', [{ blockHash: receipt.blockHash, fromBlock: '0x0' }])).toEqual({
      code: -32602,
      message: 'Cannot specify both blockHash and fromBlock/toBlock',
    })
    const search = (filter: object) =>
      t.call('eth_getLogs', { fromBlock: '0x0', toBlock: 'latest', ...filter })
    for (const topics of [[ONES], [null], [[ONES, U32]], [], [null, null]])
      expect(await search({ topics })).toEqual(one)
    for (const topics of [[U32], [null, U32]]) expect(await search({ topics })).toEqual([])
    const { address } = one[0]
    for (const filter of [{ address }, { address: [address] }, { address: [] }])
      expect(await search(filter)).toEqual(one)
    expect(await search({ address: N })).toEqual([])
    expect((await error('eth_getLogs', [{ topics: ['0x11'] }])).message).toBe(
      'Invalid topic: incorrect length.',
    )
    expect((await error('eth_getLogs', [{ fromBlock: 'foo' }])).message).toBe(
      "Invalid block identifier 'foo'",
    )
    expect(await t.call('eth_getLogs', { fromBlock: '0xffffff' })).toEqual([])
    expect(await t.call('eth_getLogs', { fromBlock: '0x0', toBlock: '0xffffff' })).toEqual(one)
    expect((await error('eth_getLogs', [{ fromBlock: '0x2', toBlock: '0x1' }])).code).toBe(-32602)
  })

  it('189–199: evm_', async () => {
    expect(await t.call('evm_snapshot')).toBe('0x1')
    expect(await t.call('evm_snapshot')).toBe('0x2')
    const balance = await t.call('eth_getBalance', B)
    for (let i = 0; i < 3; i++) await t.call('evm_mine')
    const { hash } = await transfer()
    expect(await t.call('evm_revert', '0x1')).toBe(true)
    expect(await t.call('eth_blockNumber')).toBe('0x0')
    expect(await t.call('eth_getBalance', B)).toBe(balance)
    expect(await t.call('eth_getTransactionCount', A)).toBe('0x0')
    expect(await t.call('eth_getTransactionReceipt', hash)).toBeNull()
    expect(await t.call('eth_getBlockByNumber', '0x1')).toBeNull()
    expect(await t.call('evm_revert', '0x1')).toBe(true)
    expect(await t.call('evm_revert', '0x2')).toBe(false)
    expect(await t.call('evm_snapshot')).toBe('0x2')
    expect(await t.call('evm_revert', '0x0')).toBe(false)
    expect(await t.call('evm_revert', '0x63')).toBe(false)
    for (const bad of ['1', 'zz']) {
      expect(await error('evm_revert', [bad])).toEqual({
        code: -32602,
        message: `invalid snapshot id ${bad}`,
      })
    }
    expect(await t.call('evm_mine')).toBeNull()
    expect(await t.call('eth_blockNumber')).toBe('0x1')
    const latest = async () => Number((await t.call('eth_getBlockByNumber', 'latest')).timestamp)
    expect(await t.call('evm_increaseTime', '0x64')).toBe('0x64')
    expect(await t.call('evm_increaseTime', 100)).toBe('0xc8')
    const wall = Math.floor(Date.now() / 1000)
    await t.call('evm_mine')
    const shifted = await latest()
    expect(Math.abs(shifted - wall - 200)).toBeLessThanOrEqual(20)
    await t.call('evm_mine')
    expect(await latest()).toBe(shifted + 1)
    expect(await error('evm_increaseTime', ['abc'])).toEqual({
      code: -32602,
      message: 'invalid number of seconds abc',
    })
    expect(await t.call('evm_increaseTime', '-5')).toBe('0x0')
    expect(await t.call('evm_reset')).toBeNull()
    expect(await t.call('eth_blockNumber')).toBe('0x0')
    expect(await t.call('evm_snapshot')).toBe('0x1')
    expect(await t.call('evm_startMining')).toBeNull()
    expect(await t.call('evm_stopMining')).toBeNull()
  })

  it('200: a thousand snapshots taken, used and undone end where they began', async () => {
    const { stateRoot, hash } = await t.call('eth_getBlockByNumber', 'latest')
    for (let i = 0; i < 1000; i++) {
      const id = await t.node.request({ method: 'evm_snapshot' })
      await t.node.request({ method: 'eth_sendTransaction', params: [{ from: A, to: B, value: '0x1' }] })
      expect(await t.node.request({ method: 'evm_revert', params: [id] })).toBe(true)
    }
    expect(await t.call('eth_getBlockByNumber', 'latest')).toMatchObject({ stateRoot, hash })
  })

  it('216–218, 220: what is absent says so, and proofs are given', async () => {
    for (const name of ['db_putString', 'eth_compileSolidity', 'eth_getCompilers', 'shh_version']) {
      expect((await error(name, [])).code).toBe(-32601)
    }
    for (const name of ['eth_maxPriorityFeePerGas', 'toString', '__proto__', 'constructor']) {
      expect(await error(name, [])).toEqual({ code: -32601, message: 'method not found' })
    }
    await transfer()
    const proof = await t.call('eth_getProof', A, [], 'latest')
    expect(Object.keys(proof).sort()).toEqual(
      ['accountProof', 'address', 'balance', 'codeHash', 'nonce', 'storageHash', 'storageProof'].sort(),
    )
    expect(proof.balance).toBe(await t.call('eth_getBalance', A))
    expect((await error('eth_getProof', [A, [], 'earliest'])).code).toBe(-32602)
  })
})

describe('a node that mines on request', () => {
  beforeEach(async () => {
    t = await servedNode({ mining: 'manual' })
  })
  const sign = (fields: object) =>
    new Wallet(A_KEY).signTransaction({
      type: 0,
      to: B,
      gasLimit: 21000,
      chainId: 33,
      gasPrice: 0,
      ...fields,
    })

  it('58, 105, 106, 114, 130, 136, 193: the pool', async () => {
    const raw = await sign({ nonce: 0, gasPrice: 0x64 })
    const first = await t.call('eth_sendRawTransaction', raw)
    expect(await t.call('eth_getTransactionCount', A, 'pending')).toBe('0x1')
    expect(await t.call('eth_getTransactionCount', A, 'latest')).toBe('0x0')
    expect(await error('eth_sendRawTransaction', [raw])).toEqual({
      code: -32010,
      message: 'pending transaction with same hash already exists',
    })
    expect(await error('eth_sendRawTransaction', [await sign({ nonce: 0, gasPrice: 0x8b })])).toEqual({
      code: -32010,
      message: 'gas price not enough to bump transaction',
    })
    const second = await t.call('eth_sendRawTransaction', await sign({ nonce: 0, gasPrice: 0x8c }))
    expect(await t.call('eth_getTransactionByHash', first)).toBeNull()
    expect(await t.call('eth_getTransactionByHash', second)).toMatchObject({
      blockHash: null,
      blockNumber: null,
      transactionIndex: null,
    })
    expect(await t.call('eth_getTransactionReceipt', second)).toBeNull()
    const queued = await t.call('eth_sendRawTransaction', await sign({ nonce: 5 }))
    expect(await t.call('eth_getTransactionByHash', queued)).toBeNull()
    const waiting = await t.call('eth_pendingTransactions')
    expect(waiting.map((one: { hash: string }) => one.hash)).toEqual([second])
    expect((await t.call('eth_getBlockByNumber', 'pending')).transactions).toContain(second)
    expect(await t.call('eth_getBlockTransactionCountByNumber', 'pending')).toBe('0x1')
    await t.call('evm_mine')
    expect((await t.call('eth_getTransactionReceipt', second)).status).toBe('0x1')

    for (const nonce of [1, 2]) {
      await t.call('eth_sendTransaction', { from: A, data: LOG2, gas: '0x20000', nonce: `0x${nonce}` })
    }
    await t.call('evm_mine')
    const indexes = (await t.call('eth_getLogs', {})).map((log: { logIndex: string }) => log.logIndex)
    expect(indexes).toEqual(['0x0', '0x1', '0x2', '0x3'])

    const snapshot = await t.call('evm_snapshot')
    await t.call('evm_mine')
    const pooled = await t.call('eth_sendRawTransaction', await sign({ nonce: 3 }))
    expect(await t.call('evm_revert', snapshot)).toBe(true)
    expect(await t.call('eth_getTransactionByHash', pooled)).toBeNull()
  })

  it('197: timestamps strictly increase, and the next one can be set exactly', async () => {
    await t.call('evm_mine', { blocks: 5 })
    const times: number[] = []
    for (let n = 1; n <= 5; n++)
      times.push(Number((await t.call('eth_getBlockByNumber', `0x${n}`)).timestamp))
    expect([...times].sort((a, b) => a - b)).toEqual(times)
    expect(new Set(times).size).toBe(5)
    const next = (times[4] as number) + 5000
    await t.call('evm_setNextBlockTimestamp', next)
    await t.call('evm_mine')
    expect(Number((await t.call('eth_getBlockByNumber', 'latest')).timestamp)).toBe(next)
    expect((await error('evm_setNextBlockTimestamp', [next])).code).toBe(-32602)
    await t.call('evm_setAutomine', true)
    await transfer()
    expect(await t.call('eth_blockNumber')).toBe('0x7')
  })
})

describe('a node with other settings', () => {
  it('23, 24: requests that take or answer too much', async () => {
    t = await servedNode({ rpcTimeoutMs: 100, callGasCap: 0n, maxResponseBytes: 2000 })
    expect(await error('eth_call', [{ data: LOOP, gas: '0xffffffffffff' }, 'latest'])).toEqual({
      code: -32011,
      message: 'Execution has got timeout out.',
    })
    expect(await error('eth_getBlockByNumber', ['latest'])).toBeUndefined()
    await t.call('evm_mine')
    expect(await error('eth_getBlockByNumber', ['latest', true])).toEqual({
      code: -32011,
      message: 'Response size limit of 2000 bytes exceeded',
    })
  })

  it('93, 39, 219: switches', async () => {
    t = await servedNode({ stateOverride: false, wallet: false, methods: ['-evm'] })
    expect(await error('eth_call', [{ to: N }, 'latest', { [N]: { code: RET1 } }])).toEqual({
      code: -32602,
      message: 'State override is not allowed',
    })
    expect(await t.call('eth_call', { to: N }, 'latest', {})).toBe('0x')
    expect(await t.call('eth_accounts')).toEqual([])
    expect(await error('eth_sendTransaction', [{ from: A, to: B }])).toEqual({
      code: -32602,
      message: 'Local wallet is disabled in this node',
    })
    expect(await error('evm_mine', [])).toEqual({
      code: -32601,
      message: 'the method evm_mine does not exist/is not available',
    })
  })

  it('153, 154: log limits', async () => {
    t = await servedNode({ maxLogBlocks: 10, maxLogs: 1 })
    await t.call('evm_mine', { blocks: 12 })
    const range = (toBlock: string) => error('eth_getLogs', [{ fromBlock: '0x0', toBlock }])
    expect(await range('0xb')).toEqual({ code: -32012, message: 'Cannot query more than 10 blocks at once' })
    expect(await range('0xa')).toBeUndefined()
    await mined({ from: A, data: LOG2, gas: '0x20000' })
    expect(await error('eth_getLogs', [{}])).toEqual({
      code: -32012,
      message: 'Filter returned more than 1 logs.',
    })
    // Both limits are passed: the range is refused first.
    for (const method of ['eth_getLogs', 'eth_newFilter']) {
      expect(await error(method, [{ fromBlock: '0x0' }])).toEqual({
        code: -32012,
        message: 'Cannot query more than 10 blocks at once',
      })
    }
  })

  it('answers the hash of a mined transaction that reverted, or errors for failed calls, where told to', async () => {
    t = await servedNode({ minedReverts: 'hash', strictCalls: true })
    const { receipt } = await mined({ from: A, data: RB })
    expect(receipt.status).toBe('0x0')
    expect((await error('eth_call', [{ data: INV }, 'latest'])).code).toBe(-32015)
  })

  it('devnet starts from its own accounts, under its own id', async () => {
    t = await servedNode({ chain: 'devnet', mining: 'manual' })
    expect(await t.call('eth_chainId')).toBe('0x20')
    expect(await t.call('net_version')).toBe('32')
    expect((await t.call('eth_getBlockByNumber', 'earliest')).number).toBe('0x0')
    expect(await t.call('eth_getProof', B, [], 'earliest')).toMatchObject({ address: B })
  })

  it.each([
    ['regtest', '0x21', '33', '0x8ea789fabef0dd4946ed53f001e7b6f8a8d0c22a612a6099fc7f93c990af68fe'],
    ['testnet', '0x1f', '31', '0xcabb7fbe88cd6d922042a32ffc08ce8b1fbb37d650b9d4e7dbfe2a7469adfa42'],
    ['mainnet', '0x1e', '30', '0xf88529d4ab262c0f4d042e9d8d3f2472848eaafe1a9b7213f57617eb40a9f9e0'],
  ] as const)('%s starts from its real genesis', async (chain, chainId, version, hash) => {
    t = await servedNode({ chain, mining: 'manual' })
    expect(await t.call('eth_chainId')).toBe(chainId)
    expect(await t.call('net_version')).toBe(version)
    expect((await t.call('eth_getBlockByNumber', 'earliest')).hash).toBe(hash)
  })
})
