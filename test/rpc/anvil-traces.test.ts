/** Call frames against those of Anvil: situations in which both chains agree. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Hex } from '../../src/encoding/hex.ts'
import { createNode, type Node } from '../../src/index.ts'
import { ANVIL, describeWith } from '../support/tools.ts'
import { play, type Stage, TRACE_CASES, type TraceCase } from '../support/trace-cases.ts'

const MNEMONIC = 'test test test test test test test test test test test junk'
/** The first account of that mnemonic. */
const SENDER = '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266'

type Call = (method: string, params: readonly unknown[]) => Promise<unknown>

interface RpcFrame {
  readonly type: string
  readonly from: Hex
  readonly to?: Hex
  readonly value?: Hex
  readonly input: Hex
  readonly output?: Hex
  readonly error?: string
  readonly calls?: readonly RpcFrame[]
}

/** A frame as both must have it: no gas, no words, addresses by the order in which they appear. */
interface Shape {
  readonly type: string
  readonly from: string
  readonly to: string | undefined
  readonly value: bigint
  readonly input: Hex
  readonly output: Hex
  readonly failed: boolean
  readonly calls: readonly Shape[]
}

function shapeOf(root: RpcFrame): Shape {
  const seen = new Map<string, string>()
  const nameOf = (address: Hex): string => {
    const known = seen.get(address) ?? `account ${seen.size}`
    seen.set(address, known)
    return known
  }
  function shape(frame: RpcFrame): Shape {
    const { type, error } = frame
    const creates = type.startsWith('CREATE')
    const from = nameOf(frame.from)
    const calls = (frame.calls ?? []).map(shape)
    return {
      type,
      from,
      to: frame.to === undefined || (creates && error !== undefined) ? undefined : nameOf(frame.to),
      // What a delegatecall came with is the calling frame's value; not every tool repeats it.
      value: type === 'DELEGATECALL' || type === 'STATICCALL' ? 0n : BigInt(frame.value ?? '0x0'),
      input: frame.input,
      output: error !== undefined && error !== 'execution reverted' ? '0x' : (frame.output ?? '0x'),
      failed: error !== undefined,
      calls,
    }
  }
  return shape(root)
}

async function framesBy(call: Call, situation: TraceCase): Promise<Shape> {
  const stage: Stage = {
    async send(transaction) {
      const hash = await call('eth_sendTransaction', [
        { from: SENDER, gasPrice: '0x77359400', ...transaction },
      ])
      // Anvil may answer before it mines.
      for (;;) {
        const receipt = (await call('eth_getTransactionReceipt', [hash])) as {
          readonly contractAddress: Hex | null
        } | null
        if (receipt !== null) return { hash: hash as Hex, contractAddress: receipt.contractAddress }
      }
    },
  }
  const { hash } = await play(situation, stage)
  return shapeOf((await call('debug_traceTransaction', [hash, { tracer: 'callTracer' }])) as RpcFrame)
}

describeWith(ANVIL, 'call frames as Anvil has them', () => {
  let node: Node
  let anvil: ChildProcess
  let url: string

  beforeAll(async () => {
    node = await createNode({ mnemonic: MNEMONIC, accounts: 1, minedReverts: 'hash' })
    const options = [
      '--port',
      '0',
      '--chain-id',
      '33',
      '--hardfork',
      'shanghai',
      '--block-base-fee-per-gas',
      '0',
    ]
    anvil = spawn(ANVIL.path, [...options, '--mnemonic', MNEMONIC, '--accounts', '1'])
    let said = ''
    for await (const chunk of anvil.stdout ?? []) {
      said += String(chunk)
      const address = /Listening on (\S+)/.exec(said)?.[1]
      if (address === undefined) continue
      url = `http://${address}`
      break
    }
  }, 60_000)
  afterAll(async () => {
    await node.close()
    anvil.kill()
    if (anvil.exitCode === null) await once(anvil, 'exit')
  })

  const ours: Call = (method, params) => node.request({ method, params })
  const theirs: Call = async (method, params) => {
    const headers = { 'Content-Type': 'application/json' }
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
    const { result, error } = (await (await fetch(url, { method: 'POST', headers, body })).json()) as {
      result: unknown
      error?: { message: string }
    }
    if (error !== undefined) throw new Error(`${method}: ${error.message}`)
    return result
  }

  it.each(TRACE_CASES.filter(({ asOnEthereum }) => asOnEthereum))('$name', async (situation) => {
    expect(await framesBy(ours, situation)).toEqual(await framesBy(theirs, situation))
  })
})
