/** Methods that describe the node (acceptance checks 26 to 39). */
import { describe, expect, it } from 'vitest'
import { namesOf } from '../../../src/rpc/method-names.ts'
import { METHODS } from '../../../src/rpc/methods/index.ts'
import { A, B, block1 } from '../../support/fake-chain.ts'
import { fakeEngine } from '../../support/fake-engine.ts'
import { ask, dispatcherOf } from '../../support/rpc.ts'

const dispatcher = dispatcherOf(fakeEngine().engine)

describe('methods that describe the node', () => {
  it.each<[string, unknown]>([
    ['net_version', '33'],
    ['net_listening', false],
    ['net_peerCount', '0x0'],
    ['net_peerList', []],
    ['eth_chainId', '0x21'],
    ['eth_protocolVersion', '0x3e'],
    ['ext_protocolVersion', '0x3e'],
    ['rsk_protocolVersion', '0x3e'],
    ['eth_syncing', false],
    ['eth_coinbase', block1.block.header.coinbase],
    ['eth_mining', true],
    ['eth_hashrate', '0x5'],
    ['eth_netHashrate', 9],
    ['eth_gasPrice', '0x42'],
    ['eth_blockNumber', '0x1'],
    ['eth_accounts', [A, B]],
    [
      'rpc_modules',
      Object.fromEntries(METHODS.flatMap(namesOf).map((name) => [name.replace(/[_.].*/, ''), '1.0'])),
    ],
  ])('%s', async (method, result) => {
    expect(await ask(dispatcher, method)).toEqual({ result })
  })

  it('has a client version of five parts, and no accounts without a wallet', async () => {
    expect((await ask(dispatcher, 'web3_clientVersion')).result).toMatch(/^[^/]+(\/[^/]+){4}$/)
    expect(await ask(dispatcherOf(fakeEngine({ wallet: false }).engine), 'eth_accounts')).toEqual({
      result: [],
    })
  })
})

describe('web3_sha3', () => {
  it('hashes bytes', async () => {
    expect(await ask(dispatcher, 'web3_sha3', ['0x68656c6c6f20776f726c64'])).toEqual({
      result: '0x47173285a8d7341e5e972fc677286384f802f8ef42a5ec5f03bbfa254cb01fad',
    })
    expect(await ask(dispatcher, 'web3_sha3', ['0x1'])).toEqual(await ask(dispatcher, 'web3_sha3', ['0x01']))
  })

  it.each(['68656c6c6f', '0x', '0xzz', '', null, 5])('refuses %j', async (data) => {
    const message = "Parameter must be hexadecimal encoded with the '0x' prefix."
    expect(await ask(dispatcher, 'web3_sha3', [data])).toEqual({ error: { code: -32602, message } })
  })
})
