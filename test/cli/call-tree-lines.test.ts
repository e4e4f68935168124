import { Interface } from 'ethers'
import { describe, expect, it } from 'vitest'
import { readArtifact } from '../../src/abi/artifact.ts'
import { loadAbiCodec } from '../../src/abi/codec.ts'
import { CONSOLE_ADDRESS } from '../../src/abi/console.ts'
import { createAbiRegistry } from '../../src/abi/registry.ts'
import { callsConsole, callTreeLines, type TreeContext } from '../../src/cli/call-tree-lines.ts'
import { fromHex, type Hex } from '../../src/encoding/hex.ts'
import type { CallFrame, FrameFailure } from '../../src/evm/tracing/call-frame.ts'

const codec = await loadAbiCodec()
const [ALICE, SHOP, VAULT] = ['a1', 'b2', 'c3'].map((byte) => `0x${byte.repeat(20)}` as Hex) as [
  Hex,
  Hex,
  Hex,
]
const SIGNATURES = [
  'function buy(uint256 id) payable returns (bool done)',
  'function pay(address to)',
  'event Sold(uint256 indexed id, address buyer)',
  'error Empty(uint256 left)',
]
const coder = new Interface(SIGNATURES)
const EMPTY = new Uint8Array(0)
const reverted: FrameFailure = { kind: 'reverted', reason: 'transaction reverted' }

function frame(parts: Partial<CallFrame>): CallFrame {
  return {
    kind: 'call',
    depth: 0,
    from: ALICE,
    to: SHOP,
    value: 0n,
    gas: 100_000n,
    gasUsed: 1000n,
    input: EMPTY,
    output: EMPTY,
    isPrecompile: false,
    ranCode: true,
    logs: [],
    calls: [],
    ...parts,
  }
}

async function lines(
  root: CallFrame,
  words: Partial<TreeContext> & { named?: boolean } = {},
): Promise<string[]> {
  const names = createAbiRegistry()
  if (words.named !== false) await names.register(readArtifact(SIGNATURES, codec, 'Shop'), SHOP)
  const made = callTreeLines(root, { names, codec, codeOf: () => undefined, ...words })
  // biome-ignore lint/suspicious/noControlCharactersInRegex: colours are taken off
  return made.map((line) => line.replace(/\x1b\[\d+m/g, ''))
}

const input = (name: string, ...values: unknown[]) => fromHex(coder.encodeFunctionData(name, values))
const sold = coder.encodeEventLog('Sold', [7n, ALICE])
const log = (position: number, index?: number) => ({
  log: { address: SHOP, topics: sold.topics as Hex[], data: fromHex(sold.data) },
  position,
  ...(index !== undefined && { index }),
})
const hello = fromHex(new Interface(['function log(string)']).encodeFunctionData('log', ['hi\n\x1b[2J']))

describe('the lines of a call tree', () => {
  const failing = frame({
    gasUsed: 51_234n,
    value: 10n ** 17n,
    input: input('buy', 7n),
    output: fromHex(coder.encodeErrorResult('Empty', [3n])),
    failure: reverted,
    logs: [log(1)],
    calls: [
      frame({ kind: 'staticcall', to: CONSOLE_ADDRESS, input: hello }),
      frame({
        to: VAULT,
        input: fromHex('0x12345678aa'),
        output: fromHex('0x01'),
        calls: [
          frame({ kind: 'delegatecall', input: input('pay', ALICE) }),
          frame({ kind: 'selfdestruct', from: VAULT, to: ALICE, value: 5n * 10n ** 18n }),
        ],
      }),
      frame({
        kind: 'call',
        to: '0x0000000000000000000000000000000000000002',
        isPrecompile: true,
        input: EMPTY,
      }),
      frame({ to: VAULT, failure: { kind: 'refused', reason: 'insufficient balance for transfer' } }),
    ],
  })

  it('show caller, target and arguments of each call in order, and why it failed', async () => {
    expect(await lines(failing)).toEqual([
      '[51234] Shop@0xb2b2b2…b2b2.buy{value: 0.1}(id: 7)',
      '├─ console.log hi [2J',
      `├─ emit Sold(id: 7, buyer: ${ALICE}) (reverted)`,
      `├─ [1000] ${VAULT}.0x12345678(0xaa)`,
      `│  ├─ [1000] Shop@0xb2b2b2…b2b2.pay(to: ${ALICE}) [delegatecall]`,
      `│  ├─ selfdestruct ${VAULT}, 5 to ${ALICE}`,
      '│  └─ ← 0x01',
      '├─ [1000] sha256()',
      `├─ [1000] ${VAULT}()`,
      '│  └─ ← insufficient balance for transfer',
      '└─ ← revert Empty(left: 3)',
    ])
  })

  it('show raw data without names', async () => {
    const made = await lines(failing, { named: false })
    expect(made[0]).toMatch(/^\[51234\] 0x(b2){20}\.0xd96a094a\(0x0{62}07\){value: 0.1}$/)
    expect(made[2]).toMatch(/^├─ emit \(0x[0-9a-f]{64}, 0x0+7, 0x0{24}(a1){20}\) \(reverted\)$/)
    expect(made.at(-1)).toMatch(/^└─ ← revert 0x[0-9a-f]{72}$/)
  })

  it('end with the return value', async () => {
    const root = frame({
      input: input('buy', 7n),
      output: fromHex(coder.encodeFunctionResult('buy', [true])),
      logs: [log(0, 0)],
    })
    expect((await lines(root)).slice(1)).toEqual([`├─ emit Sold(id: 7, buyer: ${ALICE})`, '└─ ← done: true'])
    expect(await lines(frame({ calls: [frame({ to: VAULT })] }))).toEqual([
      '[1000] Shop@0xb2b2b2…b2b2()',
      `└─ [1000] ${VAULT}()`,
    ])
  })

  it('show what failed in a creation', async () => {
    const root = frame({ kind: 'create2', to: VAULT, input: fromHex('0x6000'), output: fromHex('0x00') })
    expect(await lines(root)).toEqual([
      `[1000] new contract (2 bytes) at ${VAULT} [create2]`,
      '└─ ← 1 bytes of code',
    ])
    const panic = fromHex(`0x4e487b71${'11'.padStart(64, '0')}`)
    expect((await lines(frame({ kind: 'create', to: undefined, output: panic, failure: reverted })))[1]).toBe(
      '└─ ← revert panic 0x11 (arithmetic overflow or underflow)',
    )
  })

  it('name contracts that are known by their code', async () => {
    const names = createAbiRegistry()
    const code = fromHex('0x6001600255')
    await names.add(readArtifact({ contractName: 'Vault', abi: [], deployedBytecode: '0x6001600255' }, codec))
    const [line] = await lines(frame({ to: VAULT }), { names, codeOf: () => code })
    expect(line).toBe('[1000] Vault@0xc3c3c3…c3c3()')
  })

  it('beyond a maximum are only counted', async () => {
    const root = frame({ calls: Array.from({ length: 50 }, () => frame({ calls: [frame({})] })) })
    const made = await lines(root, { maxLines: 11, named: false })
    expect(made).toHaveLength(12)
    expect(made.at(-1)).toBe('… and 90 more calls')
  })

  it('have a maximum of events too', async () => {
    const logs = Array.from({ length: 500 }, () => log(0, 0))
    const made = await lines(frame({ logs, calls: [frame({ logs })] }), { maxLines: 11 })
    expect(made).toHaveLength(12)
    expect(made.at(-1)).toBe('… and 1 more call, 990 more events')
  })

  it('show whether a frame calls the console contract', () => {
    expect(callsConsole(failing)).toBe(true)
    expect(callsConsole(frame({ calls: [frame({})] }))).toBe(false)
  })
})
