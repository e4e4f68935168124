/** The node as an EIP-1193 provider: what libraries ask of one, without a socket. */
import { BrowserProvider, Contract, type ContractEventPayload, isError, verifyTypedData } from 'ethers'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { ProviderMessage } from '../../src/index.ts'
import { artifact } from '../support/contracts.ts'
import { eventRecorder } from '../support/event-recorder.ts'
import { BOB, COW, type NotingChain, notingChain } from '../support/noting-chain.ts'

const probe = artifact('Probe')

let chain: NotingChain
beforeEach(async () => {
  chain = await notingChain()
})
afterEach(() => chain.close())

describe('ethers’ BrowserProvider', () => {
  it('sends and signs with accounts of the node, receives events, and recognises a refusal', async () => {
    const provider = new BrowserProvider(chain.node, undefined, { cacheTimeout: -1, pollingInterval: 20 })
    try {
      const signer = await provider.getSigner()
      expect(signer.address.toLowerCase()).toBe(COW)
      const contract = new Contract(chain.address, probe.abi, signer)
      const notes = eventRecorder<number>()
      await contract.on('Noted', (number: bigint, _who, _data, _event: ContractEventPayload) =>
        notes.record(Number(number)),
      )
      await chain.called('eth_newFilter')
      const sent = await contract.getFunction('note')(3, '0x')
      expect(await sent.wait()).toMatchObject({ status: 1 })
      expect(await notes.count(1)).toEqual([3])
      const types = { Mail: [{ name: 'to', type: 'address' }] }
      const signature = await signer.signTypedData({ chainId: 33 }, types, { to: BOB })
      expect(verifyTypedData({ chainId: 33 }, types, { to: BOB }, signature)).toBe(signer.address)
      const refused = await contract
        .getFunction('failWithReason')
        .staticCall()
        .catch((error) => error)
      expect(isError(refused, 'CALL_EXCEPTION') && refused.reason).toBe('not today')
    } finally {
      provider.destroy()
    }
  })
})

describe('node.on', () => {
  /** The note in a message's log: its number, negative when its block has left the chain. */
  const brief = ({ data }: ProviderMessage) => {
    const { result } = data as { result: { topics: string[]; removed: boolean } }
    return Number(result.topics[1]) * (result.removed ? -1 : 1)
  }

  it('passes each event to its listeners once, also when the chain was reorganised', async () => {
    const { node, address } = chain
    const messages = eventRecorder<ProviderMessage>()
    node.on('message', messages.record)
    const id = await node.request({ method: 'eth_subscribe', params: ['logs', { address }] })
    const first = await chain.note(1)
    await chain.note(2)
    await chain.replace(first, 3)
    await chain.note(4)
    const all = await messages.count(7)
    expect(all.map(brief)).toEqual([1, 2, -1, -2, 3, 2, 4])
    for (const { type, data } of all) {
      expect({ type, data }).toMatchObject({ type: 'eth_subscription', data: { subscription: id } })
    }
    expect(await node.request({ method: 'eth_unsubscribe', params: [id] })).toBe(true)
    await chain.note(5)
    expect(messages.all).toHaveLength(7)
  })

  it('calls neither listeners of other events nor removed ones, and a failing listener does not affect the others', async () => {
    const { node, address } = chain
    const [other, stopped, removed, listening] = [
      eventRecorder(),
      eventRecorder(),
      eventRecorder(),
      eventRecorder<ProviderMessage>(),
    ]
    node.on('chainChanged' as 'message', other.record)
    node.on('message', stopped.record)()
    node.on('message', removed.record)
    node.removeListener('message', removed.record)
    node.on('message', () => {
      throw new Error('a fault of the listener')
    })
    node.on('message', listening.record)
    await node.request({ method: 'eth_subscribe', params: ['logs', { address }] })
    await chain.note(1)
    expect((await listening.count(1)).map(brief)).toEqual([1])
    expect([...other.all, ...stopped.all, ...removed.all]).toEqual([])
  })
})
