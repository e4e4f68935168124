/** Where the debugger stops in code that the compiler has shortened, and variables of assembly. */
import { Interface } from 'ethers'
import { expect, it } from 'vitest'
import type { DebugSession } from '../../src/debugger/debug-session.ts'
import type { Hex } from '../../src/encoding/hex.ts'
import { createNode } from '../../src/node/node.ts'
import { DebuggerCase, debugged, debuggerBuild, SENDER, sendTo } from '../support/debugger-cases.ts'

const NO_BREAKPOINTS = { lines: new Map(), events: new Set<Hex>(), failures: false } as const

/** The lines of a function at which execution stops, with the names of the locals there. */
async function stopsOf(
  session: DebugSession,
  called: string,
): Promise<readonly (readonly [number, string])[]> {
  const stops: [number, string][] = []
  session.goTo(0)
  while ((await session.move('into', 'forward', NO_BREAKPOINTS)).reason !== 'end') {
    const [frame] = session.stack()
    if (frame?.function !== called || frame.line === undefined) continue
    const names = session.variables(0, 'locals')?.map(({ name }) => name)
    stops.push([frame.line, names?.join(' ') ?? 'not known'])
  }
  return stops
}

it('stops at `continue` where the loop goes on, of which only the jump of the `if` is left', async () => {
  const build = debuggerBuild('Variables-0.8.21')
  const { abi, evm } = build.output.contracts['Variables.sol']?.Variables ?? { abi: [], evm: undefined }
  const coder = new Interface(abi)
  const code = (evm?.bytecode.object ?? '').replace(/__\$.{34}\$__/g, '00'.repeat(20))
  const node = await createNode()
  try {
    await node.request({ method: 'evm_addSources', params: [build] })
    await sendTo(node, { data: `0x${code}${coder.encodeDeploy(['Named', 21]).slice(2)}` })
    const latest = await node.request({ method: 'eth_getBlockByNumber', params: ['latest', false] })
    const [deployment] = (latest as { transactions: Hex[] }).transactions
    const receipt = await node.request({ method: 'eth_getTransactionReceipt', params: [deployment] })
    const to = (receipt as { contractAddress: Hex }).contractAddress
    const data = coder.encodeFunctionData('loops', [2, 3])
    const { session } = await debugged(node, await sendTo(node, { from: SENDER, to, data }))
    const stops = await stopsOf(session, 'loops')
    const lines = stops.map(([line]) => line)
    // Of the three rounds of each inner loop, the second goes on.
    const inner = lines.filter((line) => line === 212 || line === 213)
    expect(inner).toEqual([212, 213, 212, 212, 212, 213, 212, 213, 212, 212, 212, 213])
    expect(stops.every(([, names]) => names !== 'not known')).toBe(true)
  } finally {
    await node.close()
  }
})

it('shows the variables of assembly', async () => {
  const of = await DebuggerCase.open('New-0.8.24')
  try {
    const { address } = await of.deploy()
    const { session } = await of.debug(await of.call(address, 'pointers', 3))
    session.goTo(0)
    while ((await session.move('into', 'forward', NO_BREAKPOINTS)).reason !== 'end') {
      if (session.stack()[0]?.line === 73) break
    }
    // let t := add(v, 40)
    expect(session.evaluate(0, 't').text).toBe(`0x${(3 + 40).toString(16).padStart(64, '0')}`)
    expect(session.evaluate(0, 'assembled').text).toBe('0')
  } finally {
    await of.node.close()
  }
})
