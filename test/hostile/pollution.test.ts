/** Names that mean something to JavaScript, wherever a caller may choose a name. */
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { signatureHash } from '../../src/abi/entry.ts'
import { createNode } from '../../src/index.ts'
import { METHODS } from '../../src/rpc/methods/index.ts'
import { valuesOf } from '../support/schema-values.ts'
import { type ServedNode, servedNode } from '../support/served-node.ts'
import { type Conversation, converse } from './conversation.ts'
import { POLLUTING, polluted } from './hostile-values.ts'
import { expectCleanPrototypes, faultOf } from './reply-check.ts'

const ALICE = '0xcd2a3d9f938e13cd947ec05abc7fe734df8dd826'
const CODE = `0x${'c0de'.padStart(40, '0')}`
const MEMBERS = [{ polluted: true }, { prototype: { polluted: true } }, 'polluted', null]

// One of the methods checks a passphrase each time.
vi.mock(import('../../src/engine/wallet/encrypted-key.ts'), async (original) => ({
  ...(await original()),
  STANDARD_COST: { n: 2, r: 1, p: 1 },
}))

let served: ServedNode
let conversation: Conversation
async function open(): Promise<void> {
  served = await servedNode()
  conversation = await converse(served.wsUrl)
}
async function close(): Promise<void> {
  conversation.close()
  await served.close()
}

/** One call whose parameters are JSON text, since objects in JavaScript cannot have them as they are. */
async function call(method: string, params: string) {
  const [reply = ''] = await conversation.callAll(method, [params])
  expect(faultOf(reply)).toBeUndefined()
  expectCleanPrototypes()
  return JSON.parse(reply)
}

describe('a member of an object', () => {
  beforeAll(open)
  afterAll(close)

  const hasObject = (value: unknown) => JSON.stringify(value)?.includes('{')
  const takers = METHODS.filter(({ params }) =>
    params.some(({ parameter }) => fc.sample(valuesOf(parameter), { numRuns: 20, seed: 1 }).some(hasObject)),
  )

  it('is accepted by many methods', () => {
    expect(takers.length).toBeGreaterThan(20)
  })

  it.each(takers.map((method) => [method.name, method] as const))(
    'of %s may have any name',
    async (name, method) => {
      const fitting = fc.tuple(...method.params.map(({ parameter }) => valuesOf(parameter)))
      const good = [
        ...method.examples.map(({ params }) => params),
        ...fc.sample(fitting, { numRuns: 2, seed: 7 }),
      ]
      const calls = good.flatMap((params) =>
        POLLUTING.flatMap((key) => MEMBERS.map((member) => polluted(params, key, member))),
      )
      const replies = await conversation.callAll(name, calls)
      expect(replies.map(faultOf).filter((fault) => fault !== undefined)).toEqual([])
      expectCleanPrototypes()
    },
  )
})

describe.each(POLLUTING)('the name %s', (name) => {
  beforeAll(open)
  afterAll(close)
  const words = JSON.stringify(name)

  it('is refused as a method, a block, a fork and an account', async () => {
    expect((await call(name, '[]')).error.code).toBe(-32601)
    for (const method of [`eth_${name}`, `${name}_call`, `rpc.${name}`]) {
      expect((await call(method, '[]')).error.code).toBe(-32601)
    }
    expect((await call('eth_getBlockByNumber', `[${words},false]`)).error.code).toBe(-32602)
    expect((await call('eth_getBalance', `["${ALICE}",{${words}:"0x0"}]`)).error.code).toBe(-32602)
    expect((await call('debug_compareRules', `["0x${'1'.repeat(64)}",${words}]`)).error.code).toBe(-32602)
    expect((await call('eth_call', `[{},"latest",{${words}:{"code":"0x00"}}]`)).error.code).toBe(-32602)
    expect((await call('eth_call', `[{},"latest",{"${CODE}":{"state":{${words}:"0x1"}}}]`)).error.code).toBe(
      -32602,
    )
    expect((await call('eth_subscribe', `[${words}]`)).error.code).toBe(-32601)
  })

  it('adds no inherited members to a call object, a filter or an override', async () => {
    const inherited = `{${words}:{"to":"${CODE}","data":"0x01","address":"${CODE}","code":"0xfe"}}`
    expect((await call('eth_call', `[${inherited}]`)).error).toBeUndefined()
    expect((await call('eth_getLogs', `[${inherited}]`)).result).toEqual([])
    expect((await call('eth_call', `[{"to":"${CODE}"},"latest",{"${CODE}":${inherited}}]`)).result).toBe('0x')
  })

  it('can name a contract, its functions, its parameters and its errors', async () => {
    const inputs = `[{"type":"tuple","name":${words},"components":[{"type":"uint256","name":${words}},{"type":"uint8","name":"length"}]}]`
    const abi = `[{"type":"error","name":${words},"inputs":${inputs}},{"type":"function","name":${words},"inputs":${inputs},"outputs":${inputs}},{"type":"event","name":${words},"inputs":${inputs}}]`
    expect((await call('evm_setAbi', `[${words},${abi}]`)).result).toBe(true)
    expect((await call('evm_setAbi', `["${CODE}",${abi}]`)).result).toBe(true)
    // Reverts with its input: the error of that name, with 7 and 8.
    const data =
      signatureHash(`${name}((uint256,uint8))`).slice(0, 10) + '7'.padStart(64, '0') + '8'.padStart(64, '0')
    const echo = '0x366000600037366000fd'
    const { error } = await call(
      'eth_call',
      `[{"to":"${CODE}","data":"${data}"},"latest",{"${CODE}":{"code":"${echo}"}}]`,
    )
    const message = `VM Exception while processing transaction: transaction reverted: ${name}(${name}: (${name}: 7, length: 8))`
    expect(error).toMatchObject({ code: -32015, data, message })
  })

  it('can name a type and a field of typed data, or is refused with a message', async () => {
    for (const type of [name, 'Mail']) {
      const types = `{"EIP712Domain":[{"name":"name","type":"string"}],${JSON.stringify(type)}:[{"name":${words},"type":"uint256"}]}`
      const data = `{"types":${types},"primaryType":${JSON.stringify(type)},"domain":{"name":"x"},"message":{${words}:7}}`
      const { result, error } = await call('eth_signTypedData_v4', `["${ALICE}",${data}]`)
      if (error === undefined) expect(result).toMatch(/^0x[0-9a-f]{130}$/)
      else
        expect(error).toMatchObject({
          code: -32602,
          message: expect.stringMatching(
            /^Invalid typedData: (types and message do not fit together|wrong primaryType)$/,
          ),
        })
    }
  })

  it('is refused as an option', async () => {
    const options = JSON.parse(`{${words}:{"polluted":true}}`)
    await expect(createNode(options)).rejects.toMatchObject({ kind: 'invalid-options' })
    expectCleanPrototypes()
  })
})
